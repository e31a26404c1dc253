"""The rest of an earlier suggestion, where some of its words were typed otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.completion.draft import draft_at, rest_of
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.reuse import suggestion_at
from tests.completion.cursor_case import at


def draft(marked, text, later):
    """Of a suggestion made at the first cursor, for a question at the second."""
    document, offset = at(marked)
    return draft_at([suggestion_at(document, offset, Insertion(text))], *at(later))


@pytest.mark.parametrize(
    ("text", "later", "rest"),
    [
        ("return a + b", "    return x█\n", " + b"),
        ("return a + b", "    return x █\n", "+ b"),
        ("return a + b", "    return x + █\n", "b"),
        ("return first + total", "    return x + to█\n", "tal"),
        ("call(a, b, c)", "    call(x, █\n", "b, c)"),
        ("call(a, b, c)", "    call(x, y█\n", ", c)"),
        ("call(a, b)", "    call(key=a█\n", ", b)"),
        ("a = 1\n    b = 2", "    a = 3█\n", "\n    b = 2"),
        ("return a + b", "    █\n", "return a + b"),
        ("return a + b", "    ret█\n", "urn a + b"),
    ],
)
def test_the_rest_begins_behind_the_words_that_were_typed_in_the_place_of_others(text, later, rest):
    assert draft("    █\n", text, later) == rest


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("return a + b", "    x█\n"),
        ("return a + b", "    raise Error(█\n"),
        ("return a + b", "    return a + c█\n"),
        ("call(a)", "    call(b█\n"),
        ("return a + b", "y   return x█\n"),
        ("return a + b", "  █\n"),
        ("a = 1\n    b = 2", "    a = 3\n    █\n"),
    ],
)
def test_where_nothing_sensible_is_left_there_is_none(text, later):
    assert draft("    █\n", text, later) == ""


def test_the_first_that_has_a_rest_is_taken():
    document, offset = at("x = █\n")
    suggestions = [suggestion_at(document, offset, Insertion(text)) for text in ("1", "a + b", "a + c")]
    assert draft_at(suggestions, *at("x = k +█\n")) == " b"


def test_a_credential_is_no_draft():
    key = "ghp_" + "a1B2c3D4e5" * 4
    assert draft("x = █\n", f'a, "{key}"', "x = b█\n") == ""


def test_a_draft_has_line_ends_as_prompts_have_them():
    document, offset = at("    █\n", eol="\r\n")
    suggestion = suggestion_at(document, offset, Insertion("a = 1\r\n    b = 2"))
    assert draft_at([suggestion], *at("    a = 3█\n", eol="\r\n")) == "\n    b = 2"


PIECES = st.lists(st.sampled_from(["a", "ab", "return", " ", "(", ",", ")", "\n"]), max_size=12).map("".join)


@given(PIECES, PIECES)
def test_a_draft_is_the_end_of_the_suggestion_and_nothing_else(text, typed):
    suggestion = suggestion_at(*at("x = █\n"), Insertion(text))
    rest = rest_of(suggestion, *at(f"x = {typed}█\n"))
    assert text.endswith(rest)
