"""Watches a root and says which paths changed, once they have come to rest. Ignored folders are not watched.

Where the system has no more watches, the folders that are left over are compared with their last listing now and then,
and there is one warning. Time is given: `tick` is a function of it, and `start` only calls it from a thread.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from lsp_complete.context.policy import Policy
from lsp_complete.context.walk import WalkReport, walk
from lsp_complete.context.watch_backends import Backend, Changed, system_backend

_log = logging.getLogger(__name__)

# An editor writes a file in several steps, git thousands of files in a row: wait until it is quiet for so long,
QUIET_S = 0.3
# but report at least this often.
MAX_DELAY_S = 2.0
# Listing some thousand folders takes some tens of milliseconds.
POLL_S = 5.0
# A thread that wakes up this often is not seen by anybody, and a change waits no longer than it must.
_TICK_S = 0.1

_Listing = frozenset[tuple[str, int, int]]


@dataclass(slots=True)
class Debounce:
    """Paths that changed and are waiting for quiet."""

    waiting: set[str] = field(default_factory=set)
    first_s: float = 0.0
    last_s: float = 0.0

    def add(self, path: str, now_s: float) -> None:
        if not self.waiting:
            self.first_s = now_s
        self.waiting.add(path)
        self.last_s = now_s

    def take(self, now_s: float) -> set[str]:
        """What may be reported now; it is not reported again."""
        if now_s - self.last_s < QUIET_S and now_s - self.first_s < MAX_DELAY_S:
            return set()
        taken, self.waiting = self.waiting, set()
        return taken


class Watcher:
    """`on_change` is called with absolute paths, from `tick`. Nothing here raises."""

    def __init__(
        self,
        root: str,
        policy: Policy,
        on_change: Callable[[set[str]], object],
        backend: Callable[[str, Changed], Backend] = system_backend,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._root = os.path.realpath(root)
        self._policy = policy
        self._on_change = on_change
        self._make_backend = backend
        self._clock = clock
        self._backend: Backend | None = None
        self._debounce = Debounce()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._watched: set[str] = set()
        self._polled: dict[str, _Listing] = {}
        self._next_poll_s = 0.0
        self.warnings: tuple[str, ...] = ()

    def open(self) -> None:
        """Place the watches."""
        self._next_poll_s = self._clock() + POLL_S
        try:
            self._backend = self._make_backend(self._root, self.changed)
        except (OSError, ImportError) as error:
            self._warn(error)
        self._add_folders(self._root)

    def start(self) -> None:
        """Place the watches and report changes from a thread of our own until `stop`."""
        with self._lock:
            if self._stopped.is_set():
                return
            self._thread = threading.Thread(target=self._run, name="lsp-complete-watch", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Release all watches. Not to be called from `on_change`."""
        with self._lock:
            self._stopped.set()
        if self._thread is not None:
            self._thread.join()
        if self._backend is not None:
            self._backend.close()
        self._backend = None
        self._watched.clear()
        self._polled.clear()

    def tick(self, now_s: float) -> None:
        """Look at unwatched folders when it is time, and report what has come to rest."""
        if now_s >= self._next_poll_s:
            self._next_poll_s = now_s + POLL_S
            self._poll()
        with self._lock:
            paths = self._debounce.take(now_s)
        reported = {path for path in paths if self._matters(path)}
        for path in paths:
            self._follow(path)
        if reported:
            self._on_change(reported)

    def changed(self, path: str) -> None:
        """Something of the root has changed: a path in the root, or the root where nobody knows what. Reported later,
        once, whoever else tells of it."""
        with self._lock:
            self._debounce.add(path, self._clock())

    def use_policy(self, policy: Policy) -> None:
        """Other rules. What they let in is watched when the root is reported as changed."""
        self._policy = policy

    def _run(self) -> None:
        self.open()
        while not self._stopped.wait(_TICK_S):
            try:
                self.tick(self._clock())
            except Exception:
                _log.exception("a change could not be reported")

    def _matters(self, path: str) -> bool:
        """A file that may be indexed, or one that was: what is gone cannot be asked whether it was a folder."""
        return path == self._root or self._policy.indexes(path).allowed

    def _follow(self, path: str) -> None:
        """Watch a folder that came, and release one that went."""
        if os.path.isdir(path) and not os.path.islink(path):
            self._add_folders(path)
            return
        gone = [folder for folder in (*self._watched, *self._polled) if _is_in(folder, path)]
        for folder in gone:
            self._polled.pop(folder, None)
            if folder in self._watched and self._backend is not None:
                self._watched.discard(folder)
                self._backend.unwatch(folder)

    def _add_folders(self, top: str) -> None:
        if self._backend is not None and self._backend.is_recursive:
            if top == self._root:
                self._add(top)
            return
        for folder in _folders(top, self._policy):
            if self._stopped.is_set():
                return
            if folder not in self._watched and folder not in self._polled:
                self._add(folder)

    def _add(self, folder: str) -> None:
        if self._backend is not None:
            try:
                self._backend.watch(folder)
                self._watched.add(folder)
                return
            except OSError as error:
                if not os.path.isdir(folder):
                    return
                self._warn(error)
        self._polled[folder] = _listing(folder)

    def _poll(self) -> None:
        for folder, before in list(self._polled.items()):
            now = _listing(folder)
            self._polled[folder] = now
            for name in {entry[0] for entry in before ^ now}:
                self.changed(os.path.join(folder, name))

    def _warn(self, error: OSError | ImportError) -> None:
        if not self.warnings:
            _log.warning("watcher: some folders are polled: %s", type(error).__name__)
            self.warnings = (f"not all folders can be watched, some are polled every {POLL_S:.0f} s: {error.args[-1]}",)


def _folders(top: str, policy: Policy) -> Iterator[str]:
    """A folder and those in it that may be indexed."""
    report = WalkReport()
    files = walk(top, policy, report) if policy.indexes(top + os.sep + "_").allowed else iter(())
    num_told = 0
    for _ in chain(files, [None]):
        yield from (folder.rstrip("/") or "/" for folder in report.folders[num_told:])
        num_told = len(report.folders)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)


def _listing(folder: str) -> _Listing:
    """Names with size and time; empty for a folder that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.is_dir(), entry.stat(follow_symlinks=False)) for entry in entries]
    except OSError:
        return frozenset()
    return frozenset(
        (name, -1 if is_dir else info.st_size, 0 if is_dir else info.st_mtime_ns) for name, is_dir, info in found
    )
