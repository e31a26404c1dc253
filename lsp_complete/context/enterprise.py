"""The locked file of an organisation: what may leave no machine, whatever a user's own settings say.

It lies in the system's configuration folder, where users cannot write. A file that is there and cannot be read or
understood denies everything: the organisation meant to deny something, and we do not know what.
"""

import os
import re
import sys
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from lsp_complete.context.globs import Globs

_NAME = "policy.toml"
_REMOTE = re.compile(r"^\s*url\s*=\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class EnterpriseRules:
    """`problem` is why the file is not usable, or ""; with a problem everything is denied."""

    exclude: Globs = field(default_factory=Globs)
    repositories: tuple[str, ...] = ()
    languages: frozenset[str] = frozenset()
    problem: str = ""


def default_enterprise_file() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("PROGRAMDATA", "C:\\ProgramData")) / "lsp-complete" / _NAME
    if sys.platform == "darwin":
        return Path("/Library/Application Support/lsp-complete") / _NAME
    return Path("/etc/lsp-complete") / _NAME


def read_enterprise_rules(file: Path) -> EnterpriseRules:
    """`exclude` (globs), `repositories` (globs over addresses of git remotes), `languages` (ids). Never raises."""
    try:
        values = tomllib.loads(file.read_text("utf-8"))
        lists = {name: _strings(values, name) for name in ("exclude", "repositories", "languages")}
    except FileNotFoundError:
        return EnterpriseRules()
    except (OSError, ValueError, TypeError) as error:
        return EnterpriseRules(problem=f"{file}: {type(error).__name__}")
    unknown = set(values) - set(lists)
    globs = Globs(lists["exclude"])
    problem = f"{file}: not understood: {sorted(unknown) or globs.bad}" if unknown or globs.bad else ""
    return EnterpriseRules(globs, lists["repositories"], frozenset(lists["languages"]), problem)


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
        raise TypeError(name)
    return tuple(found)
