"""How the local service is found: a private file that says where it listens and what it asks for, and a lock that it
holds for as long as it lives. A file without a held lock is what a dead service left behind.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

_FILE = "service.json"
_LOCK = "service.lock"

# Exit codes of the service that tell its starter what to say to the user.
EXIT_MODEL_MISSING = 3
EXIT_ENGINE_MISSING = 4
EXIT_ALREADY_RUNNING = 5


@dataclass(frozen=True, slots=True)
class Runtime:
    """`version` is that of the program: an editor after an upgrade does not talk to the service from before."""

    url: str
    credential: str
    pid: int
    version: str


def write_runtime(folder: Path, runtime: Runtime) -> None:
    """Write the file so that it is private from its first byte and appears whole."""
    temporary = folder / f"{_FILE}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(runtime), file)
    os.replace(temporary, folder / _FILE)


def read_runtime(folder: Path) -> Runtime | None:
    """What a living service wrote; None without one. A file that somebody else could have written is not believed."""
    path = folder / _FILE
    try:
        if os.name == "posix" and (path.stat().st_uid != os.getuid() or path.stat().st_mode & 0o077):
            return None
        data = json.loads(path.read_text("utf-8"))
        runtime = Runtime(str(data["url"]), str(data["credential"]), int(data["pid"]), str(data["version"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return runtime if is_locked(folder) else None


def remove_runtime(folder: Path) -> None:
    (folder / _FILE).unlink(missing_ok=True)


def service_lock(folder: Path) -> FileLock:
    """The lock of the one service a user has. Raises filelock.Timeout when acquired while another holds it."""
    return FileLock(folder / _LOCK, blocking=False)


def is_locked(folder: Path) -> bool:
    lock = service_lock(folder)
    try:
        lock.acquire()
    except Timeout:
        return True
    lock.release()
    return False
