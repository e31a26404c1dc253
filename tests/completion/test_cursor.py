"""The lines around a cursor, whatever their ends and lengths."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.completion.cursor import Cursor
from lsp_complete.text.document import Document

TEXTS = st.lists(st.sampled_from(["a", "  b", "\n", "\r\n", "\r", "\n\n", "   ", "x" * 900, "é"]), max_size=40).map(
    "".join
)


@given(TEXTS, st.data())
def test_the_lines_around_are_those_of_the_document_that_are_not_blank(text: str, data: st.DataObject) -> None:
    document = Document("file:///a.py", text, "a.py")
    cursor = Cursor(document, data.draw(st.integers(0, len(text))))
    number = document.line_at(cursor.offset)
    lines = [text[start:end].rstrip() for start, end in map(document.line_span, range(document.num_lines))]
    assert list(cursor.lines_above()) == [line for line in reversed(lines[:number]) if line]
    first = number if cursor.above_line else number + 1
    assert list(cursor.lines_below()) == [line for line in lines[first:] if line]
