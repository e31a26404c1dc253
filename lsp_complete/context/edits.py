"""What the user has just changed: places of recent edits, kept in step with the texts. Pure; knows no file and no disk.

Edits within a few lines of each other are one place, which remembers what it replaced: one that reads as before, after
an undo, is none any more. Texts are those that the editor has, saved or not.
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

# Edits with fewer line ends between them belong together: a signature and the first use of its new parameter.
MERGE_LINES = 4
# Some forty lines. A person changes less at a time; more is a formatter, a paste or another branch.
MAX_CHARACTERS = 2_000
# The last thing that somebody did explains the next; what was many changes ago rarely does.
MAX_PLACES = 20
# After a longer break it is another task.
MAX_AGE_S = 1800.0
# A hunk shows what stands around it, to say where it belongs.
AROUND_LINES = 2
# Changes of file that are remembered: an hour of work. Fewer than so many side by side may be chance.
_MAX_SWITCHES = 200
_MIN_TOGETHER = 2
# Texts are compared in large blocks, then in small ones, then by letter: a hundredth of a millisecond in all.
_STEPS = (4096, 64, 1)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Whole lines of a file: those that were changed, with a few around. `changed` is the new text alone; `number` is
    that of the place."""

    path: str
    text: str
    changed: str
    number: int


@dataclass(frozen=True, slots=True)
class Place:
    """`start` and `end` are offsets in the text as it is now; `before` is what stood there. `number` stays the same
    while the place grows."""

    start: int
    end: int
    before: str
    at_s: float
    number: int


@dataclass(frozen=True, slots=True)
class Edit:
    """`start` up to `end` of a text gave way to `length` new characters."""

    start: int
    end: int
    length: int

    @property
    def gain(self) -> int:
        return self.length - (self.end - self.start)


@dataclass(slots=True)
class _File:
    text: str
    places: list[Place] = field(default_factory=list)


class EditHistory:
    """Has to hear of every change of a text once it has heard of one; where it did not, it forgets the file."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._switches: deque[str] = deque(maxlen=_MAX_SWITCHES)
        self._num_edits = 0

    def changed(self, file: str, before: str, after: str, now_s: float) -> None:
        """A file's text was one and is the other."""
        edit = edit_between(before, after)
        if edit.start == edit.end and not edit.length:
            return
        known = self._files.pop(file, None)
        places = known.places if known and known.text == before else []
        self._num_edits += 1
        self._files[file] = _File(after, edited(places, before, after, edit, now_s, self._num_edits))
        self._trim(now_s)
        if not self._switches or self._switches[-1] != file:
            self._switches.append(file)

    def hunks(self, now_s: float) -> list[Hunk]:
        """The latest first, without mere deletions."""
        found = [(place, file) for file, known in self._files.items() for place in known.places]
        recent = [(place, file) for place, file in found if now_s - place.at_s <= MAX_AGE_S]
        recent.sort(key=lambda one: -one[0].at_s)
        hunks = (_hunk(file, self._files[file].text, place) for place, file in recent)
        return [hunk for hunk in hunks if hunk.changed.strip()]

    def together(self, file: str) -> list[str]:
        """Files that were changed right before or after this one, more than once, the most often first."""
        beside: Counter[str] = Counter()
        for pair in pairwise(self._switches):
            if file in pair:
                beside.update(other for other in pair if other != file)
        return [other for other, count in beside.most_common() if count >= _MIN_TOGETHER]

    def renamed(self, old: str, new: str) -> None:
        """A file, or a folder with all in it, has another path."""
        names = {file: new + file[len(old) :] for file in {*self._files, *self._switches} if is_in(file, old)}
        self._files = {names.get(file, file): known for file, known in self._files.items()}
        self._switches = deque((names.get(file, file) for file in self._switches), _MAX_SWITCHES)

    def forget(self, path: str) -> None:
        """A file, or a folder with all in it, is gone."""
        self._files = {file: known for file, known in self._files.items() if not is_in(file, path)}
        self._switches = deque((file for file in self._switches if not is_in(file, path)), _MAX_SWITCHES)

    def _trim(self, now_s: float) -> None:
        ages = sorted(now_s - place.at_s for known in self._files.values() for place in known.places)
        oldest_s = min([MAX_AGE_S, *ages[MAX_PLACES - 1 : MAX_PLACES]])
        for known in self._files.values():
            known.places = [place for place in known.places if now_s - place.at_s <= oldest_s]
        self._files = {file: known for file, known in self._files.items() if known.places}


def is_in(file: str, path: str) -> bool:
    """Whether a path is a file or a folder that holds it."""
    return file.startswith(path) and file[len(path) : len(path) + 1] in ("", "/", "\\")


def edited(places: Iterable[Place], before: str, after: str, edit: Edit, now_s: float, number: int) -> list[Place]:
    """The places of a text after an edit of it, whose place has the number if it is a new one."""
    near: list[Place] = []
    others: list[Place] = []
    for place in places:
        (near if _is_near(place, before, edit) else others).append(place)
    moved = [_moved(place, edit.gain) if place.start >= edit.end else place for place in others]
    alone = Place(edit.start, edit.start + edit.length, before[edit.start : edit.end], now_s, number)
    merged = _merged(near, before, edit, now_s, number)
    new = next((one for one in (merged, alone) if _size(one) <= MAX_CHARACTERS), None)
    is_news = new is not None and after[new.start : new.end] != new.before
    return [*moved, new] if new is not None and is_news else moved


def edit_between(before: str, after: str) -> Edit:
    """The smallest edit that makes one text of the other, where it is one edit."""
    num_shorter = min(len(before), len(after))
    start = _num_common(before, after, num_shorter)
    same_end = _num_common_at_end(before, after, num_shorter - start)
    return Edit(start, len(before) - same_end, len(after) - same_end - start)


def _is_near(place: Place, text: str, edit: Edit) -> bool:
    first, second = (place.end, edit.start) if place.start < edit.start else (edit.end, place.start)
    return text.count("\n", first, second) < MERGE_LINES


def _merged(near: Iterable[Place], before: str, edit: Edit, now_s: float, number: int) -> Place:
    """One place for the edit and those near it, whose `before` is put together from theirs and what stood between."""
    ordered = sorted(near, key=lambda place: place.start)
    start = min([edit.start, *(place.start for place in ordered)])
    end = max([edit.end, *(place.end for place in ordered)])
    parts, at = [], start
    for place in ordered:
        parts += [before[at : place.start], place.before]
        at = place.end
    oldest = min([number, *(place.number for place in ordered)])
    return Place(start, end + edit.gain, "".join([*parts, before[at:end]]), now_s, oldest)


def _moved(place: Place, by: int) -> Place:
    return replace(place, start=place.start + by, end=place.end + by)


def _size(place: Place) -> int:
    return max(place.end - place.start, len(place.before))


def _hunk(file: str, text: str, place: Place) -> Hunk:
    start = text.rfind("\n", 0, place.start) + 1
    end = _end_of_line(text, place.end)
    for _ in range(AROUND_LINES):
        start = text.rfind("\n", 0, max(0, start - 1)) + 1
        end = _end_of_line(text, end + 1)
    return Hunk(file, text[start:end], text[place.start : place.end], place.number)


def _end_of_line(text: str, at: int) -> int:
    found = text.find("\n", at)
    return found if found >= 0 else len(text)


def _num_common(one: str, other: str, at_most: int) -> int:
    """How many characters are the same at the start."""
    num = 0
    for step in _STEPS:
        while num + step <= at_most and one[num : num + step] == other[num : num + step]:
            num += step
    return num


def _num_common_at_end(one: str, other: str, at_most: int) -> int:
    num = 0
    for step in _STEPS:
        while num + step <= at_most and _before_end(one, num, step) == _before_end(other, num, step):
            num += step
    return num


def _before_end(text: str, num: int, length: int) -> str:
    end = len(text) - num
    return text[end - length : end]
