"""What a source of model files is, and copying with a hash on the way."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from lsp_complete.models.catalogue import ModelEntry

# Large enough that Python costs nothing, small enough for a smooth progress bar.
_BLOCK_BYTES = 2**20


class Progress(Protocol):
    """Called as bytes arrive, from any thread. `source` names where they come from, or what is done with them."""

    def __call__(self, source: str, done_bytes: int, total_bytes: int, /) -> None: ...


def silent(source: str, done_bytes: int, total_bytes: int, /) -> None:
    """A Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that is complete as far as its source can tell, and the SHA-256 of its bytes."""

    path: Path
    sha256: str


class Source(Protocol):
    """One place that has model files. `num_copies`: how often the model's size lies on the disk while fetching."""

    @property
    def name(self) -> str: ...

    @property
    def num_copies(self) -> int: ...

    def fetch(self, entry: ModelEntry, folder: Path, progress: Progress) -> Fetched:
        """Fetch the entry's file into `folder`, which keeps what an earlier attempt left there.

        Raises SourceFailed, or OSError where the disk does not take the bytes.
        """
        ...


def copy_hashed(
    reader: IO[bytes], digest: "hashlib._Hash", writer: IO[bytes] | None, on_bytes: Callable[[int], None]
) -> None:
    """Read to the end, hash, and write where there is a writer; `on_bytes` gets the size of each block."""
    while block := reader.read(_BLOCK_BYTES):
        digest.update(block)
        if writer is not None:
            writer.write(block)
        on_bytes(len(block))


def hash_file(path: Path, what: str, progress: Progress) -> str:
    """The SHA-256 of a file. `what` is what the progress says is being done."""
    digest = hashlib.sha256()
    total, done = path.stat().st_size, 0

    def on_bytes(num_bytes: int) -> None:
        nonlocal done
        done += num_bytes
        progress(what, done, total)

    with path.open("rb") as file:
        copy_hashed(file, digest, None, on_bytes)
    return digest.hexdigest()
