"""Is a text copied? Fingerprints of public code by winnowing, and a text's against them.

Winnowing (Schleimer, Wilkerson, Aiken: Winnowing, SIGMOD 2003): of every window of hashes of so many words in a row the
least is kept, so that a copy as long as window and words together is found wherever it begins, with a fraction of the
hashes.
"""

import hashlib
import mmap
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path

# Words in a row that make one fingerprint. Fewer are found in everybody's code.
NUM_WORDS = 24
# Hashes of which one is kept. With the words: 40 in a row, some 150 characters, are surely found.
WINDOW = 17
_WORD = re.compile(r"\w+|[^\w\s]")
_MAGIC = b"lsp-complete fingerprints 1\n\0\0\0\0"  # as long as four fingerprints
_BYTES = 8


class Blocklist:
    """A file of fingerprints, sorted, looked up where it lies. Raises OSError for a file that is none."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC or path.stat().st_size % _BYTES:
                raise OSError(f"{path.name}: not a file of fingerprints")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def close(self) -> None:
        self._map.close()

    def __len__(self) -> int:
        return (len(self._map) - len(_MAGIC)) // _BYTES

    def __getitem__(self, index: int) -> int:
        start = len(_MAGIC) + index * _BYTES
        return int.from_bytes(self._map[start : start + _BYTES], "big")

    def __contains__(self, fingerprint: int) -> bool:
        at = bisect_left(self, fingerprint)
        return at < len(self) and self[at] == fingerprint


def write_blocklist(path: Path, texts: Iterable[str]) -> int:
    """Write the fingerprints of the texts. Gives their number."""
    found = sorted({fingerprint for text in texts for fingerprint in fingerprints(text)})
    path.write_bytes(_MAGIC + b"".join(fingerprint.to_bytes(_BYTES, "big") for fingerprint in found))
    return len(found)


def is_verbatim(prefix: str, text: str, blocklist: Blocklist) -> bool:
    """Does the text hold, with at most as much again of the prefix before it, a fingerprint of the list? All hashes are
    looked up, not only those that winnowing keeps, so a fingerprint of the list is never missed."""
    before = _words(prefix[-2000:])[-NUM_WORDS // 2 :]
    return any(found in blocklist for found in _hashes(before + _words(text)))


def fingerprints(text: str) -> Iterator[int]:
    hashes = list(_hashes(_words(text)))
    for start in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        yield min(hashes[start : start + WINDOW])


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _hashes(words: list[str]) -> Iterator[int]:
    for start in range(len(words) - NUM_WORDS + 1):
        data = "\0".join(words[start : start + NUM_WORDS]).encode("utf-8", "replace")
        yield int.from_bytes(hashlib.blake2b(data, digest_size=_BYTES).digest(), "big")
