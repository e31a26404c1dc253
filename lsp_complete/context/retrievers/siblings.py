"""Files that belong to this one by their path: its test, what it tests, its header or source, its template, and files
that were changed in turns with it. By the shape of paths, for all languages."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from lsp_complete.context.affinity import ranked, words_near
from lsp_complete.context.index import Index
from lsp_complete.context.retrievers.headers import snippets_of
from lsp_complete.context.snippets import Question, Snippet

_MAX_SIBLINGS = 3
_MAX_HEADERS = 12
# A test is shown by the lines that use the most names at hand: a call with its arguments and what is expected.
_WINDOW_LINES = 10
_MAX_LINES = 2000
_TESTS = ("tests", "test", "spec", "__tests__")
_SOURCES = ("src", "lib", "app", "main", "source", "include")
# How a test is named after what it tests: in lower case with separators, or in capitals.
_SMALL = ("test_{}", "{}_test", "{}_spec", "{}.test", "{}.spec")
_CAPITAL = ("{}Test", "{}Tests", "{}Spec", "Test{}", "{}.test", "{}.spec")
_IS_TEST = re.compile(r"test[_-](.+)|(.+?)[._-](?:tests?|spec)|Test([A-Z].*)|(.+?)(?:Tests?|Spec)")


def siblings(question: Question, index: Index) -> list[Snippet]:
    """What this file tests by its headers, all others by the lines that have to do with those around the cursor."""
    if not question.path:
        return []
    tested = _tested(question, index)
    others = [*_named_alike(question.path, index), *_tests(question.path, index), *question.together]
    found = dict.fromkeys(path for path in (*tested, *others) if path != question.path)
    snippets: list[Snippet] = []
    for path in list(found)[:_MAX_SIBLINGS]:
        snippets += _headers(path, question, index) if path in tested else _lines(path, question, index)
    return snippets


def _tested(question: Question, index: Index) -> list[str]:
    """What a test is for: it imports it, or has its path."""
    path = PurePosixPath(question.path)
    stem = name_of_tested(path.stem)
    if not stem:
        return []
    imported = [found for _, found in question.imported if PurePosixPath(found).stem == stem]
    return imported or _existing(paths_of_tested(question.path), index)


def _tests(path: str, index: Index) -> list[str]:
    return [] if name_of_tested(PurePosixPath(path).stem) else _existing(paths_of_tests(path), index)


def _named_alike(path: str, index: Index) -> list[str]:
    """Beside it, with the same name up to the first dot: header and source, template, style and test of a component."""
    folder, _, name = path.rpartition("/")
    start = f"{folder}/" if folder else ""
    beside = index.starting_with(f"{start}{name.partition('.')[0]}.")
    there = _existing(tuple(swapped(path)), index) if not beside[1:] else []
    return sorted([*beside, *there], key=lambda other: -_num_shared(other, path))


def _existing(paths: tuple[str, ...], index: Index) -> list[str]:
    found = index.existing(paths)
    return [path for path in paths if path in found]


def name_of_tested(stem: str) -> str:
    """The name of what a test is for; "" where a name is none of a test."""
    match = _IS_TEST.fullmatch(stem)
    return next(filter(None, match.groups()), "") if match else ""


@lru_cache(maxsize=256)
def paths_of_tests(path: str) -> tuple[str, ...]:
    """Where the test of a file may lie, the likeliest first."""
    file = PurePosixPath(path)
    shapes = _CAPITAL if file.stem[:1].isupper() else _SMALL
    names = [shape.format(file.stem) + file.suffix for shape in shapes]
    return tuple(_joined(folder, name) for folder in _test_folders(file.parts[:-1]) for name in names)


@lru_cache(maxsize=256)
def paths_of_tested(path: str) -> tuple[str, ...]:
    """Where that may lie which a test is for, the likeliest first."""
    file = PurePosixPath(path)
    name = name_of_tested(file.stem) + file.suffix
    return tuple(_joined(folder, name) for folder in _source_folders(file.parts[:-1]))


def swapped(path: str) -> Iterator[str]:
    """A header's source and a source's header where they lie in folders of their own."""
    file = PurePosixPath(path)
    for one, other in (("include", "src"), ("src", "include")):
        if one in file.parts:
            for ending in (".h", ".hpp", ".hh", ".c", ".cc", ".cpp", ".cxx", ".m"):
                yield "/".join(other if part == one else part for part in file.with_suffix(ending).parts)


def _test_folders(parts: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    """Beside the file, below its folder, and in a tree of tests that looks like that of the sources."""
    folders = [parts]
    for place in range(len(parts), -1, -1):
        for tests in _TESTS:
            folders.append((*parts[:place], tests, *parts[place:]))
            if place < len(parts):  # in place of `src`, or of the package's own folder
                folders.append((*parts[:place], tests, *parts[place + 1 :]))
    folders += [(tests, *parts[place:]) for place in range(2, len(parts) + 1) for tests in _TESTS]
    return dict.fromkeys(folders)


def _source_folders(parts: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    folders = [parts]
    for place in (place for place, part in enumerate(parts) if part in _TESTS):
        folders.append((*parts[:place], *parts[place + 1 :]))
        folders += [(*parts[:place], source, *parts[place + 1 :]) for source in _SOURCES]
    return dict.fromkeys(folders)


def _joined(folder: tuple[str, ...], name: str) -> str:
    return "/".join((*folder, name))


def _num_shared(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _headers(path: str, question: Question, index: Index) -> list[Snippet]:
    near = words_near(question.document.text, question.offset)
    public = [one for one in index.outline(path).top if not one.definition.name.startswith("_")]
    return snippets_of(ranked(public, lambda one: one.definition.name, near)[:_MAX_HEADERS], "siblings", "tested here")


def _lines(path: str, question: Question, index: Index) -> list[Snippet]:
    place, names = index.lines(path, 0, _MAX_LINES), frozenset(question.names)
    hits = [0] * len(place.lines)
    for name in names:
        for line in place.places.get(name, ()):
            hits[line] += 1
    sums = [sum(hits[first : first + _WINDOW_LINES]) for first in range(len(hits))]
    if not any(sums):
        return []
    first = sums.index(max(sums))
    text = "\n".join(place.lines[first : first + _WINDOW_LINES])
    return [Snippet(path, text, "siblings", "belongs to this file", f"{path}#{first}")]
