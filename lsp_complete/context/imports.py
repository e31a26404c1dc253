"""Which file of the repository an import means. By the shape of its path alone: no interpreter, no build file."""

import posixpath
from collections.abc import Iterable, Iterator

from lsp_complete.context.index import Index
from lsp_complete.text.symbols import Import

# Extensions of files that can import each other, and what stands for a folder among them.
_GROUPS = (
    ((".py", ".pyi"), ("__init__.py",)),
    ((".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs"), ("index.ts", "index.tsx", "index.js")),
    ((".rs",), ("mod.rs",)),
    ((".java", ".kt", ".scala"), ()),
)
# Folders that hold sources without being a part of a module's name.
_SOURCE_FOLDERS = ("", "src", "lib", "python")


def resolved(imports: Iterable[Import], path: str, index: Index) -> tuple[tuple[Import, str], ...]:
    """The imports of a file that mean a file of the repository, with its path. One question for all of them."""
    possible = [(entry, [one for one in candidates(entry.module, path) if one != path]) for entry in imports]
    there = index.existing(list({one for _, paths in possible for one in paths}))
    found = ((entry, next((one for one in paths if one in there), "")) for entry, paths in possible)
    return tuple((entry, one) for entry, one in found if one)


def candidates(module: str, path: str) -> Iterator[str]:
    """Paths that the module of an import in the file `path` may have, the likeliest first."""
    extensions, names = _group(path)
    for stem in _stems(module, path):
        if stem.endswith(extensions):
            yield stem
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
