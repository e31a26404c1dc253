"""How the local service is found: a private file that says where it listens and what it asks for, and a lock that it
holds for as long as it lives. A file without a held lock is what a dead service left behind.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from lsp_complete import __version__

# Each version has its own: an editor after an upgrade does not talk to the service from before, and both can run.
_FILE = f"service-{__version__}.json"
_LOCK = f"service-{__version__}.lock"

# Whoever takes or tests the lock does so in well under a millisecond.
_TAKING_S = 5.0

# The exit code of a service that has found another one at work; extras.py has the other ones.
EXIT_ALREADY_RUNNING = 5


@dataclass(frozen=True, slots=True)
class Runtime:
    url: str
    credential: str
    pid: int
    version: str


def write_runtime(folder: Path, runtime: Runtime) -> None:
    """Write the file so that it is private from its first byte and appears whole."""
    temporary = folder / f"{_FILE}.{os.getpid()}"
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(runtime), file)
    os.replace(temporary, folder / _FILE)


def read_runtime(folder: Path) -> Runtime | None:
    """What a living service wrote; None without one. A file that somebody else could have written is not believed."""
    try:
        with open(folder / _FILE, encoding="utf-8") as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            data = json.load(file)
        runtime = Runtime(str(data["url"]), str(data["credential"]), int(data["pid"]), str(data["version"]))
        return runtime if is_locked(folder) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_private(status: os.stat_result) -> bool:
    return os.name != "posix" or (status.st_uid == os.getuid() and not status.st_mode & 0o077)


def remove_runtime(folder: Path) -> None:
    (folder / _FILE).unlink(missing_ok=True)


@contextlib.contextmanager
def service_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of the one service a user has. Raises filelock.Timeout while another holds it.

    To take it is to test it, so a second lock is held meanwhile: or two who only test would each take the other for a
    service.
    """
    lock = FileLock(folder / _LOCK, blocking=False)
    with FileLock(folder / f"{_LOCK}.taking", timeout=_TAKING_S):
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path) -> bool:
    """Is there a service, reachable or not? Raises OSError in a folder that cannot be written."""
    return not _while_unlocked(folder, lambda: None)


def clear_away(folder: Path) -> bool:
    """Remove what a dead service left, or it would be taken for what the next one writes. False if a service lives.
    Raises OSError in a folder that cannot be written."""
    return _while_unlocked(folder, lambda: remove_runtime(folder))


def _while_unlocked(folder: Path, act: Callable[[], None]) -> bool:
    """Act while there is no service and none can start; False if there is one."""
    lock = FileLock(folder / _LOCK, blocking=False)
    with FileLock(folder / f"{_LOCK}.taking", timeout=_TAKING_S):
        try:
            with lock:
                act()
                return True
        except Timeout:
            return False
