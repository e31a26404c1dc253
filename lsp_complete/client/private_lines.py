"""A file of JSON lines that its owner alone can read, of bounded size, to which any number of processes append.

Two files: what was written lately, and what was before. Knows nothing of what the lines say.
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock

_LOCK_S = 1.0
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def append(file: Path, rows: Iterable[Mapping[str, Any]], max_bytes: int) -> None:
    """A file that has grown beyond `max_bytes` takes the older one's place. Raises OSError, and Timeout (one as well)
    where another process holds the lock for too long."""
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(_lock_path(file), timeout=_LOCK_S, mode=0o600):
        descriptor = os.open(file, _FLAGS, 0o600)
        with os.fdopen(descriptor, "ab") as stream:
            size = _made_private(descriptor)
            stream.write(_line_end(descriptor, size) + data.encode("utf-8", "replace"))
        if size > max_bytes:
            os.replace(file, _older(file))


def read(file: Path) -> list[str]:
    """All lines that are not blank, the oldest first. Raises OSError where a file cannot be read."""
    return [line for path in (_older(file), file) for line in _lines(path)]


def parsed(line: str) -> Any:
    """What the line says, None where it is no JSON: somebody may have edited the file."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def clear(file: Path) -> None:
    """Raises OSError."""
    if not file.parent.is_dir():
        return
    with FileLock(_lock_path(file), timeout=_LOCK_S, mode=0o600):
        for path in (_older(file), file):
            path.unlink(missing_ok=True)


def _made_private(descriptor: int) -> int:
    """The file's size. Raises OSError for what is no file of ours."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError("not a file")
    if os.name == "posix" and status.st_mode & 0o077:
        os.fchmod(descriptor, 0o600)
    return status.st_size


def _line_end(descriptor: int, size: int) -> bytes:
    """What a line that a full disk has cut off needs before the next one."""
    if not size:
        return b""
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return b"" if os.read(descriptor, 1) == b"\n" else b"\n"


def _lines(path: Path) -> Iterator[str]:
    with contextlib.suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace", newline="\n") as stream:
        yield from (line for line in stream if line.strip())


def _older(file: Path) -> Path:
    return file.with_suffix(".old" + file.suffix)


def _lock_path(file: Path) -> Path:
    return file.with_suffix(".lock")
