"""The lines around a cursor that make sense to a grammar by themselves, with the headers and ends of the blocks around.

Goes by indentation, brackets and quotes, so it costs the same in a file of any length. Parses nothing.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate

from lsp_complete.completion.brackets import scan
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import continues, indentation, width
from lsp_complete.text.document import normalize_eol
from lsp_complete.text.languages import BlockStyle

# Headers and ends of the blocks around are looked for no farther, nor in longer lines.
_FAR_CHARACTERS = 60_000
_MAX_HEADER_CHARACTERS = 1_000
# A header with a parameter a line; what is longer is cut off.
_MAX_HEADER_LINES = 20
# What begins and ends text of several lines. A comment that does stands at the start of a line: `"src/*.js"` does not.
_MARK = re.compile(r"\"\"\"|'''|/\*|\*/")
_ENDS = {'"""': '"""', "'''": "'''", "/*": "*/"}


def around(cursor: Cursor, text: str, num_characters: int) -> tuple[str, str]:
    """What is above the cursor's line, and what below once the text is there; some `num_characters` each, LF at their
    ends."""
    whole, start = cursor.document.text, cursor.offset - len(cursor.before)
    end = cursor.offset + len(cursor.rest)
    above = normalize_eol(whole[max(0, start - _FAR_CHARACTERS) : start])
    below = normalize_eol(whole[end : end + _FAR_CHARACTERS])
    if len(below) > num_characters:
        state = _inside(above + cursor.before)
        inside, without = _inside(text + cursor.rest, state), _inside(cursor.rest, state)
        if inside != without and _inside(below, inside):
            inside = without  # the text opens what the document does not close
        below = _below(below.split("\n"), num_characters, inside)
    if start > num_characters:
        above = _above(cursor, above.split("\n")[:-1], num_characters)
    return above, below


def _above(cursor: Cursor, lines: list[str], num_characters: int) -> str:
    """From a line on that begins something and is as little indented as any."""
    near = range(len(lines) - _num_near(lines[::-1], num_characters), len(lines))
    states = dict(zip(near, _states(lines[near.start :], _inside("\n".join(lines[: near.start]))), strict=False))
    starts = (i for i in _least_indented(lines, [i for i in near if not states[i]]) if not _goes_on(lines[i]))
    first = next(starts, near.start)
    opening, begin = [], first
    if inside := states.get(first, ""):
        begin = next((index for index in range(first - 1, -1, -1) if inside in lines[index]), first)
        opening = [indentation(lines[begin]) + inside]
    headers = _headers(lines, begin, cursor.language.block_style) if begin < len(lines) else []
    php = ["<?php"] if cursor.document.text.startswith("<?php") else []
    return "".join(f"{line}\n" for line in [*php, *headers, *opening, *lines[first:]])


def _below(lines: list[str], num_characters: int, inside: str) -> str:
    """Up to a line that is as little indented as any."""
    near = range(1, _num_near(lines, num_characters))
    states = list(_states(lines[: near.stop], inside))
    ends = _least_indented(lines, [i for i in near if not states[i]])[::-1]
    # Behind a blank line, if there is one: what stands just above may belong to what is cut off.
    last = next((index for index in ends if not lines[index - 1].strip()), ends[0] if ends else near.stop - 1)
    kept = lines[: last + continues(lines[last])]
    closed = [_ENDS[state] for state in states[last : last + 1] if state]
    outside = (lines[index] for index in _outward(lines, range(last, len(lines))))
    return "\n".join([*kept, *closed, *filter(continues, outside), ""])


def _least_indented(lines: list[str], numbers: list[int]) -> list[int]:
    written = [number for number in numbers if lines[number].strip()]
    least = min((width(lines[number]) for number in written), default=0)
    return [number for number in written if width(lines[number]) == least]


def _num_near(lines: list[str], num_characters: int) -> int:
    sizes = accumulate(len(line) + 1 for line in lines)
    return next((number for number, size in enumerate(sizes) if size > num_characters), len(lines))


def _headers(lines: list[str], first: int, style: BlockStyle) -> list[str]:
    """Those of the blocks that line `first` is in, outermost first: whole, and with the `if` of an `else`."""
    headers = list[list[str]]()
    inner = first
    for index in _outward(lines, range(first, -1, -1), branches=True):
        header = _whole(lines[index : min(first, index + _MAX_HEADER_LINES)])
        if headers and index + len(header) > inner:
            headers.pop()  # it was the end of this one
        elif style is BlockStyle.INDENT and continues(lines[inner]) and width(lines[inner]) == width(lines[index]):
            header[-1] += " pass"
        headers.append(header)
        inner = index
    return [line for header in reversed(headers) for line in header]


def _outward(lines: list[str], numbers: range, branches: bool = False) -> Iterator[int]:
    """The numbers, after the first, of lines that are less indented than all before them; `branches`: and of those that
    such a line goes on from, as `else` does."""
    least, goes_on = width(lines[numbers[0]]), False
    for number in numbers[1:]:
        line = lines[number]
        if not least and not goes_on:
            return
        if line.strip() and width(line) < least + goes_on and len(line) <= _MAX_HEADER_CHARACTERS:
            yield number
            least, goes_on = width(line), branches and _goes_on(line)


def _goes_on(line: str) -> bool:
    """Does the line belong to the one above it, at the same indentation?"""
    return continues(line) or line.strip() == "{"


def _whole(lines: list[str]) -> list[str]:
    """The first of the lines, with those in which its brackets are closed."""
    for number in range(1, len(lines)):
        opened = scan("\n".join(lines[:number])).opened
        if not opened or "\n".join(lines[:number])[opened[-1]] == "{":
            return lines[:number]
    return lines[:1]


def _states(lines: Iterable[str], inside: str) -> Iterator[str]:
    """What is open before each of the lines."""
    for line in lines:
        yield inside
        inside = _inside(line, inside)


def _inside(text: str, inside: str = "") -> str:
    """What begins the string or comment of several lines that is open at the end of the text, or ""."""
    for match in _MARK.finditer(text):
        mark, line = match.group(), text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if inside:
            inside = "" if mark == _ENDS[inside] else inside
        elif mark in _ENDS and not (mark == "/*" and line.strip()):
            inside = mark
    return inside
