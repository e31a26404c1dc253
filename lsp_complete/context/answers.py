"""What the index answers with."""

from dataclasses import dataclass, field
from enum import StrEnum


class IndexState(StrEnum):
    """How far an index is. The value is what a user is shown."""

    EMPTY = "empty"
    BUILDING = "building"
    READY = "ready"
    FOLLOWING = "kept up to date by another process"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class FoundReference:
    """`start` is an offset in the text as it is now, `line` counts from 0."""

    path: str
    start: int
    line: int


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """Lines from `first_line` (from 0) up to `end_line`, which may lie behind the end of the file."""

    path: str
    first_line: int
    end_line: int
    score: float


@dataclass(frozen=True, slots=True)
class Status:
    """`skipped` counts files by reason; `unreadable` has a reason for each path. Warnings are for the user, one line
    each; with some, an index is still ready."""

    root: str
    state: IndexState
    database: str
    num_files: int = 0
    num_definitions: int = 0
    num_bytes: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def occurrences(name: str, path: str, text: str, limit: int) -> list[FoundReference]:
    """Where a name stands as a whole word in a text."""
    found: list[FoundReference] = []
    line = last = 0
    start = text.find(name) if name else -1
    while start >= 0 and len(found) < limit:
        if not (_is_letter(text[start - 1 : start]) or _is_letter(text[start + len(name) : start + len(name) + 1])):
            line, last = line + _num_line_ends(text, last, start), start
            found.append(FoundReference(path, start, line))
        start = text.find(name, start + len(name))
    return found


def _is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"


def _num_line_ends(text: str, start: int, end: int) -> int:
    num_returns = text.count("\r", start, end)
    num_pairs = text.count("\r\n", start, end) if num_returns else 0
    return text.count("\n", start, end) + num_returns - num_pairs
