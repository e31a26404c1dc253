"""Holes to measure retrieval on: ends of lines whose hidden text names a symbol that another file defines.

Chosen by seed, spread over the files, and guarded: a name that the language itself has, that is short, or that many
files define says nothing for certain about which definition is meant, and does not count. Nor does one that the file
itself defines, or uses with arguments: there is nothing to find. Knows no retriever, and resolves no import: what is
measured must not choose what it is measured on.
"""

import builtins
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lsp_complete.context.index import Index
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.symbols import Definition, Import, SymbolKind, Symbols, identifiers, symbols

# Shorter names are common words and loop variables.
_MIN_NAME = 4
# With more definers than this nobody can say which one is meant.
_MAX_FILES = 3
# Of one file at most so many of each kind in the first round, so that a hundred come from at least thirty files.
_PER_FILE = 3
# Tried in one file for each hole wanted of it: most names are local or known.
_TRIES = 40
# Of a field's or a variable's header so much behind the name must stand there: its name alone is any use of it.
_BEHIND_NAME = 8
_HAS_ARGUMENTS = {SymbolKind.FUNCTION, SymbolKind.METHOD, SymbolKind.MACRO}
_HAS_NAME_ONLY = {SymbolKind.CONSTANT, SymbolKind.VARIABLE, SymbolKind.FIELD}
_TOKEN = re.compile(r"\w+|[^\w\s]")
_TYPES = (str, bytes, list, dict, set, tuple, int, float, object, type, Exception, BaseException, property)
# Members of what JavaScript itself has; a file may define one of these, and hardly ever means it.
_JAVASCRIPT = """
    length concat every filter find findIndex flat flatMap forEach from includes indexOf join keys slice some
    sort splice reduce reverse push unshift shift fill values entries charCodeAt charAt match matchAll padEnd
    padStart repeat replace replaceAll search split startsWith endsWith substring substr toLowerCase
    toUpperCase trim assign create freeze then catch finally resolve reject race apply call bind toString
    valueOf constructor prototype hasOwnProperty name message stack delete clear size parse stringify toFixed
    round floor random next return throw done value index error Array Object String Number Boolean Function
    Promise Symbol Error TypeError RangeError Date RegExp Record Partial Required Readonly Pick Omit Exclude
    Extract ReturnType Parameters console setTimeout clearTimeout setInterval Uint8Array BigInt Math JSON
    Iterator Iterable AsyncIterable AsyncIterator Event EventTarget Request Response Headers Buffer buffer
    process
"""
_KNOWN = {*dir(builtins), *(name for type_ in _TYPES for name in dir(type_)), *_JAVASCRIPT.split()}


class Kind(StrEnum):
    """The name stands in an import of the visible file, or nowhere in it."""

    IMPORTED = "imported"
    UNSEEN = "unseen"


@dataclass(frozen=True, slots=True)
class Hole:
    """`document` is the file without the hidden text, which stood at `offset`. `definitions` are those of the name."""

    document: Document
    offset: int
    hidden: str
    name: str
    kind: Kind
    definitions: tuple[Definition, ...]

    def is_told_by(self, text: str) -> bool:
        """Whether a header of the name, or a use of it with arguments, stands in a text."""
        if self.name not in text:
            return False
        folded = _folded(text)
        return _is_called(self.name, text) or any(re.search(header, folded) for header in _headers(self))


def find_holes(index: Index, paths: list[str], num: int, seed: int) -> list[Hole]:
    """As many as there are, up to `num` of each kind, the same for the same tree."""
    rng = random.Random(seed)
    found: dict[Kind, list[Hole]] = {kind: [] for kind in Kind}
    spare: dict[Kind, list[Hole]] = {kind: [] for kind in Kind}
    tops = {path.split("/")[0] for path in paths}
    for path in rng.sample(sorted(paths), len(paths)):
        if all(len(holes) >= num for holes in found.values()):
            break
        for hole in _in_file(index, path, tops, rng):
            of_file = sum(1 for one in found[hole.kind] if one.document.path == path)
            (found if of_file < _PER_FILE else spare)[hole.kind].append(hole)
    return [hole for kind in Kind for hole in (found[kind] + spare[kind])[:num]]


def _in_file(index: Index, path: str, tops: set[str], rng: random.Random) -> Iterator[Hole]:
    text = index.read(path) or ""
    parsed = symbols(text, language_of(path))
    document = Document(path, text, path)
    imported = {name for entry in parsed.imports if _is_own(entry, tops) for name in entry.names}
    seen: set[str] = set()
    num_tries = min(len(parsed.references), _TRIES * _PER_FILE)
    for reference in rng.sample(parsed.references, num_tries):
        definitions = _meant(index, reference.name, parsed, path)
        border = _border(document, reference.start, rng)
        if definitions and border and reference.name not in seen:
            hole = _hole(document, border, reference.name, definitions, imported)
            if hole is not None:
                seen.add(reference.name)
                yield hole


def _is_own(entry: Import, tops: set[str]) -> bool:
    """Whether an import is one of the tree, by its shape."""
    return entry.module.startswith(".") or entry.module.split(".")[0] in tops


def _meant(index: Index, name: str, parsed: Symbols, path: str) -> tuple[Definition, ...]:
    """The definitions of a name in other files; none where it does not count."""
    if len(name) < _MIN_NAME or name in _KNOWN or any(one.name == name for one in parsed.definitions):
        return ()
    found = [one for one in index.definitions(name) if one.definition.kind is not SymbolKind.MODULE]
    paths = {one.path for one in found}
    return tuple(one.definition for one in found) if path not in paths and 0 < len(paths) <= _MAX_FILES else ()


def _border(document: Document, start: int, rng: random.Random) -> int:
    """Where a token of the line begins, not the first and none behind `start`; 0 where there is none."""
    line_start = document.line_span(document.line_at(start))[0]
    tokens = [match.start() for match in _TOKEN.finditer(document.text, line_start, start + 1)][1:]
    return rng.choice(tokens) if tokens else 0


def _hole(
    document: Document, border: int, name: str, definitions: tuple[Definition, ...], imported: set[str]
) -> Hole | None:
    end = document.line_span(document.line_at(border))[1]
    text = document.text[:border] + document.text[end:]
    is_seen = name in identifiers(text)
    if is_seen and name not in imported:
        return None
    kind = Kind.IMPORTED if is_seen else Kind.UNSEEN
    visible = Document(document.uri, text, document.path)
    hole = Hole(visible, border, document.text[border:end], name, kind, definitions)
    return None if hole.is_told_by(text) else hole


def _is_called(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\s*(?:<[^<>()]*>)?\(", text) is not None


def _headers(hole: Hole) -> Iterator[str]:
    """A pattern for each definition: as much of its signature as tells it from a use, and from a longer name."""
    for definition in hole.definitions:
        match = re.search(rf"(?<!\w){re.escape(hole.name)}(?!\w)", definition.signature)
        behind = _BEHIND_NAME if definition.kind in _HAS_NAME_ONLY else 0
        header = definition.signature[: match.end() + behind] if match else definition.signature
        yield re.escape(header) + (r"(?!\w)" if match and not behind else "")


def _folded(text: str) -> str:
    """White space as signatures have it."""
    return " ".join(text.split()).replace("( ", "(").replace(", )", ")").replace(" )", ")")
