"""Patterns that users and administrators write: like lines of .gitignore, and absolute or with backslashes as well."""

import os
import re
from collections.abc import Iterable

from pathspec import GitIgnoreSpec

_DRIVE = re.compile(r"^[A-Za-z]:/")


class Globs:
    """Which paths some patterns name. Immutable. A pattern that cannot be understood is kept in `bad`, not dropped
    silently: the gate must not open because of a typing error."""

    def __init__(self, patterns: Iterable[str] = ()) -> None:
        lines: list[str] = []
        self.bad: tuple[str, ...] = ()
        for pattern in patterns:
            line = _normal(pattern)
            if _is_good(line):
                lines.append(line)
            elif line:
                self.bad = (*self.bad, pattern)
        self._spec = GitIgnoreSpec.from_lines(lines) if lines else None

    def names(self, path: str, relative: str) -> bool:
        """`path` is absolute, `relative` the same file from its root or "". Both have forward slashes; a folder's
        ends in one."""
        return self._name_one((relative, _rootless(path)))

    def names_anywhere(self, path: str) -> bool:
        """As `names`, whatever folder may be the root: to open one further in does not get past a pattern."""
        whole = _rootless(path)
        starts = [0, *(match.end() for match in re.finditer("/", whole))]
        return self._name_one(whole[start:] for start in starts)

    def _name_one(self, candidates: Iterable[str]) -> bool:
        spec = self._spec
        return spec is not None and any(one and spec.check_file(one).include is True for one in candidates)


def _normal(pattern: str) -> str:
    """With forward slashes, a home folder in place of `~`, and without a drive's colon, which is how `_rootless` has
    paths."""
    pattern = os.path.expanduser(pattern.strip()).replace("\\", "/")
    return "/" + _rootless(pattern) if _DRIVE.match(pattern) else pattern


def _rootless(path: str) -> str:
    """An absolute path as if relative to the root of everything: "c/work/a.py" of "C:/work/a.py"."""
    if _DRIVE.match(path):
        return path[0].lower() + path[2:]
    return path.lstrip("/")


def _is_good(line: str) -> bool:
    try:
        return bool(line) and len(GitIgnoreSpec.from_lines([line])) == 1
    except ValueError:
        return False
