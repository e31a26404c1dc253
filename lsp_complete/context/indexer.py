"""Brings the index up to date with the tree: what is new is parsed, what is gone is removed, the rest is left alone.

A first build and a start where nothing changed are the same walk; only the number of files to parse differs. Each batch
is one transaction, so a build that is cancelled or killed goes on where it stopped.
"""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field

from lsp_complete.context.parse import ParsedFile, Unreadable
from lsp_complete.context.policy import Policy
from lsp_complete.context.rows import KnownFile, known_among, known_files, remove_files, tidy, write_files
from lsp_complete.context.store import empty
from lsp_complete.context.walk import FoundFile, Scandir, WalkReport, walk
from lsp_complete.context.workers import DEFAULT_LIMITS, Limits, Work, parse_all

# Rows of this many files are removed in one transaction: after a branch switch there are thousands.
_REMOVE_AT_ONCE = 200

Progress = Callable[[int, int], None]
"""Called with the number of files done and of all that are to be parsed."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a caller may want to hear or to say during an update, and what tests put in place of disk and limits."""

    progress: Progress = lambda done, total: None
    is_cancelled: Callable[[], bool] = lambda: False
    scandir: Scandir | None = None
    limits: Limits = DEFAULT_LIMITS


@dataclass(slots=True)
class Update:
    """What an update did. `walk` has what was left out and what could not be read."""

    walk: WalkReport = field(default_factory=WalkReport)
    num_parsed: int = 0
    num_removed: int = 0
    is_complete: bool = True


def update(connection: sqlite3.Connection, root: str, policy: Policy, hooks: Hooks) -> Update:
    """Raises sqlite3.Error; what was committed before stays."""
    done = Update()
    scandir = {} if hooks.scandir is None else {"scandir": hooks.scandir}
    found: dict[str, FoundFile] = {}
    for file in walk(root, policy, done.walk, **scandir):
        found[file.path] = file
        if hooks.is_cancelled():
            done.is_complete = False
            return done
    known = known_files(connection)
    _remove(connection, _gone(found, known, done.walk), hooks, done)
    _parse(connection, root, _changed(found, known), known, hooks, done)
    tidy(connection, done.num_parsed / max(1, len(found)))
    return done


def clear(connection: sqlite3.Connection) -> Update:
    """Forget everything. Raises sqlite3.Error."""
    empty(connection)
    return Update(is_complete=False)


def update_files(
    connection: sqlite3.Connection, root: str, changed: list[str], gone: list[str], report: WalkReport
) -> Update:
    """The same for files that are known to have changed or to be gone; what the `report` of the last walk says of all
    others stays. Raises sqlite3.Error."""
    done = Update(report)
    for path in (*changed, *gone):
        report.unreadable.pop(path, None)
    known = known_among(connection, (*changed, *gone))
    hooks = Hooks()
    _remove(connection, [known[path].id for path in gone if path in known], hooks, done)
    work = [(path, known[path].hash if path in known else b"", 0) for path in changed]
    _parse(connection, root, work, known, hooks, done)
    return done


def _changed(found: dict[str, FoundFile], known: dict[str, KnownFile]) -> list[Work]:
    work: list[Work] = []
    for file in found.values():
        before = known.get(file.path)
        if before is None:
            work.append((file.path, b"", file.size))
        elif (before.size, before.mtime_ns) != (file.size, file.mtime_ns):
            work.append((file.path, before.hash, file.size))
    return work


def _gone(found: dict[str, FoundFile], known: dict[str, KnownFile], report: WalkReport) -> list[int]:
    """Files that are known and were not found, unless they lie where nothing could be read."""
    return [
        file.id
        for path, file in known.items()
        if path not in found and not any(_holds(place, path) for place in report.unreadable)
    ]


def _holds(place: str, path: str) -> bool:
    return place in (".", path) or path.startswith(place + "/")


def _remove(connection: sqlite3.Connection, ids: list[int], hooks: Hooks, done: Update) -> None:
    for start in range(0, len(ids), _REMOVE_AT_ONCE):
        if hooks.is_cancelled():
            done.is_complete = False
            return
        batch = ids[start : start + _REMOVE_AT_ONCE]
        remove_files(connection, batch)
        done.num_removed += len(batch)


def _parse(
    connection: sqlite3.Connection, root: str, work: list[Work], known: dict[str, KnownFile], hooks: Hooks, done: Update
) -> None:
    results = parse_all(root, work, hooks.limits)
    num_done = 0
    try:
        for batch in results:
            if hooks.is_cancelled():
                done.is_complete = False
                return
            if not batch:
                continue
            write_files(connection, [file for file in batch if isinstance(file, ParsedFile)], known)
            done.walk.unreadable |= {file.path: file.errno for file in batch if isinstance(file, Unreadable)}
            num_done += len(batch)
            done.num_parsed = num_done
            hooks.progress(num_done, len(work))
    finally:
        results.close()
