"""The locked file of an organisation: what may leave no machine, whatever a user's own settings say.

It lies in the system's configuration folder, where users cannot write. A file that is there and cannot be read or
understood denies everything: the organisation meant to deny something, and we do not know what. It can only deny, so
one that users could have written counts too, with a warning to whoever set it up.
"""

import os
import re
import stat
import sys
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from lsp_complete.context.exclusions import MAX_FILE_BYTES
from lsp_complete.context.globs import Globs
from lsp_complete.text.scopes import Scope

_NAME = "policy.toml"
_LISTS = ("exclude", "repositories", "languages", "scopes")
_MAX_FILE_KIB = "max_file_kib"
_REMOTE = re.compile(r"^\s*url\s*=\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class EnterpriseRules:
    """`problem` is why the file is not usable, or ""; then everything is denied. A `warning` denies nothing."""

    exclude: Globs = field(default_factory=Globs)
    repositories: tuple[str, ...] = ()
    languages: frozenset[str] = frozenset()
    scopes: frozenset[Scope] = frozenset()
    max_file_bytes: int = MAX_FILE_BYTES
    problem: str = ""
    warning: str = ""


def default_enterprise_file() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("PROGRAMDATA", "C:\\ProgramData")) / "lsp-complete" / _NAME
    if sys.platform == "darwin":
        return Path("/Library/Application Support/lsp-complete") / _NAME
    return Path("/etc/lsp-complete") / _NAME


def read_enterprise_rules(file: Path) -> EnterpriseRules:
    """`exclude` (globs), `repositories` (globs over addresses of git remotes), `languages` (ids), `scopes`,
    `max_file_kib`. Never raises."""
    try:
        return _rules(tomllib.loads(file.read_text("utf-8")), file)
    except FileNotFoundError as error:
        is_there = os.path.lexists(file)  # a link that leads nowhere
        return EnterpriseRules(problem=_closed(file, str(error.strerror)) if is_there else "")
    except OSError as error:
        return EnterpriseRules(problem=_closed(file, f"cannot be read ({error.strerror})"))
    except (ValueError, TypeError, RecursionError) as error:
        return EnterpriseRules(problem=_closed(file, f"is not understood ({error})"))


def _rules(values: dict[str, object], file: Path) -> EnterpriseRules:
    """Raises ValueError and TypeError, with what is wrong."""
    if unknown := set(values) - {*_LISTS, _MAX_FILE_KIB}:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    exclude, repositories, languages, scopes = (_strings(values, name) for name in _LISTS)
    globs = Globs(exclude)
    if globs.bad:
        raise ValueError(f"no pattern: {', '.join(globs.bad)}")
    return EnterpriseRules(
        globs,
        repositories,
        frozenset(languages),
        frozenset(map(Scope, scopes)),
        _max_file_bytes(values),
        warning=_looseness(file),
    )


def _closed(file: Path, why: str) -> str:
    return f"{file} {why}: until that is mended, nothing leaves this machine"


def _looseness(file: Path) -> str:
    """Why users may be able to change the file or put another in its place, or ""."""
    if os.name != "posix":
        return ""
    for path in (file, file.parent):
        status = path.stat()
        if status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"{path} can be changed by users: it should belong to root and be writable by root alone"
    return ""


def is_excluded_repository(top: str, patterns: tuple[str, ...]) -> bool:
    """Whether a remote of the repository whose top folder is `top` is named by a pattern. A repository whose
    configuration cannot be read counts as named."""
    if not patterns:
        return False
    try:
        text = _git_config(Path(top)).read_text("utf-8", "replace")
    except FileNotFoundError:
        return False
    except OSError:
        return True
    remotes = [remote.lower() for remote in _REMOTE.findall(text)]
    return any(fnmatchcase(remote, f"*{pattern.lower()}*") for remote in remotes for pattern in patterns)


def _git_config(top: Path) -> Path:
    """Of a work tree too, where `.git` is a file that says where the folder is."""
    dot_git = top / ".git"
    if dot_git.is_file():
        folder = top / dot_git.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
        common = folder / "commondir"
        return (folder / common.read_text("utf-8").strip() if common.is_file() else folder) / "config"
    return dot_git / "config"


def _strings(values: dict[str, object], name: str) -> tuple[str, ...]:
    found = values.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
        raise TypeError(f"{name} is no list of texts")
    return tuple(found)


def _max_file_bytes(values: dict[str, object]) -> int:
    kib = values.get(_MAX_FILE_KIB, MAX_FILE_BYTES // 1024)
    if not isinstance(kib, int) or isinstance(kib, bool) or kib < 0:
        raise TypeError(f"{_MAX_FILE_KIB} is no number")
    return min(kib * 1024, MAX_FILE_BYTES)
