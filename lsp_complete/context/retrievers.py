"""Where a cursor's context comes from. Each retriever is a function of a question and an index to ranked snippets.

    definitions ..... what the names around the cursor mean: imported ones first, then those found anywhere
    modules ......... headers of all that the imported files define: what is not yet named, but likely next
    similar ......... lines elsewhere that share rare words with those above the cursor

Headers come without bodies: the model needs to know how a thing is called, not how it is done.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from lsp_complete.context.index import Index
from lsp_complete.context.modules import candidates
from lsp_complete.context.queries import FoundDefinition
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.text.symbols import Definition, Import, SymbolKind

Retriever = Callable[[Question, Index], list[Snippet]]

# A name that so many files define says nothing about which of them is meant, unless it is imported.
_MAX_SAME_NAME = 4
_MAX_NAMES = 24
_MAX_MODULES = 8
# Headers of one file: its public face, not its inventory.
_MAX_HEADERS = 40
_MAX_SIMILAR = 6
# The lines above the cursor that say what is being written.
_NUM_LINES_ABOVE = 10
_CLASSES = {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.ENUM}


def definitions(question: Question, index: Index) -> list[Snippet]:
    """Headers of what the nearest names mean, classes with their members."""
    imported = _imported_paths(question)
    here = {definition.name for definition in question.symbols.definitions}
    found: list[Snippet] = []
    for name in question.names[:_MAX_NAMES]:
        if name in here and name not in imported:
            continue
        for one in _meant(index.definitions(name), question.path, imported.get(name)):
            found.append(_of_definition(one, index, f"defines {name}"))
    return found


def modules(question: Question, index: Index) -> list[Snippet]:
    """Headers of the files that this one imports, those used nearest to the cursor first."""
    order = {name: place for place, name in enumerate(question.names)}
    paths: dict[str, int] = {}
    for entry, path in question.imported:
        names = (*entry.names, _last(entry.module))
        paths[path] = min([paths.get(path, len(order)), *(order[name] for name in names if name in order)])
    nearest = sorted(paths, key=lambda path: paths[path])[:_MAX_MODULES]
    return [snippet for path in nearest if (snippet := _of_module(path, index))]


def similar(question: Question, index: Index) -> list[Snippet]:
    """Chunks of lines that share rare words with the lines above the cursor."""
    chunks = index.search(list(question.names), _MAX_SIMILAR, exclude={question.path})
    return [snippet for chunk in chunks if (snippet := _lines(index, chunk.path, chunk.first_line, chunk.end_line))]


def _meant(found: list[FoundDefinition], path: str, imported: set[str] | None) -> list[FoundDefinition]:
    """Those of the same-named definitions that the file can mean."""
    elsewhere = [one for one in found if one.path != path]
    if imported:
        return [one for one in elsewhere if one.path in imported][:_MAX_SAME_NAME]
    top = [one for one in elsewhere if not one.definition.parent] or elsewhere
    return sorted(top, key=lambda one: -_shared_folders(one.path, path)) if len(top) <= _MAX_SAME_NAME else []


def _imported_paths(question: Question) -> dict[str, set[str]]:
    """Imported name -> files that it may come from."""
    found: dict[str, set[str]] = {}
    for entry, path in question.imported:
        for name in entry.names:
            found.setdefault(name, set()).add(path)
    return found


def resolved(imports: Iterable[Import], path: str, index: Index) -> tuple[tuple[Import, str], ...]:
    """The imports of a file that mean a file of the repository, with its path. One question for all of them."""
    possible = [(entry, [one for one in candidates(entry.module, path) if one != path]) for entry in imports]
    there = index.existing(list({one for _, paths in possible for one in paths}))
    found = ((entry, next((one for one in paths if one in there), "")) for entry, paths in possible)
    return tuple((entry, one) for entry, one in found if one)


def _of_definition(found: FoundDefinition, index: Index, reason: str) -> Snippet:
    definition = found.definition
    lines = [_header(definition)]
    if definition.kind in _CLASSES:
        lines += _members(definition, index.definitions_in(found.path))
    key = f"{found.path}#{definition.parent}.{definition.name}"
    return Snippet(found.path, "\n".join(lines), "definitions", reason, key)


def _of_module(path: str, index: Index) -> Snippet | None:
    lines = [_indented(one) for one in islice(_public(index.definitions_in(path)), _MAX_HEADERS)]
    return Snippet(path, "\n".join(lines), "modules", "imported", f"{path}#") if lines else None


def _public(found: Iterable[Definition]) -> Iterator[Definition]:
    """Top level and members of classes, without what is meant to stay inside."""
    for one in found:
        if not one.name.startswith("_") and one.kind is not SymbolKind.VARIABLE and one.parent.count(".") < 1:
            yield one


def _members(owner: Definition, found: Iterable[Definition]) -> Iterator[str]:
    name = f"{owner.parent}.{owner.name}" if owner.parent else owner.name
    members = (one for one in found if one.parent == name and owner.start <= one.start < owner.end)
    return islice((f"    {_header(one)}" for one in members if not _is_private(one.name)), _MAX_HEADERS)


def _is_private(name: str) -> bool:
    return name.startswith("_") and name != "__init__"


def _indented(definition: Definition) -> str:
    return "    " * (definition.parent.count(".") + 1 if definition.parent else 0) + _header(definition)


def _header(definition: Definition) -> str:
    return f"{definition.signature}  # {definition.doc}" if definition.doc else definition.signature


def _lines(index: Index, path: str, first: int, end: int) -> Snippet | None:
    text = index.read(path)
    if text is None:
        return None
    lines = text.splitlines()[first:end]
    return Snippet(path, "\n".join(lines), "similar", f"lines {first + 1} to {end}", f"{path}#{first}")


def _shared_folders(one: str, other: str) -> int:
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return sum(1 for a, b in pairs if a == b)


def _last(module: str) -> str:
    return module.replace("/", ".").rpartition(".")[2]
