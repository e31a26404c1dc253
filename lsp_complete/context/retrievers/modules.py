"""Headers of all that the imported files define: what is not yet named, but likely next."""

from collections.abc import Iterable, Iterator
from itertools import islice

from lsp_complete.context.index import Index
from lsp_complete.context.retrievers.headers import MAX_HEADERS, header
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.text.symbols import Definition, SymbolKind

_MAX_MODULES = 8


def modules(question: Question, index: Index) -> list[Snippet]:
    """Headers of the files that this one imports, those used nearest to the cursor first."""
    order = {name: place for place, name in enumerate(question.names)}
    paths: dict[str, int] = {}
    for entry, path in question.imported:
        names = (*entry.names, _last(entry.module))
        paths[path] = min([paths.get(path, len(order)), *(order[name] for name in names if name in order)])
    nearest = sorted(paths, key=lambda path: paths[path])[:_MAX_MODULES]
    return [snippet for path in nearest if (snippet := _of_module(path, index))]


def _of_module(path: str, index: Index) -> Snippet | None:
    lines = [_indented(one) for one in islice(_public(index.definitions_in(path)), MAX_HEADERS)]
    return Snippet(path, "\n".join(lines), "modules", "imported", f"{path}#") if lines else None


def _public(found: Iterable[Definition]) -> Iterator[Definition]:
    """Top level and members of classes, without what is meant to stay inside."""
    for one in found:
        if not one.name.startswith("_") and one.kind is not SymbolKind.VARIABLE and one.parent.count(".") < 1:
            yield one


def _indented(definition: Definition) -> str:
    return "    " * (definition.parent.count(".") + 1 if definition.parent else 0) + header(definition)


def _last(module: str) -> str:
    return module.replace("/", ".").rpartition(".")[2]
