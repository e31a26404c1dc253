"""How much of the model's text is wanted: up to a marker, a line, the end of a block, or the start of a loop.

Decides on lines that can no longer change, so that a stream can be closed as soon as the end is in it: text that comes
after a settled cut never changes the cut. Takes nothing out of the middle and changes no character.
"""

from dataclasses import dataclass

from lsp_complete.completion.block import block_end
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.markers import before_marker
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import normalize_eol

# So many times the same line in a row is a model in a loop. None of HumanEval's 5,815 holes of several lines has a
# line three times in a row; twice is ordinary code.
_LOOP = 3


@dataclass(frozen=True, slots=True)
class Cut:
    """The text that is wanted, its lines ended by LF, the last one too where the model went on to another.
    `settled`: whatever the stream brings next, this text stays the same. `by` names what has cut it, if anything."""

    text: str
    settled: bool
    by: str


def cut(cursor: Cursor, mode: Mode, raw: str) -> Cut:
    text, ended = before_marker(normalize_eol(raw))
    lines = text.split("\n")
    end, settled = _line_end(cursor, lines) if mode is Mode.LINE else block_end(cursor, lines)
    by = mode.value if end < len(lines) else "marker" if ended else ""
    if loop := _loop(cursor, lines[:end]):
        (end, third), by = loop, "loop"
        settled = settled or third + 1 < len(lines)
    kept = "\n".join(lines[:end])
    return Cut(kept + "\n" if 0 < end < len(lines) else kept, settled or ended, by)


def _line_end(cursor: Cursor, lines: list[str]) -> tuple[int, bool]:
    """Where the first line with code ends. Between the two halves of a line it is the first of all, for a line end
    there would tear the line in two."""
    tears = not cursor.starts_line and not cursor.ends_line
    first = 0 if tears else next((index for index, line in enumerate(lines) if line.strip()), len(lines) - 1)
    return first + 1, first + 1 < len(lines)


def _loop(cursor: Cursor, lines: list[str]) -> tuple[int, int] | None:
    """The end of the first of three equal lines, and the index of the third. Blank lines between them do not count."""
    whole = [cursor.before + lines[0], *lines[1:]]
    code = [index for index, line in enumerate(whole) if line.strip()]
    for first, third in zip(code, code[_LOOP - 1 :], strict=False):
        if len({whole[index].rstrip() for index in code if first <= index <= third}) == 1:
            return first + 1, third
    return None
