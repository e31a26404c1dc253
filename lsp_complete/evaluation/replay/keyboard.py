"""From what stands in the buffer to the next key: what an editor makes of it, with its brackets, indents and pop-ups.

What is written lies between a head and a tail that stay. Left of the cursor it grows towards the goal; right of it
stand the pieces that the editor has put there by itself, each known by its place in the goal. Pure functions.
"""

import re
from dataclasses import dataclass, replace
from functools import cached_property

from rapidfuzz.distance import Prefix

from lsp_complete.completion.brackets import scan
from lsp_complete.evaluation.replay.typist import Moment

_PAIRS = {"(": ")", "[": "]", "{": "}", '"': '"', "'": "'"}
# Editors close a bracket where nothing follows that it could be meant to hold.
_CLOSES_BEFORE = re.compile(r"[\s)\]}:;,.]|$")
_OPENS_BLOCK = (":", "{", "(", "[")
_INDENTATION = re.compile(r"^([ \t]+)\S", re.MULTILINE)
# What is looked at of the head for what is open there.
_NEAR_CHARACTERS = 2_000
# With the line end that comes before it.
_CLOSER = re.compile(r"(\s*)(\S)")
# A line end and the indentation that comes with it are one key.
_KEY = re.compile(r"\n[ \t]*|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """`text` stands right of the cursor already, `at` is its place in the goal."""

    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Stroke:
    """What one key does: `text` in the place of so many characters left and right of the cursor, and `behind` it what
    the editor adds. `is_move`: the cursor goes over what stands there."""

    text: str
    num_left: int = 0
    num_right: int = 0
    behind: str = ""
    is_move: bool = False


@dataclass(frozen=True)
class Writing:
    """One change under way in a document of `head`, what is `left` and `right` of the cursor, and `tail`. `right` is
    the text of `pieces`."""

    head: str
    goal: str
    tail: str
    left: str = ""
    pieces: tuple[Piece, ...] = ()

    @property
    def right(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def text(self) -> str:
        return self.head + self.left + self.right + self.tail

    @property
    def cursor(self) -> int:
        return len(self.head) + len(self.left)

    @cached_property
    def num_right(self) -> int:
        """So much of what is left of the cursor is what is meant."""
        return int(Prefix.similarity(self.left, self.goal))

    @property
    def is_clean(self) -> bool:
        return self.num_right == len(self.left)

    @property
    def is_done(self) -> bool:
        return self.left == self.goal and not self.pieces

    @property
    def coming(self) -> str:
        """What the user is about to write, and what stands behind it."""
        return self.goal[len(self.left) :] + self.tail

    @cached_property
    def line(self) -> str:
        """The cursor's line, left of the cursor."""
        return (self.head[-400:] + self.left).rpartition("\n")[2]


def num_keys(text: str) -> int:
    """What typing it takes."""
    return sum(1 for _ in _KEY.finditer(text))


def unit_of(text: str) -> str:
    """By what a file is indented: a tab, or its least indentation."""
    found = [match[1] for match in _INDENTATION.finditer(text)]
    if any(one.startswith("\t") for one in found):
        return "\t"
    return " " * min((len(one) for one in found if len(one) in (2, 4, 8)), default=4)


def moment(writing: Writing) -> Moment:
    """What lies before the next key."""
    left = writing.head[-400:] + writing.left
    if not left.rpartition("\n")[2].strip() and "\n" in left:
        return Moment.BLOCK if left.rstrip().endswith(_OPENS_BLOCK) else Moment.LINE_END
    key = writing.coming[:1]
    if not key.isalnum():
        return Moment.SIGN
    return Moment.LETTER if left[-1:].isalnum() else Moment.WORD


def next_stroke(writing: Writing, unit: str) -> Stroke:
    """The right key, for somebody who has seen what stands there."""
    if not writing.is_clean:
        wrong = writing.left[writing.num_right :]
        is_empty_line = not wrong.strip(" \t") and writing.goal[writing.num_right :].startswith("\n")
        return _enter(writing, unit, len(wrong)) if is_empty_line else backspace(writing, unit)
    rest = writing.goal[len(writing.left) :]
    first = writing.pieces[0] if writing.pieces else None
    if not rest:
        return Stroke("", num_right=len(writing.right))
    if first is not None and first.at <= len(writing.left):
        return Stroke(first.text, num_right=len(first.text), is_move=len(first.text) > 1)
    if rest[0] == "\n":
        return _enter(writing, unit)
    if rest[0] in " \t" and not writing.line.strip():
        blanks = rest[: len(rest) - len(rest.lstrip(" \t"))]
        return Stroke(blanks[: len(unit)])
    return typed(writing, rest[0])


def typed(writing: Writing, key: str) -> Stroke:
    """A letter or a sign; what it opens is closed, where the editor does so and the goal has it."""
    closer = _PAIRS.get(key)
    closes = closer and _CLOSES_BEFORE.match((writing.right + writing.tail)[:1] or "\n")
    if not closes or _closer_at(writing) is None or (key in "\"'" and writing.line[-1:].isalnum()):
        return Stroke(key)
    return Stroke(key, behind=closer or "")


def pressed(writing: Writing, stroke: Stroke) -> Writing:
    """The same after a stroke."""
    pieces = _without(writing.pieces, stroke.num_right)
    left = writing.left[: len(writing.left) - stroke.num_left] + stroke.text
    if stroke.behind:
        pieces = _with_behind(writing, stroke, pieces)
    return replace(writing, left=left, pieces=pieces)


def accepted(writing: Writing, text: str) -> Writing:
    """What the user means by accepting a text that is the one to come: it stands there, whatever it takes the place of,
    and what stands behind it is not there twice."""
    done = len(writing.left) + len(text)
    pieces = []
    for piece in writing.pieces:
        rest = piece.text[max(0, done - piece.at) :]
        if rest:
            pieces.append(Piece(max(piece.at, done), rest))
    return replace(writing, left=writing.goal[:done], pieces=tuple(pieces))


def reclosed(writing: Writing, right: str) -> Writing | None:
    """The same with `right` right of the cursor, where all of that closes what is open there: what the editor has put
    there for one opener may serve a later one. Never less than stands there now."""
    closers, pieces = _open(writing), []
    for blank, char in _CLOSER.findall(right):
        while closers and closers[0].text != char:
            closers.pop(0)
        if not closers:
            return None
        at = closers.pop(0).at
        pieces.append(Piece(max(len(writing.left), at - len(blank)), blank + char))
    now = replace(writing, pieces=tuple(pieces))
    return now if now.right == right and len(right) >= len(writing.right) else None


def _open(writing: Writing) -> list[Piece]:
    """What closes what is open at the cursor. What only the tail closes has no place in the goal, but at its end."""
    start = len(writing.head[-_NEAR_CHARACTERS:])
    text, done = writing.head[-_NEAR_CHARACTERS:] + writing.goal, start + len(writing.left)
    closers = {opener: at for at, opener in scan(text).partners.items() if opener < done <= at}
    opened = sorted({*closers, *scan(text[:done]).opened}, reverse=True)
    return [Piece(closers.get(one, len(text)) - start, _PAIRS.get(text[one], text[one])) for one in opened]


def backspace(writing: Writing, unit: str) -> Stroke:
    """A letter; a step of indentation; an empty pair."""
    if not writing.line.strip() and len(writing.line) > 1 and unit != "\t":
        return Stroke("", num_left=min(len(writing.left), (len(writing.line) - 1) % len(unit) + 1))
    opener, right = writing.left[-1:], writing.pieces[0].text if writing.pieces else ""
    return Stroke("", num_left=1, num_right=int(bool(right) and _PAIRS.get(opener) == right))


def _enter(writing: Writing, unit: str, num_left: int = 0) -> Stroke:
    """With the indentation of the line above, a step more behind what opens a block. A line of blanks is emptied. What
    is closed at once comes on a line of its own, indented as it is meant to be."""
    line = writing.line
    indentation = line[: len(line) - len(line.lstrip(" \t"))]
    inner = indentation + (unit if line.rstrip().endswith(_OPENS_BLOCK) else "")
    first = writing.pieces[0] if writing.pieces else None
    if first is not None and len(first.text) == 1 and _PAIRS.get(line[-1:]) == first.text:
        start = writing.goal.rfind("\n", 0, first.at)
        if start > len(writing.left) and not writing.goal[start : first.at].strip():
            return Stroke("\n" + inner, behind=writing.goal[start : first.at])
    return Stroke("\n" + inner, num_left=num_left)


def _closer_at(writing: Writing) -> int | None:
    """Where in the goal that is closed which the next key opens."""
    partners = scan(writing.goal).partners
    return next((closer for closer, opener in partners.items() if opener == len(writing.left)), None)


def _without(pieces: tuple[Piece, ...], num: int) -> tuple[Piece, ...]:
    while num > 0 and pieces:
        num, pieces = num - len(pieces[0].text), pieces[1:]
    return pieces


def _with_behind(writing: Writing, stroke: Stroke, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    if stroke.behind.startswith("\n"):
        first = pieces[0]
        return (Piece(first.at - len(stroke.behind), stroke.behind + first.text), *pieces[1:])
    at = _closer_at(writing)
    assert at is not None, "closed without a place"
    return (Piece(at, stroke.behind), *pieces)
