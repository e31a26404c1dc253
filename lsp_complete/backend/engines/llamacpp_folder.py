"""The private folder in which llama.cpp's listener has its socket. What a killed process left is removed by the next.

Knows nothing of llama.cpp. The folder is locked for as long as its process lives, however that ends.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from lsp_complete.config.paths import runtime_folder

_PREFIX = "lsp-complete-engine-"
# The path of a socket may have 108 bytes on Linux, 104 elsewhere; this leaves room for our part of it.
_MAX_PARENT_BYTES = 65


class PrivateFolder:
    """Lies where no cleaner of temporary files comes by, if that path is short enough for a socket."""

    def __init__(self) -> None:
        parent = _parent()
        _remove_leftovers(parent)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        self._lock = _lock(self.path)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _parent() -> Path:
    """Below the user's runtime folder; a folder of the user's own among the temporary files otherwise."""
    with contextlib.suppress(OSError):
        if len(os.fsencode(parent := runtime_folder())) <= _MAX_PARENT_BYTES:
            return parent
    return Path(tempfile.gettempdir())


def _remove_leftovers(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        if (lock := _lock(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _lock(folder: Path) -> int | None:
    """A descriptor that holds the folder's lock; None while another process has it, and where there are no locks."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
