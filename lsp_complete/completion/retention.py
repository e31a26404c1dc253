"""What is left of an accepted text: its place followed through later edits, its share measured from time to time.

The text stays here, in memory and for ten minutes at most; only the share leaves. Pure functions of a given time.
"""

from dataclasses import dataclass, field, replace

from rapidfuzz.distance import Levenshtein

from lsp_complete.context.edits import Edit
from lsp_complete.protocol.events import After, Hex, Retained
from lsp_complete.text.document import Document

# When to look: soon for what was wrong at once, later for what was lived with.
_CHECKS = ((After.S15, 15.0), (After.S30, 30.0), (After.S120, 120.0), (After.S300, 300.0), (After.S600, 600.0))
# An edit of more is not aligned with what it replaced, letter by letter: that takes time by the square (50 ms here).
_MAX_ALIGNED = 10_000


@dataclass(frozen=True, slots=True)
class Kept:
    """`text` was accepted at `at_s` and stands, changed or not, from `start` to `end` of the document."""

    request: Hex
    text: str
    start: int
    end: int
    at_s: float
    checks: tuple[tuple[After, float], ...] = field(default=_CHECKS)
    is_saved: bool = False

    @property
    def is_over(self) -> bool:
        return not self.checks


def edited(kept: Kept, before: str, after: str, edit: Edit) -> Kept:
    """The same text in the document after an edit."""
    if edit.start == edit.end or not edit.length:
        edit = slid(edit, before if edit.end > edit.start else after, kept.start)
    if edit.start >= kept.end:
        return kept
    if edit.end <= kept.start:
        return replace(kept, start=kept.start + edit.gain, end=kept.end + edit.gain)
    new_end = edit.start + edit.length
    place = _place(before[edit.start : edit.end], after[edit.start : new_end], edit.start)
    start = kept.start if kept.start <= edit.start else place.at(kept.start)
    end = kept.end + edit.gain if kept.end >= edit.end else place.at(kept.end)
    return replace(kept, start=start, end=max(start, end))


def slid(edit: Edit, text: str, at: int) -> Edit:
    """An insertion into (or a deletion of) equal letters, of `text` where they all stand, as far to the left as it may
    have been, but not left of `at`."""
    start, num = edit.start, edit.length or edit.end - edit.start
    while start > at and text[start - 1] == text[start + num - 1]:
        start -= 1
    return replace(edit, start=start, end=start + edit.end - edit.start)


def due(kept: Kept, document: Document, now_s: float) -> tuple[Kept, list[Retained]]:
    """What is to be told by now. A check that comes late is told for what it is: the share now."""
    if kept.checks and now_s < kept.at_s + kept.checks[0][1]:
        return kept, []
    told = [after for after, after_s in kept.checks if now_s >= kept.at_s + after_s]
    later = kept.checks[len(told) :]
    return replace(kept, checks=later), [retained(kept, document, after) for after in told]


def saved(kept: Kept, document: Document) -> tuple[Kept, list[Retained]]:
    """The first save is told of; the next ones are much the same."""
    return replace(kept, is_saved=True), [] if kept.is_saved else [retained(kept, document, After.SAVE)]


def retained(kept: Kept, document: Document, after: After) -> Retained:
    return Retained(kept.request, after, round(share(kept, document), 3), len(kept.text))


def share(kept: Kept, document: Document) -> float:
    """One less the share of characters that have to be changed to come from one text to the other."""
    return float(Levenshtein.normalized_similarity(kept.text, document.text[kept.start : kept.end]))


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Where each offset of a replaced text is in what has replaced it. Both begin at `start`."""

    start: int
    blocks: tuple[tuple[int, int, int, int], ...]

    def at(self, offset: int) -> int:
        wanted = offset - self.start
        for first, last, new_first, new_last in self.blocks:
            if wanted <= last:
                return self.start + min(new_first + wanted - first, new_last)
        return self.start + (self.blocks[-1][3] if self.blocks else 0)


def _place(old: str, new: str, start: int) -> _Alignment:
    if max(len(old), len(new)) > _MAX_ALIGNED:
        return _Alignment(start, ((0, len(old), 0, len(new)),))
    codes = Levenshtein.opcodes(old, new)
    return _Alignment(start, tuple((c.src_start, c.src_end, c.dest_start, c.dest_end) for c in codes))
