"""The one gate: may bytes of this file leave the machine, and does the file belong in the index?

Secret names, ignore files at every level, exclusions of the user and of an organisation. When in doubt the answer is
no: a rule that cannot be read denies what it might have denied. Knows paths, sizes and languages, not what a text says
(secrets.py does).
"""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lsp_complete.context.enterprise import (
    EnterpriseRules,
    default_enterprise_file,
    is_excluded_repository,
    read_enterprise_rules,
)
from lsp_complete.context.exclusions import NO_EXCLUSIONS, Exclusions
from lsp_complete.context.files import decode
from lsp_complete.context.globs import Globs
from lsp_complete.context.ignore_file import IgnoreFile
from lsp_complete.context.secret_files import is_secret_folder, is_secret_path
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.scopes import Scope, scope_at

GIT_IGNORE = ".gitignore"
TOOL_IGNORE = ".lspcompleteignore"
_GIT_EXCLUDE = ".git/info/exclude"
_GIT_CONFIG = ".git/config"
# A real one has some hundred lines; a larger file is none that a person wrote.
_MAX_IGNORE_BYTES = 1_000_000
# An edit of an ignore file takes longer than this to get from a user's hands to the next request.
_RECHECK_S = 0.2
_MAX_RECENT = 1000
# File systems count time in steps of up to this: a file changed just now may change again and look the same.
_TICK_NS = 50_000_000

# Made by tools, or the work of others: of no use in an index. A file there that is open may still be completed.
BUILT_IN_EXCLUDES = frozenset(
    re.findall(
        r"\S+",
        """.git .hg .svn .jj node_modules bower_components .venv venv .tox .nox __pycache__ site-packages .eggs
    .mypy_cache .pytest_cache .ruff_cache .hypothesis .ipynb_checkpoints target dist build .gradle .idea .vs .next
    .nuxt .svelte-kit .turbo .parcel-cache .terraform .direnv .cache htmlcov coverage .dart_tool Pods DerivedData
    """,
    )
)


class Reason(StrEnum):
    """Why a file may not leave. The value is what a user is told."""

    NONE = ""
    SECRET = "a secret file by its name"
    GIT = "ignored by .gitignore"
    TOOL = "ignored by .lspcompleteignore"
    USER = "excluded by the settings"
    ENTERPRISE = "excluded by the organisation"
    LANGUAGE = "in a language that the settings exclude"
    SCOPE = "in a comment or string, where suggestions are switched off"
    TOO_LARGE = "too large"
    BUILT_IN = "in a folder that is never indexed"
    UNREADABLE = "its rules cannot be read"


@dataclass(frozen=True, slots=True)
class Verdict:
    allowed: bool
    reason: Reason = Reason.NONE


_YES = Verdict(True)
_NO = {reason: Verdict(False, reason) for reason in Reason}
_Stamp = tuple[int, int, int] | None
_NEVER = (0.0, None)
_UNJUDGED: tuple[float, Verdict | None] = (0.0, None)


@dataclass(frozen=True, slots=True)
class _Level:
    """Rules for what lies below `base`, an absolute folder that ends in a slash."""

    base: str
    rules: IgnoreFile
    reason: Reason


@dataclass(frozen=True, slots=True, eq=False)
class FolderRules:
    """What holds in one folder. `path` ends in a slash, `root` is where relative paths start; `verdict` denies all
    that lies in the folder, or is yes; `is_built_in` keeps it from the index alone. Outermost ignore file first."""

    path: str
    root: str
    verdict: Verdict
    is_built_in: bool
    levels: tuple[_Level, ...]


class Policy:
    """The gate for some workspace roots. What gives a verdict never raises, but `folder`. Safe in any thread.

    Ignore files are looked at again when the last look at a folder is `_RECHECK_S` old, and read again when they
    changed. Other settings make a new `Policy`. `secret_files_may_leave` is the one switch that takes the built-in
    secret names out of force.
    """

    def __init__(
        self,
        roots: Iterable[str | Path] = (),
        exclusions: Exclusions = NO_EXCLUSIONS,
        *,
        secret_files_may_leave: bool = False,
        enterprise_file: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.roots = tuple(sorted({_folder(os.path.realpath(root)) for root in roots}, key=len, reverse=True))
        self._exclusions = exclusions
        self._user = Globs(exclusions.globs)
        self._user_languages = frozenset(exclusions.languages)
        self._secrets_are_guarded = not secret_files_may_leave
        self._enterprise_file = enterprise_file or default_enterprise_file()
        self._clock = clock
        self._recent: dict[str, tuple[float, FolderRules]] = {}
        self._verdicts: dict[str, tuple[float, Verdict]] = {}
        self._enterprise: tuple[_Stamp, EnterpriseRules] = (None, EnterpriseRules())
        self._cache: dict[tuple[str, bool], tuple[FolderRules | None, tuple[_Stamp, ...], FolderRules]] = {}

    @property
    def problems(self) -> list[str]:
        """Settings that are not understood, one line each, for whoever shows warnings."""
        found = [f"exclusion is no pattern: {pattern}" for pattern in self._user.bad]
        rules = self._enterprise_rules()
        return [*found, *filter(None, [rules.problem, rules.warning])]

    def admits(self, document: Document) -> Verdict:
        """Whether anything of a document may leave: a buffer that is no file is judged by what it is."""
        if self._enterprise_rules().problem:
            return _NO[Reason.ENTERPRISE]
        if reason := self._language_reason(document.path, document.language):
            return _NO[reason]
        if len(document.text) > self._max_file_bytes:
            return _NO[Reason.TOO_LARGE]
        return self.allows(document.file) if document.file else _YES

    def admits_at(self, document: Document, offset: int) -> Verdict:
        """As `admits`, for the scopes that are switched off. Parses the document, where there are any."""
        if not self.scopes:
            return _YES
        scope = scope_at(document.text, offset, language_of(document.path, document.language))
        return _NO[Reason.SCOPE] if scope in self.scopes else _YES

    @property
    def scopes(self) -> frozenset[Scope]:
        """Those that are switched off."""
        return self._enterprise_rules().scopes.union(self._exclusions.scopes)

    def allows(self, path: str | Path) -> Verdict:
        """Whether bytes of the file may leave the machine, under its own name and under that of a link's target. Asked
        for the same files at each keystroke, so an answer counts as long as that for a folder does."""
        name, now_s = os.fspath(path), self._clock()
        judged_s, verdict = self._verdicts.get(name, _UNJUDGED)
        if verdict is None or now_s - judged_s > _RECHECK_S:
            verdict = self._both_names(path, for_index=False)
            self._verdicts = {**self._verdicts, name: (now_s, verdict)} if len(self._verdicts) < _MAX_RECENT else {}
        return verdict

    def indexes(self, path: str | Path) -> Verdict:
        """Whether the file belongs in the index. Whatever may not leave does not."""
        return self._both_names(path, for_index=True)

    def root_of(self, path: str | Path) -> str:
        """The longest root that holds a canonical path, with a slash at the end; "" without one."""
        name = _slashes(os.fspath(path))
        return next((root for root in self.roots if name.startswith(root)), "")

    def folder(self, path: str | Path) -> FolderRules:
        """The rules of a canonical folder, with all above it looked at again. Raises OSError."""
        path = _folder(os.fspath(path))
        top = self._top(path)
        rules = self._rules(None, top)
        for name in path[len(top) :].split("/")[:-1]:
            rules = self.below(rules, name)
            if rules.path == rules.root and rules.verdict.reason is Reason.GIT:
                # Whoever opens an ignored folder as a root means it: the repository around it has nothing to say there.
                rules = self._rules(None, rules.path)
        return rules

    def below(self, rules: FolderRules, name: str) -> FolderRules:
        """The rules of a folder in a folder whose rules are known: what a walk asks."""
        return self._rules(rules, f"{rules.path}{name}/")

    def file_verdict(self, rules: FolderRules, name: str, *, for_index: bool) -> Verdict:
        """The verdict on a bare file name in a folder whose rules are known."""
        if not rules.verdict.allowed:
            return rules.verdict
        if for_index and rules.is_built_in:
            return _NO[Reason.BUILT_IN]
        reason = self._named(rules.path + name, rules.root) or _ignored(rules.levels, rules.path + name)
        return _NO[reason] if reason else _YES

    def _both_names(self, path: str | Path, *, for_index: bool) -> Verdict:
        try:
            given = os.path.abspath(path)
            if "\0" in given:
                return _NO[Reason.UNREADABLE]
            names = (given, os.path.realpath(given)) if os.path.islink(given) else (given,)
            verdicts = [self._verdict(name, for_index=for_index) for name in names]
        except (OSError, ValueError, RecursionError):
            return _NO[Reason.UNREADABLE]
        otherwise = _NO[Reason.TOO_LARGE] if _size(given) > self._max_file_bytes else _YES
        return next((verdict for verdict in verdicts if not verdict.allowed), otherwise)

    def _verdict(self, path: str, *, for_index: bool) -> Verdict:
        folder, name = os.path.split(path)
        checked_s, rules = self._recent.get(folder, _NEVER)
        if rules is None or self._clock() - checked_s > _RECHECK_S:
            checked_s, rules = self._clock(), self.folder(os.path.realpath(folder))
            self._recent = {**self._recent, folder: (checked_s, rules)} if len(self._recent) < _MAX_RECENT else {}
        return self.file_verdict(rules, name, for_index=for_index)

    def _top(self, folder: str) -> str:
        """Where the ignore files that count begin: the repository around the root. Another root on the way up ends it,
        because a root's rules are for its own files only."""
        start = self.root_of(folder) or folder
        above = start
        while above != "/" and not os.path.lexists(above + ".git"):
            parent = _parent(above)
            if parent == above or parent in self.roots:
                return start
            above = parent
        return above if above != "/" else start

    def _rules(self, parent: FolderRules | None, path: str) -> FolderRules:
        stamps = (
            _stamp(path + GIT_IGNORE),
            _stamp(path + TOOL_IGNORE),
            _stamp(path + _GIT_EXCLUDE) if parent is None else None,
            _stamp(str(self._enterprise_file)) if parent is None else None,
            _stamp(path + _GIT_CONFIG) if self._exclusions.repositories or self._enterprise[1].repositories else None,
        )
        key = (path, parent is None)
        known = self._cache.get(key)
        if known is not None and known[0] is parent and known[1] == stamps:
            return known[2]
        rules = self._read_rules(parent, path, stamps)
        if not any(stamp and stamp[0] > time.time_ns() - _TICK_NS for stamp in stamps):
            self._cache[key] = (parent, stamps, rules)
        return rules

    def _read_rules(self, parent: FolderRules | None, path: str, stamps: tuple[_Stamp, ...]) -> FolderRules:
        root = self.root_of(path) or (parent.root if parent else path)
        name = path.rstrip("/").rpartition("/")[2]
        is_built_in = path != root and (name in BUILT_IN_EXCLUDES or (parent is not None and parent.is_built_in))
        levels = parent.levels if parent else ()
        reason = self._folder_reason(parent, path, root)
        if not reason:
            names = ((_GIT_EXCLUDE, 2, Reason.GIT), (GIT_IGNORE, 0, Reason.GIT), (TOOL_IGNORE, 1, Reason.TOOL))
            own = [_read_level(path, file, kind) for file, stamp, kind in names if stamps[stamp]]
            reason = Reason.UNREADABLE if None in own else Reason.NONE
            levels = (*levels, *(level for level in own if level))
        return FolderRules(path, root, _NO[reason] if reason else _YES, is_built_in and path != root, levels)

    def _folder_reason(self, parent: FolderRules | None, path: str, root: str) -> Reason:
        """Why all of a folder is denied, or NONE."""
        rules = self._enterprise_rules()
        if rules.problem or is_excluded_repository(path, rules.repositories):
            return Reason.ENTERPRISE
        if is_excluded_repository(path, self._exclusions.repositories):
            return Reason.USER
        if parent is None:
            return self._named(path, root)
        if not parent.verdict.allowed:
            return parent.verdict.reason
        return self._named(path, root) or _ignored(parent.levels, path)

    def _named(self, path: str, root: str) -> Reason:
        """The reason that names alone give against a file, or against a folder, whose path ends in a slash."""
        rules = self._enterprise[1]
        relative = path[len(root) :] if path.startswith(root) else ""
        if rules.exclude.names_anywhere(path):
            return Reason.ENTERPRISE
        if self._secrets_are_guarded and _is_secret(path):
            return Reason.SECRET
        if self._user.names(path, relative):
            return Reason.USER
        return Reason.NONE if path.endswith("/") else self._language_reason(path)

    def _language_reason(self, path: str, language_id: str = "") -> Reason:
        """Why nothing in a file's language may leave: that which the editor says, or that of the file's name."""
        for excluded, reason in (
            (self._enterprise[1].languages, Reason.ENTERPRISE),
            (self._user_languages, Reason.LANGUAGE),
        ):
            if excluded and not excluded.isdisjoint(_language_ids(path, language_id)):
                return reason
        return Reason.NONE

    @property
    def _max_file_bytes(self) -> int:
        return min(self._exclusions.max_file_bytes, self._enterprise[1].max_file_bytes)

    def _enterprise_rules(self) -> EnterpriseRules:
        try:
            stamp = _stamp(str(self._enterprise_file))
            is_odd = stamp is None and os.path.lexists(self._enterprise_file)
        except OSError:
            stamp, is_odd = None, True
        if is_odd or stamp != self._enterprise[0]:
            self._enterprise = (stamp, read_enterprise_rules(self._enterprise_file))
        return self._enterprise[1]


def _is_secret(path: str) -> bool:
    return is_secret_folder(path.rstrip("/").rpartition("/")[2]) if path.endswith("/") else is_secret_path(path)


def _language_ids(path: str, language_id: str) -> set[str]:
    """All that the language may be called: by the editor, and by us after the editor's word or the file's name."""
    found = {language_id}
    for language in (language_of(path, language_id), language_of(path)):
        found |= {language.key, *language.language_ids}
    return found


def _size(path: str) -> int:
    """Of a file; 0 where there is none yet."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _ignored(levels: tuple[_Level, ...], path: str) -> Reason:
    """The innermost file of a kind that says anything about a path decides; either kind may deny."""
    decided: set[Reason] = set()
    for level in reversed(levels):
        if level.reason in decided:
            continue
        says = level.rules.says(path[len(level.base) :])
        if says:
            return level.reason
        if says is not None:
            decided.add(level.reason)
    return Reason.NONE


def _read_level(folder: str, name: str, reason: Reason) -> _Level | None:
    """None where it cannot be read."""
    try:
        with open(folder + name, "rb") as file:
            data = file.read(_MAX_IGNORE_BYTES + 1)
    except OSError:
        return None
    text = decode(data)
    return None if text is None or len(data) > _MAX_IGNORE_BYTES else _Level(folder, IgnoreFile(text), reason)


def _stamp(path: str) -> _Stamp:
    """What changes when a file does; None without a regular file. Raises OSError where nobody can tell."""
    try:
        info = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (info.st_mtime_ns, info.st_size, info.st_ino) if stat.S_ISREG(info.st_mode) else None


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if os.name == "nt" else path


def _folder(path: str) -> str:
    return _slashes(path).rstrip("/") + "/"


def _parent(folder: str) -> str:
    return folder.rstrip("/").rpartition("/")[0] + "/"
