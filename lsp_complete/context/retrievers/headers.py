"""Definitions as snippets show them: headers without bodies, doc lines as comments, those of one file together."""

from collections.abc import Iterable, Sequence

from lsp_complete.context.queries import FoundDefinition
from lsp_complete.context.snippets import Snippet
from lsp_complete.text.languages import language_of
from lsp_complete.text.symbols import Definition

# A snippet is packed whole or not at all: a few headers fit where many do not, and each file's name costs tokens.
_PER_SNIPPET = 6
# Enough for the names of all parameters; long types say less than another header would.
_MAX_HEADER = 120


def header(definition: Definition, path: str, documented: str = "") -> str:
    line = definition.signature[:_MAX_HEADER]
    if not definition.doc or definition.name != documented:
        return line
    return f"{line}  {language_of(path).line_comment or '#'} {definition.doc}"


def snippets_of(found: Sequence[FoundDefinition], source: str, reason: str, documented: str = "") -> list[Snippet]:
    """Headers in the order of their rank, a few at a time; those of one file and one class stand together. The one
    of the `documented` name has its doc line."""
    seen: set[tuple[str, str, str]] = set()
    fresh: list[FoundDefinition] = []
    for one in found:
        key = one.path, one.definition.parent, one.definition.name
        if key not in seen:
            seen.add(key)
            fresh.append(one)
    return [
        snippet
        for start in range(0, len(fresh), _PER_SNIPPET)
        for snippet in _by_file(fresh[start : start + _PER_SNIPPET], source, reason, documented)
    ]


def _by_file(found: Iterable[FoundDefinition], source: str, reason: str, documented: str) -> list[Snippet]:
    files: dict[str, dict[str, list[Definition]]] = {}
    for one in found:
        files.setdefault(one.path, {}).setdefault(one.definition.parent, []).append(one.definition)
    return [_snippet(path, parents, source, reason, documented) for path, parents in files.items()]


def _snippet(path: str, parents: dict[str, list[Definition]], source: str, reason: str, documented: str) -> Snippet:
    lines: list[str] = []
    for parent, definitions in parents.items():
        lines += [f"{parent}:"] if parent else []
        lines += [("    " if parent else "") + header(one, path, documented) for one in definitions]
    first = next(iter(parents.values()))[0]
    return Snippet(path, "\n".join(lines), source, reason, f"{source}:{path}#{first.parent}.{first.name}")
