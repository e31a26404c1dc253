"""What a name of a file means in the repository: through its imports, through barrels, else wherever it is defined.

Answers with definitions and their paths, by names and places of files alone: nothing is run and no type is inferred.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from lsp_complete.context.imports import bindings
from lsp_complete.context.index import Index
from lsp_complete.context.queries import FoundDefinition
from lsp_complete.context.scope import CLASSES, SELF, owners_at, result_words, types_of
from lsp_complete.context.snippets import Question
from lsp_complete.text.symbols import Definition, SymbolKind

# A name that more files define says nothing about which of them is meant, unless it is imported.
_MAX_SAME_NAME = 4
# Classes that are looked at for what one class inherits.
_MAX_BASES = 6
_CALLABLE = {SymbolKind.FUNCTION, SymbolKind.METHOD}
_SEPARATOR = re.compile(r"[.:]+")


@dataclass(frozen=True, slots=True)
class Target:
    """What stands before a dot: a class, or a whole module where there is no `owner`."""

    path: str
    owner: Definition | None = None


class Lookup:
    """For one question."""

    def __init__(self, question: Question, index: Index) -> None:
        self._question = question
        self._index = index
        self._text = question.document.text

    @cached_property
    def bound(self) -> dict[str, tuple[str, str]]:
        return bindings(self._text, self._question.imported)

    @cached_property
    def own(self) -> set[str]:
        return {one.name for one in self._question.symbols.definitions if not one.parent}

    def named(self, name: str) -> list[FoundDefinition]:
        """The definitions that a name of the file means, the likeliest first."""
        path, original = self.bound.get(name, ("", name))
        if path and not original:
            return []
        if not path and name in self.own:
            return []
        if path and (found := self._index.outline(path).named(original)):
            return found
        elsewhere = [one for one in self._top(original) if one.path != self._question.path]
        if path:
            return _nearest(elsewhere, path)[:1]
        return _nearest(elsewhere, self._question.path) if len({o.path for o in elsewhere}) <= _MAX_SAME_NAME else []

    def targets(self, receiver: str) -> list[Target]:
        """What may stand before a dot, the likeliest first."""
        first, *rest = _SEPARATOR.split(receiver)
        if first in SELF:
            return self._member(rest[-1]) if rest else self._inherited(owners_at(self._question)[:1])
        path, original = self.bound.get(first, ("", ""))
        if path and not original:
            return self._in_module(path, rest)
        if classes := self._classes(first):
            return classes
        return self._member(rest[-1] if rest else first)

    def members(self, target: Target) -> list[FoundDefinition]:
        """Of a class and its bases, its own first; of a module what it has at top level."""
        if target.owner is None:
            return self._index.outline(target.path).top
        return [one for path, owner in self._line(target.path, target.owner) for one in self._of_class(path, owner)]

    def _in_module(self, path: str, rest: list[str]) -> list[Target]:
        if not rest:
            return [Target(path)]
        found = self._index.outline(path).named(rest[-1]) or _nearest(self._top(rest[-1]), path)[:1]
        return [Target(one.path, one.definition) for one in found[:1] if one.definition.kind in CLASSES]

    def _member(self, name: str) -> list[Target]:
        """A variable's or field's: by its annotation, by what is assigned to it, by its name."""
        words = types_of(name, self._text, self._question.offset)
        found = [target for word in words for target in self._classes(word) or self._results(word)]
        return _unique(found) or self._classes("".join(part[:1].upper() + part[1:] for part in name.split("_")))

    def _results(self, word: str) -> list[Target]:
        called = [one for one in self.named(word) if one.definition.kind in _CALLABLE][:1]
        words = [word for one in called for word in result_words(one.definition.signature)]
        return [target for word in words for target in self._classes(word)]

    def _classes(self, name: str) -> list[Target]:
        found = (one for one in self.named(name) if one.definition.kind in CLASSES)
        return [Target(one.path, one.definition) for one in found][:2]

    def _inherited(self, owners: list[Definition]) -> list[Target]:
        return _unique(target for owner in owners for base in owner.bases for target in self._classes(_last(base)))

    def _line(self, path: str, owner: Definition) -> Iterator[tuple[str, Definition]]:
        """A class and its bases, the nearest first."""
        waiting, seen = [(path, owner)], set[tuple[str, int]]()
        while waiting and len(seen) < _MAX_BASES:
            path, owner = waiting.pop(0)
            if (path, owner.start) in seen:
                continue
            seen.add((path, owner.start))
            yield path, owner
            waiting += [one for base in owner.bases if (one := self._base(_last(base), path))]

    def _base(self, name: str, path: str) -> tuple[str, Definition] | None:
        found = self._index.outline(path).named(name) or _nearest(self._top(name), path)
        best = [one for one in found if one.definition.kind in CLASSES]
        return (best[0].path, best[0].definition) if best else None

    def _of_class(self, path: str, owner: Definition) -> list[FoundDefinition]:
        name = f"{owner.parent}.{owner.name}" if owner.parent else owner.name
        found = self._index.outline(path).by_parent.get(name, ())
        return [one for one in found if owner.start <= one.definition.start < owner.end]

    def _top(self, name: str) -> list[FoundDefinition]:
        """Definitions at the top level of any file."""
        return [one for one in self._index.definitions(name) if not one.definition.parent]


def _nearest(found: Iterable[FoundDefinition], path: str) -> list[FoundDefinition]:
    return sorted(found, key=lambda one: -_shared_folders(one.path, path))


def _shared_folders(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one.split("/")[:-1], other.split("/")[:-1], strict=False):
        if a != b:
            break
        count += 1
    return count


def _last(name: str) -> str:
    return _SEPARATOR.split(name)[-1]


def _unique(targets: Iterable[Target]) -> list[Target]:
    return list(dict.fromkeys(targets))
