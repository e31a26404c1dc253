"""A document: one immutable text with its lines.

Offsets are characters (code points) of `text`. Lines end at LF, CRLF or CR and at nothing else: form feeds and
Unicode's line separators are text, as LSP has it.
"""

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count
from operator import add

_LINE_END = re.compile(r"\r\n|\n|\r")
_LAST_OF_END = re.compile(r"\n|\r(?!\n)")
# Characters in which line ends are looked for at once, where a line is asked for.
_BLOCK = 8192


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
    def eol(self) -> str:
        """The document's own line end: that of its first line, LF where there is none."""
        match = _LINE_END.search(self.text)
        return match.group() if match else "\n"

    @property
    def num_lines(self) -> int:
        """A text that ends in a line end has an empty last line."""
        return self._num_ends_before[-1] + 1

    def line_at(self, offset: int) -> int:
        block = min(offset // _BLOCK, len(self._num_ends_before) - 1)
        return self._num_ends_before[block] + bisect_right(self._starts_in(block), offset)

    def line_start(self, line: int) -> int:
        """Offset of the line's first character. `line` is clamped to the document."""
        line = max(0, min(line, self.num_lines - 1))
        if not line:
            return 0
        block = bisect_left(self._num_ends_before, line) - 1
        return self._starts_in(block)[line - self._num_ends_before[block] - 1]

    def line_span(self, line: int) -> tuple[int, int]:
        """Offsets of the line's first character and of its line end. `line` is clamped to the document."""
        line = max(0, min(line, self.num_lines - 1))
        start = self.line_start(line)
        end = self.line_start(line + 1) if line + 1 < self.num_lines else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return start, end

    @cached_property
    def _num_ends_before(self) -> list[int]:
        """How many lines end before each block of the text, and in all of it: counting is all that a text of any length
        costs with each keystroke."""
        return [0, *accumulate(_num_ends(self.text, start) for start in range(0, len(self.text), _BLOCK))]

    @cached_property
    def _starts(self) -> dict[int, list[int]]:
        return {}

    def _starts_in(self, block: int) -> list[int]:
        """Where the lines begin whose predecessors end in the block."""
        if block not in self._starts:
            self._starts[block] = _starts(self.text, block * _BLOCK)
        return self._starts[block]

    def before_on_line(self, offset: int) -> str:
        return self.text[self.line_span(self.line_at(offset))[0] : offset]

    def after_on_line(self, offset: int) -> str:
        return self.text[offset : max(offset, self.line_span(self.line_at(offset))[1])]


def _num_ends(text: str, start: int) -> int:
    """How many lines end in a block."""
    end = start + _BLOCK
    num = text.count("\n", start, end)
    if num_cr := text.count("\r", start, end):
        num += num_cr - text.count("\r\n", start, end + 1)
    return num


def _starts(text: str, start: int) -> list[int]:
    """Where the lines begin whose predecessors end in a block."""
    block = text[start : start + _BLOCK]
    if "\r" not in block:
        return list(map(add, accumulate(map(len, block.split("\n")[:-1])), count(start + 1)))
    found = _LAST_OF_END.finditer(text, start, start + _BLOCK + 1)  # one more: it may make CR a CRLF
    return [match.end() for match in found if match.start() < start + _BLOCK]


def normalize_eol(text: str) -> str:
    """The text with LF alone. A prompt has one convention throughout, whatever its files have."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def with_eol(text: str, eol: str) -> str:
    """The text with `eol` at the end of each line."""
    return normalize_eol(text).replace("\n", eol) if eol != "\n" or "\r" in text else text
