"""What was made of files lately: outlines, and lines with their words. A thing is made again when its file has changed.

Every keystroke asks much the same; without this it would read the same rows and files again. Knows neither database nor
disk: whoever asks says by a stamp which state of the file is meant.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lsp_complete.context.queries import FoundDefinition
from lsp_complete.text.document import normalize_eol
from lsp_complete.text.symbols import identifiers

# Some 20 MB: an outline has a few hundred definitions, a chunk sixty lines.
_MAX_REMEMBERED = 1024
_Thing = TypeVar("_Thing")


class Outline:
    """The definitions of a file, in the order of the text and by what they belong to."""

    def __init__(self, found: Sequence[FoundDefinition]) -> None:
        self.top = [one for one in found if not one.definition.parent]
        self.by_parent: dict[str, list[FoundDefinition]] = {}
        for one in found:
            self.by_parent.setdefault(one.definition.parent, []).append(one)

    def named(self, name: str) -> list[FoundDefinition]:
        """At top level."""
        return [one for one in self.top if one.definition.name == name]


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a file from `first` on (from 0). `places` has the numbers of those that hold a word."""

    path: str
    first: int
    lines: tuple[str, ...]
    places: dict[str, list[int]]


def lines_of(path: str, text: str, first: int, end: int) -> Lines:
    lines = tuple(normalize_eol(text).split("\n")[first:end])
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        for word in set(identifiers(line)):
            places.setdefault(word, []).append(number)
    return Lines(path, first, lines, places)


class Remembered:
    """For any number of threads."""

    def __init__(self) -> None:
        self._things: OrderedDict[Hashable, tuple[object, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, stamp: object, make: Callable[[], _Thing]) -> _Thing:
        """What was made for the key while the stamp was this one, else what is made now."""
        with self._lock:
            known, thing = self._things.get(key, (None, None))
            if known is not None and (known is stamp or known == stamp):
                self._things.move_to_end(key)
                return thing  # type: ignore[no-any-return]
        made = make()
        with self._lock:
            self._things[key] = stamp, made
            if len(self._things) > _MAX_REMEMBERED:
                self._things.popitem(last=False)
        return made
