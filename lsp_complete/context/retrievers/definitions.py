"""What the names around the cursor mean: imported ones first, then those found anywhere."""

from lsp_complete.context.index import Index
from lsp_complete.context.queries import FoundDefinition
from lsp_complete.context.retrievers.headers import header, members
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.text.symbols import SymbolKind

# A name that so many files define says nothing about which of them is meant, unless it is imported.
_MAX_SAME_NAME = 4
_MAX_NAMES = 24
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


def _of_definition(found: FoundDefinition, index: Index, reason: str) -> Snippet:
    definition = found.definition
    lines = [header(definition)]
    if definition.kind in _CLASSES:
        lines += members(definition, index.definitions_in(found.path))
    key = f"{found.path}#{definition.parent}.{definition.name}"
    return Snippet(found.path, "\n".join(lines), "definitions", reason, key)


def _shared_folders(one: str, other: str) -> int:
    pairs = zip(one.split("/"), other.split("/"), strict=False)
    return sum(1 for a, b in pairs if a == b)
