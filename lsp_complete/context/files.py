"""Reads source files: what they say, or why they are not worth reading. Knows no language and no index.

A byte order mark decides; else UTF-8, else Latin-1, which takes any bytes and keeps the number of lines.
"""

import codecs
import os
import stat
from dataclasses import dataclass
from enum import StrEnum

# Larger than nearly every file that people write by hand; a parse of it still ends in a fraction of a second.
MAX_FILE_BYTES = 1_000_000
# The longest hand-written lines are tables and regular expressions of a few thousand characters.
MAX_LINE_CHARACTERS = 10_000
# Minified code without one giant line: long lines on average, in a file of some size.
_MINIFIED_MEAN_LINE = 250
_MINIFIED_MIN_CHARACTERS = 20_000
# Binary formats that matter have a NUL in their first block.
_SNIFF_BYTES = 8192

# Longest first: the mark of UTF-32-LE starts with that of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class Skipped(StrEnum):
    """Why a file is not in the index. The value is what the status shows."""

    TOO_LARGE = "too large"
    BINARY = "binary"
    LONG_LINE = "a line too long"
    MINIFIED = "minified"
    NOT_A_FILE = "not a regular file"
    SYMLINK = "symbolic link"
    ODD_NAME = "a name that is no text"
    GENERATED = "generated"
    TOO_SLOW = "too slow to parse"


@dataclass(frozen=True, slots=True)
class FileText:
    """`text` has no byte order mark and its line ends as they are. Size and time are those of what was read."""

    text: str
    size: int
    mtime_ns: int
    data: bytes


def read_file(path: str, max_bytes: int = MAX_FILE_BYTES) -> FileText | Skipped:
    """Reads no link, no pipe and no device, and never more than `max_bytes` of a file that grows. Raises OSError."""
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            return Skipped.NOT_A_FILE
        if info.st_size > max_bytes:
            return Skipped.TOO_LARGE
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        return Skipped.TOO_LARGE
    text = decode(data)
    if text is None:
        return Skipped.BINARY
    return _unfit(text) or FileText(text, info.st_size, info.st_mtime_ns, data)


# A pipe that was put in a file's place must not block us, nor a link lead out of the root.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def decode(data: bytes) -> str | None:
    """The text of a file's bytes; None where they are no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if b"\0" in data[:_SNIFF_BYTES]:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _unfit(text: str) -> Skipped | None:
    if _has_long_line(text):
        return Skipped.LONG_LINE
    num_lines = text.count("\n") + text.count("\r") + 1
    is_minified = len(text) >= _MINIFIED_MIN_CHARACTERS and len(text) > num_lines * _MINIFIED_MEAN_LINE
    return Skipped.MINIFIED if is_minified else None


def _has_long_line(text: str) -> bool:
    """Looks for the last line end within the limit and starts again behind it: few steps for ordinary text."""
    start = 0
    while len(text) - start > MAX_LINE_CHARACTERS:
        limit = start + MAX_LINE_CHARACTERS + 1
        end = max(text.rfind("\n", start, limit), text.rfind("\r", start, limit))
        if end < 0:
            return True
        start = end + 1
    return False
