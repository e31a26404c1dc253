"""Positions in code units of UTF-8, UTF-16 or UTF-32 to offsets and back.

LSP counts columns in code units of a negotiated encoding. A column inside a character is clamped to its start, one
past the end of the line to the end, a line past the end of the document to the end of the document.
"""

from typing import Literal

from lsp_complete.text.document import Document

Encoding = Literal["utf-8", "utf-16", "utf-32"]


def offset_at(document: Document, line: int, column: int, encoding: Encoding) -> int:
    """The offset of a zero-based line and a column in code units."""
    if line < 0:
        return 0
    if line >= document.num_lines:
        return len(document.text)
    start, end = document.line_span(line)
    text = document.text[start:end]
    if encoding == "utf-32" or text.isascii():
        return start + max(0, min(column, len(text)))
    return start + _index_at(text, column, encoding)


def position_at(document: Document, offset: int, encoding: Encoding) -> tuple[int, int]:
    """The zero-based line and the column in code units of an offset."""
    offset = max(0, min(offset, len(document.text)))
    line = document.line_at(offset)
    return line, num_units(document.text[document.line_start(line) : offset], encoding)


def num_units(text: str, encoding: Encoding) -> int:
    """Length of the text in code units."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    return sum(_units(char, encoding) for char in text)


def _index_at(text: str, column: int, encoding: Encoding) -> int:
    units = 0
    for index, char in enumerate(text):
        units += _units(char, encoding)
        if units > column:
            return index
    return len(text)


def _units(char: str, encoding: Encoding) -> int:
    code = ord(char)
    if encoding == "utf-16":
        return 2 if code > 0xFFFF else 1
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
