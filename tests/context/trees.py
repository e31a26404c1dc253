"""Small trees of files for tests, and what is asked of their indexes."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from lsp_complete.context.index import Index

NO_ENTERPRISE = Path("/nonexistent/policy.toml")

Open = Callable[..., Index]


def paths_of(index: Index, name: str) -> list[str]:
    return [found.path for found in index.definitions(name)]


def write_tree(root: Path, files: Mapping[str, str | bytes] | Mapping[str, str]) -> Path:
    """Write files by their relative names; a name that ends in a slash is an empty folder."""
    for name, content in files.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def age(root: Path) -> None:
    """Make all files an hour old."""
    for path in root.rglob("*.*"):
        then_ns = path.lstat().st_mtime_ns - 3_600_000_000_000
        os.utime(path, ns=(then_ns, then_ns))
