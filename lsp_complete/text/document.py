"""A document: one immutable text with its lines.

Offsets are characters (code points) of `text`. Lines end at LF, CRLF or CR and at nothing else: form feeds and
Unicode's line separators are text, as LSP has it.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count
from operator import add

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Document:
    """`path` is relative to the workspace root that holds it, or a bare name; it is for the model's eyes only. `file`
    is where it lies on the disk, empty for a buffer that is no file."""

    uri: str
    text: str
    path: str = ""
    language: str = ""
    version: int = 0
    file: str = ""

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of each line's first character; a text that ends in a line end has an empty last line."""
        if "\r" in self.text:
            return [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        lengths = map(len, self.text.split("\n")[:-1])
        return [0, *map(add, accumulate(lengths), count(1))]  # with each keystroke, so without a loop in Python

    @cached_property
    def eol(self) -> str:
        """The document's own line end: that of its first line, LF where there is none."""
        match = _LINE_END.search(self.text)
        return match.group() if match else "\n"

    def line_at(self, offset: int) -> int:
        return bisect_right(self.line_starts, offset) - 1

    def line_span(self, line: int) -> tuple[int, int]:
        """Offsets of the line's first character and of its line end. `line` is clamped to the document."""
        starts = self.line_starts
        line = max(0, min(line, len(starts) - 1))
        end = starts[line + 1] if line + 1 < len(starts) else len(self.text)
        while end > starts[line] and self.text[end - 1] in "\r\n":
            end -= 1
        return starts[line], end

    def before_on_line(self, offset: int) -> str:
        return self.text[self.line_span(self.line_at(offset))[0] : offset]

    def after_on_line(self, offset: int) -> str:
        return self.text[offset : max(offset, self.line_span(self.line_at(offset))[1])]


def normalize_eol(text: str) -> str:
    """The text with LF alone. A prompt has one convention throughout, whatever its files have."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def with_eol(text: str, eol: str) -> str:
    """The text with `eol` at the end of each line."""
    return normalize_eol(text).replace("\n", eol) if eol != "\n" or "\r" in text else text
