"""The file of the audit: a line of JSON a request, readable by its owner alone. A line that is none is passed over.

Two files of bounded size: what was written lately, and what was before. Any number of processes may append.
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from filelock import FileLock

# A line has some 500 bytes without text: a week of busy typing.
_MAX_BYTES = 8_000_000
_LOCK_S = 1.0
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(frozen=True, slots=True)
class SentSnippet:
    path: str
    source: str
    num_characters: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A request that left. `num_bytes` is its body on the wire, `text` all of it as JSON or "". Tokens are 0 where the
    stream was closed before the service told them."""

    at_s: float
    destination: str
    request_id: str = ""
    trigger: str = ""
    path: str = ""
    language: str = ""
    num_bytes: int = 0
    num_prefix_characters: int = 0
    num_suffix_characters: int = 0
    snippets: tuple[SentSnippet, ...] = ()
    num_redacted: int = 0
    outcome: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    text: str = ""


def append(file: Path, entries: Iterable[Entry], max_bytes: int = _MAX_BYTES) -> None:
    """Raises OSError, and Timeout (one as well) where another process holds the lock for too long."""
    data = "".join(json.dumps(asdict(entry), ensure_ascii=False) + "\n" for entry in entries)
    file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(_lock_path(file), timeout=_LOCK_S, mode=0o600):
        descriptor = os.open(file, _FLAGS, 0o600)
        with os.fdopen(descriptor, "ab") as stream:
            size = _made_private(descriptor)
            stream.write(_line_end(descriptor, size) + data.encode("utf-8", "replace"))
        if size > max_bytes:
            os.replace(file, _older(file))


def read(file: Path) -> tuple[list[Entry], int]:
    """All entries, the oldest first, and how many lines are none. Raises OSError where a file cannot be read."""
    lines = [line for path in (_older(file), file) for line in _lines(path)]
    entries = [entry for line in lines if (entry := _entry(line)) is not None]
    return entries, len(lines) - len(entries)


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


def _entry(line: str) -> Entry | None:
    try:
        data = json.loads(line)
        known = {field.name: data[field.name] for field in fields(Entry) if field.name in data}
        known["snippets"] = tuple(SentSnippet(**one) for one in known.get("snippets", ()))
        return _checked(Entry(**known))
    except (ValueError, TypeError, RecursionError):
        return None


def _checked(entry: Entry) -> Entry:
    """Raises TypeError for a value of another kind: somebody may have edited the file."""
    kinds: dict[Any, Any] = {float: (int, float), int: int, str: str}
    for field in fields(Entry):
        if not isinstance(getattr(entry, field.name), kinds.get(field.type, tuple)):
            raise TypeError(field.name)
    return entry


def _older(file: Path) -> Path:
    return file.with_suffix(".old" + file.suffix)


def _lock_path(file: Path) -> Path:
    return file.with_suffix(".lock")
