"""A tree that is made from another one is the one that a parser makes of the text itself."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_complete.text.languages import PLAIN, language_of
from lsp_complete.text.syntax import MAX_PARSE_CHARACTERS, Tree, parse

SAMPLES = {path.name: path.read_text(encoding="utf-8") for path in Path(__file__).with_name("samples").iterdir()}
NAMES = [name for name in sorted(SAMPLES) if language_of(name) is not PLAIN and not name.endswith(".toml")]
PIECES = ["x", "f(a)", "return 1", "\n", "\n    ", ")", "}", "(", "{", '"', "if a:\n", "end\n", "+", "ß", "😀", "# n\n"]


def tree_of(text: str, name: str) -> Tree:
    tree = parse(text, language_of(name))
    assert tree is not None
    return tree


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, int, int, str]:
    """A file, and a text for the place of some of its lines."""
    name = draw(st.sampled_from(NAMES))
    starts = [0, *(index + 1 for index, char in enumerate(SAMPLES[name]) if char == "\n")]
    start = draw(st.sampled_from(starts) | st.integers(0, len(SAMPLES[name])))
    end = draw(st.just(start) | st.integers(start, min(len(SAMPLES[name]), start + 80)))
    return name, start, end, draw(st.lists(st.sampled_from(PIECES), max_size=5).map("".join))


@settings(max_examples=150, deadline=None)
@given(changes(), st.sampled_from(PIECES))
def test_what_is_replaced_breaks_a_text_as_if_it_were_parsed_anew(change: tuple[str, int, int, str], more: str) -> None:
    name, start, end, text = change
    whole = SAMPLES[name]
    once = tree_of(whole, name).replaced(start, end, text)
    assert once is not None
    assert once.text == whole[:start] + text + whole[end:]
    assert once.has_error == tree_of(once.text, name).has_error
    twice = once.replaced(start, start + len(text), text + more)
    assert twice is not None
    assert twice.has_error == tree_of(twice.text, name).has_error


def test_a_tree_stays_as_it_is_when_another_is_made_of_it() -> None:
    tree = tree_of("x = (1\n", "a.py")
    errors = tree.errors()
    mended = tree.replaced(6, 6, ")")
    assert mended is not None
    assert (tree.errors(), mended.errors()) == (errors, [])
    assert errors


@pytest.mark.parametrize("letter", ["ß", "😀", "\ud800"])
def test_a_letter_of_more_bytes_than_the_text_has_had(letter: str) -> None:
    tree = tree_of("x = 1\ny = 2\n", "a.py").replaced(4, 5, f'"{letter}" if')
    assert tree is not None
    assert [(start, end) for start, end in tree.errors() if start <= 4 < end]


def test_what_would_be_too_much_is_no_tree() -> None:
    assert tree_of("x = 1\n", "a.py").replaced(0, 0, "a" * (MAX_PARSE_CHARACTERS + 1)) is None
