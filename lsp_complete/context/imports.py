"""Which file of the repository an import means. By the shape of its path alone: no interpreter, no build file."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from lsp_complete.context.index import Index
from lsp_complete.text.symbols import Import

# Extensions of files that can import each other, and what stands for a folder among them.
_GROUPS = (
    ((".py", ".pyi"), ("__init__.py",)),
    ((".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs"), ("index.ts", "index.tsx", "index.js")),
    ((".rs",), ("mod.rs",)),
    ((".java", ".kt", ".scala"), ()),
)
_ENDINGS = tuple(extension for extensions, _ in _GROUPS for extension in extensions)
_FOLDER_NAMES = {name for _, names in _GROUPS for name in names}
# What compiled modules are called in imports, and what their sources may be called.
_COMPILED = (".js", ".jsx", ".mjs", ".cjs")
# A statement of import, over several lines where it has brackets; and its `name as alias`.
_STATEMENT = re.compile(r"[^\n({]*(?:[({][^)}]*[)}])?[^\n]*")
# Longer ones are cut; one that does not end must not be looked for to the end of the file.
_MAX_STATEMENT = 4000
_ALIAS = re.compile(r"([\w.$*]+)\s+as\s+([\w$]+)")
_WORD = re.compile(r"[^\W\d][\w$]*")
# Folders that hold sources without being a part of a module's name.
_SOURCE_FOLDERS = ("", "src", "lib", "python")


def resolved(imports: Iterable[Import], path: str, index: Index) -> tuple[tuple[Import, str], ...]:
    """The imports of a file that mean a file of the repository, with its path. A name that is itself a module comes
    once more, as an import of that module. Two questions to the index for all of them."""
    entries = list(imports)
    found = _found(entries, path, index)
    files = {entry for entry, one in found if posixpath.basename(one) not in _FOLDER_NAMES}
    inner = [
        Import(_joined(entry.module, name), (), entry.start)
        for entry in entries
        if entry not in files and not entry.module.endswith(_ENDINGS)
        for name in entry.names
    ]
    return (*found, *_found(inner, path, index))


def _found(entries: Iterable[Import], path: str, index: Index) -> list[tuple[Import, str]]:
    possible = [(entry, [one for one in candidates(entry.module, path) if one != path]) for entry in entries]
    there = index.existing(list({one for _, paths in possible for one in paths}))
    found = ((entry, next((one for one in paths if one in there), "")) for entry, paths in possible)
    return [(entry, one) for entry, one in found if one]


def _joined(module: str, name: str) -> str:
    separator = "" if module.endswith((".", "/")) else "::" if "::" in module else "/" if "/" in module else "."
    return f"{module}{separator}{name}"


def bindings(text: str, imported: Iterable[tuple[Import, str]]) -> dict[str, tuple[str, str]]:
    """Name in a file -> path that it comes from and its name there, "" for a whole module."""
    bound: dict[str, tuple[str, str]] = {}
    for entry, path in imported:
        statement = _STATEMENT.match(text, entry.start, entry.start + _MAX_STATEMENT)
        aliases = dict(_ALIAS.findall(statement[0])) if statement else {}
        for name in entry.names:
            bound[aliases.get(name, name)] = path, name
        if not entry.names:
            last = last_part(entry.module)
            bound[next((aliases[name] for name in ("*", entry.module, last) if name in aliases), last)] = path, ""
    return bound


def last_part(module: str) -> str:
    """The name by which a module is called: of `./a/Effect.js`, Effect."""
    stem = posixpath.splitext(module)[0] if "/" in module and module.endswith(_ENDINGS) else module
    return _WORD.findall(stem)[-1] if _WORD.search(stem) else ""


# All imports of the files at hand, which are resolved anew with each keystroke.
@lru_cache(4096)
def candidates(module: str, path: str) -> tuple[str, ...]:
    """Paths that the module of an import in the file `path` may have, the likeliest first."""
    return tuple(_candidates(module, path))


def _candidates(module: str, path: str) -> Iterator[str]:
    extensions, names = _group(path)
    for stem in _stems(module, path):
        if stem.endswith(extensions):
            yield stem
        if stem.endswith(_COMPILED):
            stem = posixpath.splitext(stem)[0]
        yield from (stem + extension for extension in extensions)
        yield from (posixpath.join(stem, name) for name in names)


def _stems(module: str, path: str) -> Iterator[str]:
    folder = posixpath.dirname(path)
    if module.startswith("."):
        yield from _relative(module, folder)
        return
    tail = module.replace("::", "/") if "::" in module else module if "/" in module else module.replace(".", "/")
    parts = folder.split("/") if folder else []
    for depth in range(len(parts), -1, -1):
        yield posixpath.join(*parts[:depth], tail)
    yield from (posixpath.join(source, tail) for source in _SOURCE_FOLDERS[1:])


def _relative(module: str, folder: str) -> Iterator[str]:
    if module.startswith(("./", "../")) or module in (".", ".."):
        yield posixpath.normpath(posixpath.join(folder, module))
        return
    name = module.lstrip(".")
    for _ in range(len(module) - len(name) - 1):
        folder = posixpath.dirname(folder)
    yield posixpath.join(folder, name.replace(".", "/")) if name else folder


def _group(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Extensions that an import in the file may stand for, that of the file first, and names for a folder."""
    own = posixpath.splitext(path)[1]
    for extensions, names in _GROUPS:
        if own in extensions:
            return (own, *(extension for extension in extensions if extension != own)), names
    return (own,), ()
