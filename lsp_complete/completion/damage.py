"""Would the document parse worse with the text in it: in more places that make no sense to the grammar?

Looks at the lines around the cursor and at what encloses them (`window.py`), so it costs a millisecond or two in a file
of any length. They are parsed once, and after that only what is tried between them.
What a text leaves open at its end is no damage, for the user goes on from there. Where the grammar stumbles over lines
that are not the cursor's, as over macros, it says nothing of the text, and so does a language without grammar.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lsp_complete.completion.brackets import scan
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.window import around
from lsp_complete.text.languages import BlockStyle
from lsp_complete.text.syntax import Tree, parse

# On either side of the cursor. A parser reads 4,000 characters in a millisecond.
_NEAR_CHARACTERS = 1_000
# Two brackets too many are a slip of the model, more are another program.
_MAX_SURPLUS = 2
# More errors than this come of no operand or `end` that is missing at the end; an open bracket may make any number.
_MAX_UNFINISHED = 2
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
    place = _Place(cursor, text)
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
    """What is parsed around a cursor, for a text and what is made of it."""

    def __init__(self, cursor: Cursor, text: str) -> None:
        self._cursor = cursor
        above, self._below = around(cursor, text, _NEAR_CHARACTERS)
        self._head = above + cursor.before
        self._known: dict[str, list[_Error]] = {}
        self._tree: Tree | None = None

    def is_damaged_by(self, text: str, num_replaced: int) -> bool:
        """Each error elsewhere allows for one more: the grammar does not know this code well."""
        if not text.strip():
            return True
        errors = self._parsed(text + self._cursor.rest[num_replaced:])
        num_allowed = len(self._before) + self.num_elsewhere if errors else 0
        return len(errors) > num_allowed and len(self._errors(text, num_replaced)) > num_allowed

    @cached_property
    def num_elsewhere(self) -> int:
        """The errors there are that do not touch the cursor's line."""
        first, rest = len(self._head) - len(self._cursor.before), len(self._below)
        return sum(error.end < first or error.to_end < rest for error in self._before)

    @cached_property
    def _before(self) -> list[_Error]:
        """The errors there are in any case, once the line is finished."""
        return self._errors("", 0)

    def _errors(self, text: str, num_replaced: int) -> list[_Error]:
        """As few as there can be when the user goes on from the text."""
        rest = self._cursor.rest[num_replaced:]
        errors = self._parsed(text + rest)
        for ending in self._endings(text, len(errors)):
            errors = min(errors, self._parsed(text + ending + rest), key=len)
            if not errors:
                break
        return errors

    def _parsed(self, middle: str) -> list[_Error]:
        """The errors with `middle` between what is left of the cursor and the line below."""
        if middle not in self._known:
            tree = self._tree_with(middle)
            self._tree = self._tree or tree
            spans = tree.errors() if tree is not None else []
            length = len(self._head) + len(middle) + len(self._below)
            self._known[middle] = [_Error(end, length - start) for start, end in spans]
        return self._known[middle]

    def _tree_with(self, middle: str) -> Tree | None:
        if self._tree is None:
            return parse(self._head + middle + self._below, self._cursor.language)
        return self._tree.replaced(len(self._head), len(self._tree.text) - len(self._below), middle)

    def _endings(self, text: str, num_errors: int) -> Iterator[str]:
        """What the user may go on with, where that may mend something: what closes what is left open, an operand
        first."""
        line = self._cursor.before + text
        closers = "".join(_CLOSERS[line[opener]] for opener in reversed(scan(line).opened))
        if not num_errors or (not closers and num_errors > len(self._parsed(self._cursor.rest)) + _MAX_UNFINISHED):
            return
        yield from (ending for ending in (closers, closers[:1]) if ending)
        yield from dict.fromkeys((" x" + closers, " x"))
        if self._cursor.language.block_style is BlockStyle.KEYWORD:
            yield from _CLOSING_LINES
