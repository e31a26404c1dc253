"""Whether an automatic question is worth asking, and how long to wait for the next key first. Pure functions.

The wait is a bet: a question that the next key overtakes is work for nobody, and each millisecond of waiting is felt by
whoever has stopped typing. So it follows the user's own rhythm and what an answer takes: where answers come faster than
keys, little is lost by asking early; where they take seconds, only a pause is worth a question.
"""

from dataclasses import dataclass
from enum import StrEnum

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.keystrokes import Change, Keystrokes
from lsp_complete.protocol.completion import Trigger

# Below the first nobody feels the wait; after the second even a slow typist has stopped.
MIN_WAIT_MS, MAX_WAIT_MS = 20.0, 400.0
# Shares of the interval between two keys, for answers that come at once and for those that take longer than two keys.
_LEAST_SHARE, _MOST_SHARE = 0.3, 1.2
# Each suggestion rejected in a row says that they are not wanted now, up to three; acceptance says the contrary.
_PER_REJECTION, _MAX_REJECTIONS = 1.3, 3
_AFTER_ACCEPTANCE = 0.7
# What a line that goes on after it is about is decided: editors ask at these at once.
_AT_ONCE = ("(", "[", "{", ".", ":", ",", "=", "\n")


class Skip(StrEnum):
    """Why a moment is hopeless."""

    MID_WORD = "mid-word"
    AFTER_DELETION = "after-deletion"
    AFTER_UNDO = "after-undo"
    MANY_CURSORS = "many-cursors"
    REJECTED_HERE = "rejected-here"
    OTHER_CHOICE = "other-choice"


GOES_ON = {Skip.MID_WORD, Skip.AFTER_DELETION, Skip.REJECTED_HERE}
"""No reason to take away what is typed through right now."""


@dataclass(frozen=True, slots=True)
class Mood:
    """What the user made of the last suggestions, and how the service is: `answer_ms` is what a first text takes,
    `least_wait_ms` what a service under load asks for. `rejected_at` is where the last rejected suggestion stood: its
    document, its line's number and the text left of it."""

    num_rejected: int = 0
    has_accepted: bool = False
    answer_ms: float = 0.0
    least_wait_ms: float = 0.0
    rejected_at: tuple[str, int, str] | None = None


def place_of(cursor: Cursor) -> tuple[str, int, str]:
    """A cursor's place, as `Mood.rejected_at` has it."""
    document = cursor.document
    return document.uri, document.line_at(cursor.offset), cursor.before


def hopeless(cursor: Cursor, keys: Keystrokes, mood: Mood) -> Skip | None:
    """Why not to ask automatically. Who asks by hand is always answered."""
    if _is_word(cursor.before[-1:]) and _is_word(cursor.rest[:1]):
        return Skip.MID_WORD
    if keys.change in _SKIPPED:
        return _SKIPPED[keys.change]
    return Skip.REJECTED_HERE if mood.rejected_at == place_of(cursor) else None


def contradicts(chosen: str, typed: str) -> bool:
    """Whether an item of a pop-up cannot be what is being typed: its letters come in another order, or not at all. No
    editor shows a suggestion over such an item."""
    letters = iter(chosen.casefold())
    return not all(letter in letters for letter in typed.casefold())


def wait_ms(cursor: Cursor, keys: Keystrokes, mood: Mood, trigger: Trigger) -> float:
    """How long to wait for another key before the question is sent."""
    if trigger is Trigger.INVOKED:
        return 0.0
    if _is_at_once(cursor):
        return mood.least_wait_ms
    interval_ms = keys.interval_s * 1000
    share = _LEAST_SHARE + (_MOST_SHARE - _LEAST_SHARE) * min(1.0, mood.answer_ms / interval_ms / 2)
    wait = interval_ms * share * _PER_REJECTION ** min(mood.num_rejected, _MAX_REJECTIONS)
    wait *= _AFTER_ACCEPTANCE if mood.has_accepted else 1.0
    return max(min(max(wait, MIN_WAIT_MS), MAX_WAIT_MS), mood.least_wait_ms)


_SKIPPED = {
    Change.DELETION: Skip.AFTER_DELETION,
    Change.RESTORATION: Skip.AFTER_UNDO,
    Change.EVERYWHERE: Skip.MANY_CURSORS,
}


def _is_at_once(cursor: Cursor) -> bool:
    return cursor.starts_line or cursor.before.endswith(_AT_ONCE)


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
