"""The indentation of the model's lines, made to fit a line that is indented already.

A model that answers at an indented cursor may go on from it, may write the line's indentation again, or may have
counted its own from zero. What it meant shows in its second line. All lines move together or not at all: nesting is
never changed, and nothing is rounded.
"""

from dataclasses import dataclass

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import indentation, opens_block, width

# No style nests by less than two columns.
_LEAST_STEP = 2


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
    if not lead or not cursor.before:
        return Placement(cursor.before + lead, cursor.before + lead)
    wanted = _wanted(cursor, lead)
    return Placement(wanted if wanted != cursor.before else _written(cursor, lead, lines), wanted)


def _wanted(cursor: Cursor, lead: str) -> str:
    """The cursor's own indentation, unless that is too little for the block and the model's is right."""
    before, above = cursor.before, next(cursor.lines_above(), "")
    if not opens_block(above, cursor.language):
        # The line is not yet as deep as the one above it, and the text takes it there.
        reaches = before + lead == indentation(above) and not _is_level(cursor)
        return before + lead if reaches else before
    if width(before) > width(above):
        return before
    if lead.startswith(before) and width(lead) > width(above):
        return lead
    return before + lead if width(before + lead) > width(above) else before


def _is_level(cursor: Cursor) -> bool:
    """Does a line above stand where the cursor stands?"""
    return any(indentation(line) == cursor.before for line in cursor.lines_above())


def _written(cursor: Cursor, lead: str, lines: list[str]) -> str:
    """The deepest of the indentations the first line may have been meant to have that its second line allows."""
    second = next((line for line in lines[1:] if line.strip()), None)
    if second is None:
        return cursor.before
    limit = width(second) - (_LEAST_STEP if opens_block(lines[0], cursor.language) else 0)
    candidates = sorted((cursor.before + lead, lead, cursor.before), key=width, reverse=True)
    return next((candidate for candidate in candidates if width(candidate) <= limit), cursor.before)


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
