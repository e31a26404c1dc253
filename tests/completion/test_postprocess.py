"""Blank texts, line ends, and what is common to all filters."""

import pytest

from lsp_complete.completion.postprocess import Insertion, Withheld, accept, enough, judge, postprocess
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document
from tests.completion.cursor_case import EOLS, at, check, check_withheld

B02 = "def f(a):\n    return █\n\nprint(f(1))\n"


@pytest.mark.parametrize("raw", ["", "\n    \n", "   ", "\n\n\n", "\t", "\r\n \r\n", "\r"])
@pytest.mark.parametrize("mode", Mode)
def test_white_space_is_not_offered(raw: str, mode: Mode) -> None:
    check_withheld("def f():\n    █\n", raw, Withheld.BLANK, mode)


def test_what_becomes_blank_is_not_offered() -> None:
    check_withheld("f(█)\n", ")\n", Withheld.REPEATS_REST, Mode.LINE)
    check_withheld("x = f(\n    a\n    █\n)\n", "\n)\n", Withheld.REPEATS_BELOW)


@pytest.mark.parametrize("mode", Mode)
def test_code_after_blank_lines_is_offered(mode: Mode) -> None:
    check("def f():█\n", "\n\n    value = 1", "def f():\n\n    value = 1\n", mode)


def test_blank_lines_and_blanks_at_the_end_are_cut() -> None:
    check("def f():\n    █\n\n\nx\n", "a()  \n    \n\n    ", "def f():\n    a()\n\n\nx\n")
    check("def f():\n    █\n", "a()\n    b()\n    ", "def f():\n    a()\n    b()\n")


def test_the_line_end_before_the_line_below_is_kept() -> None:
    check("f(\n█)\n", "    a,\n", "f(\n    a,\n)\n", Mode.LINE)
    check("f(\n█)\n", "    a,\n    b,\n\n", "f(\n    a,\n    b,\n)\n", Mode.BLOCK)


@pytest.mark.parametrize("eol", EOLS)
@pytest.mark.parametrize("raw", ["a + 1", "a + 1\n\ndef g():\n    pass", "a + 1\r\n\r\ndef g():\r\n    pass"])
@pytest.mark.parametrize("mode", Mode)
def test_line_ends_make_no_difference_to_what_is_offered(eol: str, raw: str, mode: Mode) -> None:
    document, offset = at(B02, eol=eol)
    assert judge(document, offset, mode, raw) == Insertion("a + 1")


@pytest.mark.parametrize(
    "raw", ["\n    a()\n    b()", "\r\n    a()\r\n    b()", "\r    a()\r    b()", "\r\n    a()\n    b()"]
)
def test_a_document_keeps_its_own_line_ends(raw: str) -> None:
    for eol in ("\n", "\r\n", "\r"):
        document, offset = at("def f():█\n", eol=eol)
        assert judge(document, offset, Mode.BLOCK, raw) == Insertion(f"{eol}    a(){eol}    b()")


def test_a_document_without_line_ends_gets_lf() -> None:
    document, offset = at("def f():█")
    assert judge(document, offset, Mode.BLOCK, "\r\n    a()") == Insertion("\n    a()")


def test_postprocess_gives_the_insertion_or_nothing() -> None:
    document, offset = at("x = █\n")
    assert postprocess(document, offset, Mode.LINE, "1") == Insertion("1")
    assert postprocess(document, offset, Mode.LINE, " ") is None


def test_accept_replaces_only_what_the_insertion_says() -> None:
    document, offset = at("f(█)\n", eol="\r\n")
    assert accept(document, offset, Insertion("a")) == "f(a)\r\n"
    assert accept(document, offset, Insertion("a) + 1", 1)) == "f(a) + 1\r\n"


@pytest.mark.parametrize("offset", [-5, 0, 3, 99])
def test_an_offset_outside_the_document_is_moved_into_it(offset: int) -> None:
    document = Document("file:///a.py", "abc")
    for mode in Mode:
        judge(document, offset, mode, "x\ny")
        enough(document, offset, mode, "x\ny")


def test_an_empty_document_is_completed() -> None:
    check("█", "import os\n", "import os", Mode.LINE)


def test_characters_outside_the_first_plane_are_characters() -> None:
    check('x = "😀█😀"\n', '𝒜😀"', 'x = "😀𝒜😀"\n', Mode.LINE)
    check('s = "😀" + f(█)\n', '"😀😀")', 's = "😀" + f("😀😀")\n', Mode.LINE)


@pytest.mark.parametrize("raw", [")", "]", ";", ",", " }", '"', " ;\n"])
def test_one_character_that_ends_something_is_too_little(raw: str) -> None:
    check_withheld("x = f(a█\n", raw, Withheld.TOO_LITTLE, Mode.LINE)


def test_a_closing_line_is_not_too_little() -> None:
    check("f() {\n  a();\n█\n", "}", "f() {\n  a();\n}\n", Mode.LINE, path="a.js")


@pytest.mark.parametrize("before", ["cart.", "f(x).", "a[0].", "x = self.cart."])
def test_a_blank_behind_a_dot_is_left_out(before: str) -> None:
    check(f"{before}█\n", " total", f"{before}total\n", Mode.LINE)


@pytest.mark.parametrize(
    ("before", "raw"), [("# the end.", " then it"), ('x = "The end.', ' then it"'), ("# a.", " B")]
)
def test_a_blank_behind_the_end_of_a_sentence_is_kept(before: str, raw: str) -> None:
    check(f"{before}█\n", raw, f"{before}{raw}\n", Mode.LINE)


@pytest.mark.parametrize(
    ("marked", "raw", "mode", "filters"),
    [
        ("x = █\n", "1", Mode.LINE, ()),
        ("x = █\n", "1\ny = 2", Mode.LINE, ("line",)),
        ("def f():█\n", "\n    a()\nb()", Mode.BLOCK, ("block",)),
        ("x = █\n", "1<|endoftext|>", Mode.LINE, ("marker",)),
        ("    █\n", "a()\n    a()\n    a()\n", Mode.BLOCK, ("loop",)),
        ("if a:\n    █\n", "    b()", Mode.LINE, ("indentation",)),
        ("cart.█\n", " total", Mode.LINE, ("dot",)),
        ("def f():\n    █\n    b()\n", "a()\n    b()\n", Mode.BLOCK, ("repeats-below",)),
        ("f(█)\n", "a)", Mode.LINE, ("rest-of-line",)),
        ("x = █\n", "f(a))", Mode.LINE, ("brackets",)),
    ],
)
def test_an_insertion_names_the_filters_that_have_changed_the_text(
    marked: str, raw: str, mode: Mode, filters: tuple[str, ...]
) -> None:
    document, offset = at(marked)
    outcome = judge(document, offset, mode, raw)
    assert isinstance(outcome, Insertion)
    assert outcome.filters == filters


def test_filters_make_no_other_insertion() -> None:
    assert Insertion("a", 0, ("line",)) == Insertion("a")
