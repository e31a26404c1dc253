"""One file as the index holds it: definitions, imports, and the words of each chunk of lines. Runs in worker processes,
so results are plain tuples, small to send. Knows no database and no policy."""

import hashlib
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from lsp_complete.context.files import Skipped, read_file
from lsp_complete.text.document import normalize_eol
from lsp_complete.text.languages import PLAIN, Language, language_of
from lsp_complete.text.symbols import Definition, Import, Symbols, identifiers, subwords, symbols

# As long as the windows that retrieval compares: small enough to be about one thing, and few enough to be indexed fast.
CHUNK_LINES = 60
# Data rather than prose: words of a longer text file in no language we know would drown those of code.
MAX_PLAIN_CHARACTERS = 200_000
# One letter says nothing, nor do two that are a part of a name; what is longer than this is a hash or a literal.
_MIN_NAME, _MIN_PART, _MAX_NAME = 2, 3, 64
# In nearly every chunk of code, so of no use to tell chunks apart: a fifth of all entries.
_STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """self this def return import from class if else elif for in not and or is none true false null nil function
    func fn var let const public private static void int str string new the to of as it be an on end do while try except
    catch throw raise with pass break continue case switch default package use using namespace struct""",
    )
)
# A file written just now may be written again within the same step of its file system's clock: look at it next time.
_TICK_NS = 50_000_000

DefinitionRow = tuple[str, str, int, int, str, str, str, str]
ImportRow = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """`path` is relative. `chunks` has the words of each chunk in order, joined by blanks; "" for one without any.
    `skipped` is why there is nothing, or "". Names and bases are joined by blanks."""

    path: str
    size: int
    mtime_ns: int
    hash: bytes
    language: str = ""
    skipped: str = ""
    definitions: tuple[DefinitionRow, ...] = ()
    imports: tuple[ImportRow, ...] = ()
    chunks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unreadable:
    path: str
    errno: int


class Count(Protocol):
    """A number that another process may look at."""

    value: int


def parse_files(root: str, files: list[tuple[str, bytes]], begun: Count | None = None) -> list[ParsedFile | Unreadable]:
    """Read and parse files given by relative path and known hash. One whose bytes still have that hash comes back with
    the hash alone. `begun` counts the files. Never raises."""
    found = []
    for path, known in files:
        if begun is not None:
            begun.value += 1
        found.append(_parse_file(root, path, known))
    return found


def too_slow(root: str, path: str) -> ParsedFile | Unreadable:
    """The row of a file that is not parsed again as long as it has these bytes."""
    return _parse_file(root, path, b"", lambda path, text: ParsedFile(path, 0, 0, b"", "", Skipped.TOO_SLOW))


def parse_text(path: str, text: str) -> ParsedFile:
    """What the index would hold of a text. Size, time and hash are empty: they are a file's."""
    language = language_of(path)
    if language is PLAIN and len(text) > MAX_PLAIN_CHARACTERS:
        return ParsedFile(path, 0, 0, b"", language.key, Skipped.TOO_LARGE)
    found = _symbols(text, language)
    return ParsedFile(
        path,
        0,
        0,
        b"",
        language.key,
        "",
        tuple(_definition_row(definition) for definition in found.definitions),
        tuple(_import_row(found_import) for found_import in found.imports),
        tuple(_chunks(text)),
    )


def _symbols(text: str, language: Language) -> Symbols:
    """A file that a grammar stumbles over costs its own symbols, not the build."""
    try:
        return symbols(text, language, references=False)
    except Exception:
        return Symbols((), (), ())


def words_of(names: list[str]) -> dict[str, None]:
    """The words under which identifiers are indexed, in order and without repetition: themselves and their parts."""
    words: dict[str, None] = {}
    for name in names:
        parts = [part for part in subwords(name) if len(part) >= _MIN_PART and not part.isdigit()]
        for word in (name.lower(), *parts):
            if _MIN_NAME <= len(word) <= _MAX_NAME and word not in _STOP_WORDS:
                words[word] = None
    return words


def _parse_file(
    root: str, path: str, known_hash: bytes, parse: Callable[[str, str], ParsedFile] = parse_text
) -> ParsedFile | Unreadable:
    try:
        read = read_file(os.path.join(root, path))
        if isinstance(read, Skipped):
            return _skipped(root, path, read)
    except OSError as error:
        return Unreadable(path, error.errno or 0)
    digest = hashlib.blake2b(read.data, digest_size=16).digest()
    parsed = ParsedFile(path, 0, 0, b"") if digest == known_hash else parse(path, read.text)
    return ParsedFile(
        path,
        read.size,
        read.mtime_ns if read.mtime_ns < time.time_ns() - _TICK_NS else 0,
        digest,
        parsed.language,
        parsed.skipped,
        parsed.definitions,
        parsed.imports,
        parsed.chunks,
    )


def _skipped(root: str, path: str, reason: Skipped) -> ParsedFile:
    info = os.lstat(os.path.join(root, path))
    return ParsedFile(path, info.st_size, info.st_mtime_ns, b"", "", reason)


def _definition_row(found: Definition) -> DefinitionRow:
    bases = " ".join(found.bases)
    return found.name, found.kind.value, found.start, found.end, found.signature, found.doc, found.parent, bases


def _import_row(found: Import) -> ImportRow:
    return found.module, " ".join(found.names), found.start


def _chunks(text: str) -> list[str]:
    text = normalize_eol(text) if "\r" in text else text
    is_ascii = text.isascii()
    lines = (text.encode().translate(_ONLY_WORDS).decode() if is_ascii else text).split("\n")
    chunks = ("\n".join(lines[start : start + CHUNK_LINES]) for start in range(0, len(lines), CHUNK_LINES))
    names = (chunk.split() if is_ascii else identifiers(chunk) for chunk in chunks)
    return [" ".join(set().union(*map(_known_words.__getitem__, set(some)))) for some in names]


# Leaves of ASCII text its words and line ends: splitting that takes half of the time of `identifiers`.
_ONLY_WORDS = bytes(code if chr(code).isalnum() or chr(code) in "_\n" else 32 for code in range(128)).ljust(256, b" ")


class _KnownWords(dict[str, tuple[str, ...]]):
    """Identifier -> its words: the same ones come again and again in a tree, and taking them apart is slow."""

    def __missing__(self, name: str) -> tuple[str, ...]:
        if len(self) >= _MAX_KNOWN:
            self.clear()
        words = self[name] = () if name[0].isdigit() else tuple(words_of([name]))
        return words


# Some 20 MB.
_MAX_KNOWN = 100_000
_known_words = _KnownWords()
