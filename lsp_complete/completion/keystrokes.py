"""How a document is being typed in: what the last change did, and the user's rhythm. Pure functions of a given time.

LSP tells what changed, not why. What a key did is read off the text before and after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from statistics import median

from lsp_complete.completion.habits import Habits, at_a_stroke, num_keys
from lsp_complete.context.edits import Edit, edit_between

# A longer pause is thought, not rhythm.
_MAX_INTERVAL_S = 1.5
# The last words typed: enough for a median that one slip does not move, few enough to follow a change of pace.
_NUM_INTERVALS = 16
# Before a rhythm is known: 60 words a minute, where most programmers type.
_USUAL_INTERVAL_S = 0.2
# Undo goes back a few steps at a time.
_NUM_TEXTS = 32
# Undo is pressed several times in a row faster than anybody types behind it.
_AGAIN_S = 0.25
# What editors close by themselves, the cursor between the two.
_PAIRS = ("()", "[]", "{}", '""', "''", "``")


class Change(StrEnum):
    """What the last change of a document was, by its net effect."""

    NONE = "none"
    INSERTION = "insertion"
    DELETION = "deletion"
    RESTORATION = "restoration"
    EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True)
class Keystrokes:
    """`texts` are hashes of what the document was, the latest last; `intervals_s` lie between insertions."""

    change: Change = Change.NONE
    at_s: float = 0.0
    intervals_s: tuple[float, ...] = ()
    texts: tuple[int, ...] = ()

    @property
    def interval_s(self) -> float:
        """How long the user takes from key to key while typing."""
        return median(self.intervals_s) if self.intervals_s else _USUAL_INTERVAL_S


def pressed(keys: Keystrokes, before: str, after: str, now_s: float, inserted: Sequence[str] = ()) -> Keystrokes:
    """`before` has become `after`; `inserted` are the texts of the changes that the editor sent for it."""
    pause_s = now_s - keys.at_s
    change = _change(keys, before, after, inserted, pause_s)
    intervals = keys.intervals_s
    if change is Change.INSERTION and keys.change is Change.INSERTION and 0 < pause_s <= _MAX_INTERVAL_S:
        intervals = (*intervals, pause_s)[-_NUM_INTERVALS:]
    texts = (*keys.texts, hash(before))[-_NUM_TEXTS:]
    return replace(keys, change=change, at_s=now_s, intervals_s=intervals, texts=texts)


def typed_up_to(text: str, edit: Edit) -> int:
    """Where an edit that made this text has most likely left the cursor."""
    end = edit.start + edit.length
    return end - 1 if text[max(edit.start, end - 2) : end] in _PAIRS else end


def _change(keys: Keystrokes, before: str, after: str, inserted: Sequence[str], pause_s: float) -> Change:
    if before == after:
        return keys.change
    if _is_everywhere(before, after, inserted):
        return Change.EVERYWHERE
    if hash(after) in keys.texts and _is_undo(keys, before, after, inserted, pause_s):
        return Change.RESTORATION
    return Change.DELETION if len(after) < len(before) else Change.INSERTION


def _is_undo(keys: Keystrokes, before: str, after: str, inserted: Sequence[str], pause_s: float) -> bool:
    """Whether an earlier text came back by undo or redo, of more than a key, in one piece. What is typed again, or
    deleted, comes key by key; and to delete all of the last change and no more is as good as undo."""
    if keys.change is Change.RESTORATION and pause_s <= _AGAIN_S:
        return True
    edit, is_shorter = edit_between(before, after), len(after) < len(before)
    if is_shorter and keys.texts[-1] != hash(after):
        return False
    piece = before[edit.start : edit.end] if is_shorter else after[edit.start : edit.start + edit.length]
    return at_a_stroke(Habits(), num_keys(inserted or (piece,)), pause_s)


def _is_everywhere(before: str, after: str, inserted: Sequence[str]) -> bool:
    """The same at several places; one behind the other they are a key pressed again, as in `==`."""
    is_same = len(inserted) > 1 and bool(inserted[0]) and all(one == other for one, other in pairwise(inserted))
    return is_same and edit_between(before, after).length > sum(map(len, inserted))
