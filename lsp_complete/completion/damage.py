"""Would the document parse worse with the text in it: in more places that make no sense to the grammar?

Looks at the lines around the cursor and at what encloses them, so it costs a few milliseconds in a file of any length.
What a text leaves open at its end is no damage, for the user goes on from there. Where the grammar stumbles over lines
that are not the cursor's, as over macros, it says nothing of the text, and so does a language without grammar.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lsp_complete.completion.brackets import scan
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import continues, width
from lsp_complete.text.document import normalize_eol
from lsp_complete.text.languages import BlockStyle
from lsp_complete.text.syntax import parse

# On either side of the cursor: what is looked at first, and what where the first makes no sense by itself. A parser
# reads 4,000 characters in a millisecond.
_NEAR_CHARACTERS = 1_000
_LESS_NEAR_CHARACTERS = 4_000
# Headers and ends of the blocks around are looked for no farther.
_FAR_CHARACTERS = 60_000
# Two brackets too many are a slip of the model, more are another program.
_MAX_SURPLUS = 2
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_CLOSING_LINES = ("\nend", "\nfi", "\ndone")


@dataclass(frozen=True, slots=True)
class _Error:
    """`to_end` is how far from the end of what is parsed it starts."""

    end: int
    to_end: int


def undamaging(cursor: Cursor, text: str, num_replaced: int) -> str | None:
    """The text, to take the place of `num_replaced` characters; if it does damage, without the brackets or the line at
    its end that do it; None where that does not help."""
    place = _Place(cursor, _NEAR_CHARACTERS)
    if place.errors(text, num_replaced) and place.num_elsewhere:
        place = _Place(cursor, _LESS_NEAR_CHARACTERS)
    candidates = (text, *(() if num_replaced else _shortened(text)))
    return next((one for one in candidates if not place.is_damaged_by(one, num_replaced)), None)


def _shortened(text: str) -> Iterator[str]:
    """Without one, then two brackets at its end that close none of its own; without its last line."""
    body = text.rstrip()
    shorter, partners = body, scan(body).partners
    for _ in range(_MAX_SURPLUS):
        shorter = shorter.rstrip("; \n\t")
        if shorter[-1:] not in _CLOSERS.values() or len(shorter) - 1 in partners:
            break
        shorter = shorter[:-1]
        yield shorter.rstrip()
    if "\n" in body:
        yield body.rpartition("\n")[0]


class _Place:
    """What is parsed around a cursor: `num_characters` on either side, and a little more."""

    def __init__(self, cursor: Cursor, num_characters: int) -> None:
        self._cursor = cursor
        self._above, self._below = _above(cursor, num_characters), _below(cursor, num_characters)
        self._known: dict[str, list[_Error]] = {}

    def is_damaged_by(self, text: str, num_replaced: int) -> bool:
        """Each error elsewhere allows for one more: the grammar does not know this code well."""
        if not text.strip():
            return True
        errors = self.errors(text, num_replaced)
        return bool(errors) and len(errors) > len(self._before) + self.num_elsewhere

    @cached_property
    def num_elsewhere(self) -> int:
        """The errors there are that do not touch the cursor's line."""
        first, rest = len(self._above), len(self._below)
        return sum(error.end < first or error.to_end < rest for error in self._before)

    @cached_property
    def _before(self) -> list[_Error]:
        """The errors there are in any case, once the line is finished."""
        return self.errors("", 0)

    def errors(self, text: str, num_replaced: int) -> list[_Error]:
        """As few as there can be when the user goes on from the text."""
        head, tail = self._above + self._cursor.before + text, self._cursor.rest[num_replaced:] + self._below
        errors = self._parsed(head + tail)
        for ending in self._endings(text) if errors else ():
            errors = min(errors, self._parsed(head + ending + tail), key=len)
            if not errors:
                break
        return errors

    def _parsed(self, text: str) -> list[_Error]:
        if text not in self._known:
            tree = parse(text, self._cursor.language)
            spans = tree.errors() if tree is not None else []
            self._known[text] = [_Error(end, len(text) - start) for start, end in spans]
        return self._known[text]

    def _endings(self, text: str) -> Iterator[str]:
        """What the user may go on with: what closes what is left open, an operand first."""
        line = self._cursor.before + text
        closers = "".join(_CLOSERS[line[opener]] for opener in reversed(scan(line).opened))
        yield from (ending for ending in (closers, closers[:1]) if ending)
        yield from dict.fromkeys((" x" + closers, " x"))
        if self._cursor.language.block_style is BlockStyle.KEYWORD:
            yield from _CLOSING_LINES


def _above(cursor: Cursor, num_characters: int) -> str:
    """The lines near the cursor, from one on that begins something and is as little indented as any, and the headers
    of the blocks that one is in."""
    text, end = cursor.document.text, cursor.offset - len(cursor.before)
    if end <= num_characters:
        return normalize_eol(text[:end])
    lines = normalize_eol(text[max(0, end - _FAR_CHARACTERS) : end]).split("\n")[:-1]
    opening = ["<?php"] if text.startswith("<?php") else []
    near = range(len(lines) - _num_near(lines[::-1], num_characters), len(lines))
    least = min((width(lines[index]) for index in near if lines[index].strip()), default=0)
    starts = (index for index in near if lines[index].strip() and width(lines[index]) == least)
    far = text[: end - sum(len(line) + 1 for line in lines[near.start :])]
    begins = (i for i in starts if not continues(lines[i]) and not _is_in_text(far, lines[near.start : i]))
    first = next(begins, near.start)
    return "".join(f"{line}\n" for line in [*opening, *_enclosing(lines[first::-1])[::-1], *lines[first:]])


def _is_in_text(far: str, lines: list[str]) -> bool:
    """Does the next line stand in a string or a comment of several lines?"""
    above = [far, *lines]
    opened = sum(text.count("/*") - text.count("*/") for text in above)
    return opened > 0 or any(sum(text.count(quote * 3) for text in above) % 2 for quote in "\"'")


def _below(cursor: Cursor, num_characters: int) -> str:
    """The lines near the cursor, up to one that is as little indented as any, and what closes the blocks it is in."""
    text, start = cursor.document.text, cursor.offset + len(cursor.rest)
    if len(text) - start <= num_characters:
        return normalize_eol(text[start:])
    lines = normalize_eol(text[start : start + _FAR_CHARACTERS]).split("\n")
    near = range(1, _num_near(lines, num_characters))
    least = min((width(lines[index]) for index in near if lines[index].strip()), default=0)
    ends = [index for index in reversed(near) if lines[index].strip() and width(lines[index]) == least]
    # Behind a blank line, if there is one: what stands just above may belong to what is cut off.
    last = next((index for index in ends if not lines[index - 1].strip()), ends[0] if ends else near.stop - 1)
    kept = lines[: last + continues(lines[last])]
    return "\n".join([*kept, *filter(continues, _enclosing(lines[last:])), ""])


def _num_near(lines: list[str], num_characters: int) -> int:
    size = 0
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > num_characters:
            return number
    return len(lines)


def _enclosing(lines: list[str]) -> list[str]:
    """Those that are less indented than all before them, after the first."""
    found, least = list[str](), width(lines[0]) if lines else 0
    for line in lines[1:]:
        if not least:
            break
        if line.strip() and width(line) < least and len(line) <= _NEAR_CHARACTERS:
            found.append(line)
            least = width(line)
    return found
