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
        if self._spec is None:
            return False
        candidates = (relative, _rootless(path))
        return any(candidate and self._spec.check_file(candidate).include is True for candidate in candidates)


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
