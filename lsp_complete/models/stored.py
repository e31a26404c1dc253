"""Model files on this machine: which are whole, and how one comes to be under its final name.

A file is trusted by its size and a stamp beside it, written when its hash was checked, so that a start does not read
hundreds of megabytes. Knows no source.
"""

import os
from pathlib import Path

from lsp_complete.models.catalogue import ModelEntry
from lsp_complete.models.errors import ModelError
from lsp_complete.models.source import Progress, hash_file, silent


def is_stamped(entry: ModelEntry, folder: Path) -> bool:
    """Whether the file is here, and is the one whose hash was found right."""
    try:
        return _stamp_path(entry, folder).read_text("utf-8") == _stamp(entry, folder / entry.file_name)
    except (OSError, ValueError):
        return False


def find(entry: ModelEntry, folder: Path, progress: Progress = silent) -> Path | None:
    """The file, if it is here and whole. Reads and hashes it once, where it lies here without a stamp. Raises
    ModelError where nobody can tell."""
    path = folder / entry.file_name
    try:
        if not entry.file_name or not path.is_file():
            return None
        if is_stamped(entry, folder):
            return path
        if path.stat().st_size != entry.num_bytes or hash_file(path, "checking", progress) != entry.sha256:
            return None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}") from error
    _write_stamp(entry, folder)
    return path


def forget(entry: ModelEntry, folder: Path) -> None:
    """Trust the file no longer: the next `find` hashes it."""
    _stamp_path(entry, folder).unlink(missing_ok=True)


def remove(entry: ModelEntry, folder: Path) -> None:
    forget(entry, folder)
    (folder / entry.file_name).unlink(missing_ok=True)


def keep(entry: ModelEntry, folder: Path, verified: Path) -> Path:
    """Move a file whose hash is right, on the same disk, to its final name."""
    path = folder / entry.file_name
    with verified.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(verified, path)
    _write_stamp(entry, folder)
    return path


def _write_stamp(entry: ModelEntry, folder: Path) -> None:
    """A folder that cannot be written to costs a hash at each start, and nothing else."""
    stamp, beside = _stamp_path(entry, folder), _stamp_path(entry, folder).with_suffix(f".{os.getpid()}")
    try:
        beside.write_text(_stamp(entry, folder / entry.file_name), "utf-8")
        os.replace(beside, stamp)
    except OSError:
        return


def _stamp_path(entry: ModelEntry, folder: Path) -> Path:
    return folder / f".{entry.file_name}.verified"


def _stamp(entry: ModelEntry, path: Path) -> str:
    """The time of change is in it: a file that was swapped for another of the same size is hashed again."""
    status = path.stat()
    return f"{entry.sha256} {status.st_size} {status.st_mtime_ns}\n"
