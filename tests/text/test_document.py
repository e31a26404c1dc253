"""Lines and line ends of a document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.text.document import _BLOCK as BLOCK
from lsp_complete.text.document import Document, normalize_eol, with_eol

from .letters import NO_LINE_ENDS, texts


def lines_of(text):
    document = Document("file:///a.py", text)
    spans = [document.line_span(line) for line in range(document.num_lines)]
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb", ["a", "b"]),
        ("a\rb", ["a", "b"]),
        ("a\n\r\nb\r", ["a", "", "b", ""]),
        ("a\r\r\nb", ["a", "", "b"]),
        ("\n", ["", ""]),
    ],
)
def test_lines_end_at_lf_crlf_and_cr(text, lines):
    assert lines_of(text) == lines


@pytest.mark.parametrize("char", NO_LINE_ENDS)
def test_nothing_else_ends_a_line(char):
    assert lines_of(f"a{char}b\nc") == [f"a{char}b", "c"]


@given(texts)
def test_the_lines_are_those_of_a_slow_and_simple_splitter(text):
    assert lines_of(text) == text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@given(texts, st.data())
def test_every_offset_is_in_the_line_that_holds_it(text, data):
    document = Document("file:///a.py", text)
    offset = data.draw(st.integers(0, len(text)))
    line = document.line_at(offset)
    starts = [*map(document.line_start, range(document.num_lines)), len(text) + 1]
    assert starts[line] <= offset < starts[line + 1]


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_lines_are_found_in_documents_of_any_length(eol):
    lines = ["x" * (number % 97) for number in range(2_000)]
    text = eol.join(lines)
    assert lines_of(text) == lines
    document = Document("file:///a.py", text)
    starts = [document.line_start(number) for number in range(document.num_lines)]
    assert [document.line_at(start) for start in starts] == list(range(len(lines)))
    assert document.line_at(len(text)) == len(lines) - 1


@given(
    st.integers(-3, 3), st.sampled_from(["\n", "\r", "\r\n", "\n\r", "\r\r\n"]), st.sampled_from(["", "b", "\n", "\r"])
)
def test_a_line_end_may_lie_anywhere(shift, end, after):
    text = "a" * (BLOCK + shift) + end + after
    assert lines_of(text) == text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def test_a_line_beyond_the_document_is_clamped():
    document = Document("file:///a.py", "a\nbc")
    assert document.line_span(99) == (2, 4)
    assert document.line_span(-1) == (0, 1)


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_before_and_after_the_cursor_end_at_the_line(eol):
    document = Document("file:///a.py", eol.join(["x", "    return ", ""]))
    offset = document.text.index("return ") + len("return ")
    assert document.before_on_line(offset) == "    return "
    assert document.after_on_line(offset) == ""
    assert document.after_on_line(offset - 3) == "rn "


@pytest.mark.parametrize(
    ("text", "eol"), [("", "\n"), ("a", "\n"), ("a\r\nb\nc", "\r\n"), ("a\nb\r\n", "\n"), ("\r", "\r")]
)
def test_the_first_line_end_is_the_documents_own(text, eol):
    assert Document("file:///a.py", text).eol == eol


@given(texts, st.sampled_from(["\n", "\r\n", "\r"]))
def test_line_ends_are_changed_and_nothing_else(text, eol):
    assert with_eol(text, eol) == eol.join(lines_of(text))
    assert with_eol(with_eol(text, eol), eol) == with_eol(text, eol)
    assert normalize_eol(text) == "\n".join(lines_of(text))
