"""What of the text the document already has: the lines just above the cursor, or those just below it.

Lines are compared whole, with indentation. No hole of HumanEval, of one line (1,033) or of several (5,815), equals
the lines above it or ends with the line below it; but there is a `return False` above a less indented `return False`,
so that indentation tells. A line of closing brackets is the exception: which one it repeats shows in its brackets.
"""

import re
from itertools import chain, islice

from lsp_complete.completion.brackets import lacks_closer, scan
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import closers_of, indentation, is_closing

_LEADING = re.compile(r"[)\]}]+")
_CLOSERS_AT_END = re.compile(r"[)\]}][)\]};,\s]*$")


def repeats_above(cursor: Cursor, text: str) -> bool:
    """Is the text nothing but the lines just above it once more? Of several, the indentation does not count."""
    lines = text.split("\n")
    if not cursor.starts_line and lines[0].strip():
        return False
    own = () if cursor.starts_line else (cursor.before.rstrip(),)
    code = [line for _, line in _whole_lines(cursor, lines)][::-1]
    above = list(islice(chain(own, cursor.lines_above()), len(code)))
    is_moved = len(code) > 1 and [line.strip() for line in code] == [line.strip() for line in above]
    return bool(code) and (code == above or is_moved)


def without_repeat_below(cursor: Cursor, text: str) -> str:
    """The text without the lines at its end that are also the next ones below."""
    lines = text.split("\n")
    code = _whole_lines(cursor, lines)
    below = list(islice(cursor.lines_below(), len(code)))
    for count in range(len(below), 0, -1):
        start = code[-count][0]
        if _same(cursor, code[-count:], below[:count], lines) and _can_go(cursor, lines, start):
            return without_repeat_below(cursor, "\n".join([*lines[:start], ""]))
    return _without_closers_below(cursor, text)


def _whole_lines(cursor: Cursor, lines: list[str]) -> list[tuple[int, str]]:
    """The lines that have code, with their indices; the first one only where nothing but indentation is before it."""
    first = cursor.before + lines[0] if cursor.starts_line else ""
    return [(index, line.rstrip()) for index, line in enumerate([first, *lines[1:]]) if line.strip()]


def _same(cursor: Cursor, tail: list[tuple[int, str]], below: list[str], lines: list[str]) -> bool:
    """A last line that the stream broke off counts as well, if it is not all there is."""
    *head, (last, line) = tail
    broken_off = 0 < last == len(lines) - 1 and below[-1].startswith(line)
    same_head = all(_equal(cursor, line, other) for (_, line), other in zip(head, below, strict=False))
    return same_head and (broken_off or _equal(cursor, line, below[-1]))


def _equal(cursor: Cursor, line: str, other: str) -> bool:
    if line == other or _closes_the_same(cursor, line, other):
        return True
    closing = is_closing(line, cursor.language) and is_closing(other, cursor.language)
    if not closing or closers_of(line) != closers_of(other):
        return False
    return indentation(line) == indentation(other) or not _lacks(cursor, line)


def _closes_the_same(cursor: Cursor, line: str, other: str) -> bool:
    """`):` above a line `)`, which would close nothing then; but not `} else {` above `}`. In the cursor's own line it
    takes the place of the bracket."""
    closers, leading = closers_of(other), _LEADING.match(line.lstrip())
    if cursor.above_line or not leading or leading.group() != closers or not is_closing(other, cursor.language):
        return False
    return indentation(line) == indentation(other) and not lacks_closer(line.lstrip()[leading.end() :], closers)


def _lacks(cursor: Cursor, closers: str) -> bool:
    return lacks_closer(cursor.document.text, closers)


def _can_go(cursor: Cursor, lines: list[str], start: int) -> bool:
    """Closing lines go only if what they close is not in the text that stays."""
    if not all(is_closing(line, cursor.language) for line in lines[start:] if line.strip()):
        return True
    at = len("\n".join([*lines[:start], ""]))
    return all(opener >= at for closer, opener in scan("\n".join(lines)).partners.items() if closer >= at)


def _without_closers_below(cursor: Cursor, text: str) -> str:
    """The text without the brackets at its end that the next line closes: `price)` above a line `)`."""
    code, below = text.rstrip(), next(cursor.lines_below(), "")
    match = _CLOSERS_AT_END.search(code)
    if not (match and cursor.ends_line and is_closing(below, cursor.language)):
        return text
    closers = match.group()
    needed = any(closer >= match.start() for closer in scan(code).partners)
    if needed or closers_of(closers) != closers_of(below) or _lacks(cursor, closers):
        return text
    return code[: match.start()]
