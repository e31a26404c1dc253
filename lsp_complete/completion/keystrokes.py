"""How a document is being typed in: what the last change did, and the user's rhythm. Pure functions of a given time.

LSP tells what changed, not why. What a key did is read off the text before and after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from statistics import median

from lsp_complete.context.edits import Edit, edit_between

# A longer pause is thought, not rhythm.
_MAX_INTERVAL_S = 1.5
# The last words typed: enough for a median that one slip does not move, few enough to follow a change of pace.
_NUM_INTERVALS = 16
# Before a rhythm is known: 60 words a minute, where most programmers type.
_USUAL_INTERVAL_S = 0.2
# Undo goes back a few steps at a time.
_NUM_TEXTS = 32
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
    change = _change(keys, before, after, inserted)
    intervals = keys.intervals_s
    pause_s = now_s - keys.at_s
    if change is Change.INSERTION and keys.change is Change.INSERTION and 0 < pause_s <= _MAX_INTERVAL_S:
        intervals = (*intervals, pause_s)[-_NUM_INTERVALS:]
    texts = (*keys.texts, hash(before))[-_NUM_TEXTS:]
    return replace(keys, change=change, at_s=now_s, intervals_s=intervals, texts=texts)


def typed_up_to(text: str, edit: Edit) -> int:
    """Where an edit that made this text has most likely left the cursor."""
    end = edit.start + edit.length
    return end - 1 if text[max(edit.start, end - 2) : end] in _PAIRS else end


def _change(keys: Keystrokes, before: str, after: str, inserted: Sequence[str]) -> Change:
    if before == after:
        return keys.change
    if _is_everywhere(before, after, inserted):
        return Change.EVERYWHERE
    # One letter that brings back an earlier text was most likely typed again; undo brings back more, or takes away.
    if hash(after) in keys.texts and len(after) != len(before) + 1:
        return Change.DELETION if len(after) < len(before) else Change.RESTORATION
    return Change.DELETION if len(after) < len(before) else Change.INSERTION


def _is_everywhere(before: str, after: str, inserted: Sequence[str]) -> bool:
    """The same at several places; one behind the other they are a key pressed again, as in `==`."""
    is_same = len(inserted) > 1 and bool(inserted[0]) and all(one == other for one, other in pairwise(inserted))
    return is_same and edit_between(before, after).length > sum(map(len, inserted))
