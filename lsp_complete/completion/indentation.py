"""The indentation of the model's lines, made to fit a line that is indented already.

A model that answers at an indented cursor may go on from it, may write the line's indentation again, or may have
counted its own from zero. What it meant shows in its second line. All lines move together or not at all: nesting is
never changed, and nothing is rounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import continues, indentation, opens_block, width
from lsp_complete.text.languages import BlockStyle

# No style nests by less than two columns.
_LEAST_STEP = 2
# As far above as a block is looked at that tells how deep one is.
_NUM_LINES = 200
# Each piece of a stream is looked at from the same cursor, of which there are one or two at a time.
_NUM_CURSORS = 4


@dataclass(frozen=True, slots=True)
class Placement:
    """The indentation the model had in mind for its first line, and the one that line gets; it starts with what is
    left of the cursor."""

    written: str
    wanted: str


def reindented(cursor: Cursor, text: str) -> str:
    lines = text.split("\n")
    if cursor.starts_line and cursor.before and lines[0].strip():
        place = placement(cursor, lines)
        first = place.wanted[len(cursor.before) :] + lines[0].lstrip(" \t")
        lines = [first, *(_moved(line, place) for line in lines[1:])]
    return "\n".join(_with_tabs(cursor, lines))


def placement(cursor: Cursor, lines: list[str]) -> Placement:
    """For a first line that starts at the cursor, with nothing but indentation before it."""
    lead = indentation(lines[0])
    if not cursor.before:
        return Placement(lead, lead)
    wanted = _wanted(cursor, lead, lines[0])
    return Placement(_written(cursor, lead, wanted, lines), wanted)


def _wanted(cursor: Cursor, lead: str, first: str) -> str:
    """The cursor's own indentation, unless no line can have that here. Then it is half typed, and the text takes it to
    one that a line can have."""
    before, above = cursor.before, next(cursor.lines_above(), "")
    levels = _levels(cursor)
    meant = [level for level in (before + lead, lead) if lead and level.startswith(before)]
    if opens_block(above, cursor.language) and width(before) <= width(above):
        deeper = [level for level in meant if width(level) > width(above)]
        return next((level for level in deeper if level in levels), deeper[0] if deeper else before)
    own = levels if not lead or opens_block(first, cursor.language) or continues(first) else _kept(cursor, levels)
    if before in own or not levels or not levels[0].startswith(before):
        return before
    if lead:
        return next((level for level in meant if level in own), before if before in levels else before + lead)
    return levels[0] if cursor.language.block_style is BlockStyle.INDENT else before


@lru_cache(maxsize=_NUM_CURSORS)
def _levels(cursor: Cursor) -> Sequence[str]:
    """The indentations that a line may have here, deepest first: that of the line above and of each that encloses it.
    Where the line above opens a block, those that the block may have come first."""
    above = list(islice(cursor.lines_above(), _NUM_LINES))
    levels = [indentation(line) for line in above[:1]]
    for line in above:
        if width(line) < width(levels[-1]):
            levels.append(indentation(line))
    if above and opens_block(above[0], cursor.language):
        below = next(cursor.lines_below(), "")
        levels[:0] = [indentation(below)] if width(below) > width(above[0]) else []
        levels[:0] = [indentation(above[0]) + unit] if (unit := _unit(cursor)) else []
    return levels


def _kept(cursor: Cursor, levels: Sequence[str]) -> Sequence[str]:
    """The levels without those on which a line would cut the line below off from its block."""
    least = min(width(next(cursor.lines_below(), "")), width(levels[0]) if levels else 0)
    return [level for level in levels if width(level) >= least]


@lru_cache(maxsize=_NUM_CURSORS)
def _unit(cursor: Cursor) -> str:
    """What a block nearby is deeper than its header, above if there is one; nothing where there is none."""
    above = pairwise(islice(cursor.lines_above(), _NUM_LINES))
    below = pairwise(islice(cursor.lines_below(), _NUM_LINES))
    for header, body in chain(((header, body) for body, header in above), below):
        if opens_block(header, cursor.language) and width(body) > width(header):
            return indentation(body).removeprefix(indentation(header))
    return ""


def _written(cursor: Cursor, lead: str, wanted: str, lines: list[str]) -> str:
    """The deepest of the indentations the first line may have been meant to have that its second line allows."""
    second = next((line for line in lines[1:] if line.strip()), None)
    if second is None:
        return wanted
    candidates = sorted({cursor.before + lead, lead or cursor.before, wanted}, key=width, reverse=True)
    limit = width(second)
    if opens_block(lines[0], cursor.language):
        step = width(_unit(cursor))
        if fitting := [candidate for candidate in candidates if step and width(candidate) + step == limit]:
            return fitting[0]
        limit -= _LEAST_STEP
    return next((candidate for candidate in candidates if width(candidate) <= limit), wanted)


def _moved(line: str, place: Placement) -> str:
    return place.wanted + line[len(place.written) :] if line.startswith(place.written) else line


def _with_tabs(cursor: Cursor, lines: list[str]) -> list[str]:
    """In a place that is indented with tabs, spaces at the start of a line become tabs. The first line that has them
    stands where the cursor's line puts it; the least step between two lines is one tab."""
    if not _has_tabs(cursor):
        return lines
    if cursor.starts_line and lines[0][:1] == " ":
        lines = ["\t" + lines[0].lstrip(" \t"), *lines[1:]]
    columns = {index: width(line) for index, line in enumerate(lines) if index and line.strip() and line[0] == " "}
    base = next(iter(columns.values()), 0)
    step = min((abs(column - base) for column in columns.values() if column != base), default=1)
    depth = len(indentation(cursor.before)) + opens_block(cursor.before + lines[0], cursor.language)
    tabs = {index: max(0, depth + (column - base) // step) for index, column in columns.items()}
    return ["\t" * tabs[index] + line.lstrip(" \t") if index in tabs else line for index, line in enumerate(lines)]


def _has_tabs(cursor: Cursor) -> bool:
    own, text = indentation(cursor.before), cursor.document.text
    if cursor.starts_line:
        return bool(own) and not own.strip("\t")
    return not own.strip("\t") and (bool(own) or ("\n\t" in text and "\n " not in text))
