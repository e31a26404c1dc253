"""Reads the database: what is defined where, what a file imports, which chunks hold a word. Errors are sqlite3's."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lsp_complete.context.parse import CHUNK_LINES
from lsp_complete.context.store import FILE_SHIFT
from lsp_complete.text.symbols import Definition, Import, SymbolKind

# Old versions of SQLite take 999 variables.
_VARIABLES = 900
# Files whose names begin alike, which are a handful.
_MAX_NEIGHBOURS = 20
# What stands in more chunks is popular, and counting on would take time.
MANY_CHUNKS = 64
_DEFINITION = 'd.name, d.kind, d.start, d."end", d.signature, d.doc, d.parent, d.bases'


@dataclass(frozen=True, slots=True)
class FoundDefinition:
    """`path` is relative to the root of the index; offsets are those of the file when it was indexed."""

    path: str
    language: str
    definition: Definition


class Chunk(NamedTuple):
    """`CHUNK_LINES` lines of a file, by the number of the chunk in the file. Each key hashes thousands."""

    path: str
    number: int

    @property
    def first_line(self) -> int:
        return self.number * CHUNK_LINES

    @property
    def end_line(self) -> int:
        return self.first_line + CHUNK_LINES


def definitions(connection: sqlite3.Connection, name: str, limit: int) -> list[FoundDefinition]:
    rows = connection.execute(
        f"SELECT f.path, f.language, {_DEFINITION} FROM definitions d JOIN files f ON f.id = d.id >> {FILE_SHIFT}"
        " WHERE d.name = ? LIMIT ?",
        (name, limit),
    )
    return [FoundDefinition(path, language, definition_of(row)) for path, language, *row in rows.fetchall()]


def definitions_in(connection: sqlite3.Connection, path: str) -> list[Definition]:
    span = _span_of(connection, path)
    rows = connection.execute(f"SELECT {_DEFINITION} FROM definitions d WHERE d.id BETWEEN ? AND ?", span)
    return [definition_of(row) for row in rows.fetchall()]


def version(connection: sqlite3.Connection) -> int:
    """Changes whenever another connection has written."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def hash_of(connection: sqlite3.Connection, path: str) -> bytes | None:
    row = connection.execute("SELECT hash FROM files WHERE path = ?", (path,)).fetchone()
    return bytes(row[0]) if row else None


def imports_of(connection: sqlite3.Connection, path: str) -> list[Import]:
    span = _span_of(connection, path)
    rows = connection.execute("SELECT module, names, start FROM imports WHERE id BETWEEN ? AND ?", span)
    return [import_of(row) for row in rows.fetchall()]


def chunk_numbers(connection: sqlite3.Connection, word: str, limit: int) -> list[int]:
    """Numbers of chunks that hold a word, at most `limit`. The word is one of `parse.words_of`."""
    quoted = '"' + word.replace('"', '""') + '"'
    rows = connection.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (quoted, limit))
    return [number for (number,) in rows.fetchall()]


def num_chunks_with(connection: sqlite3.Connection, names: Sequence[str]) -> dict[str, int]:
    """For each name how many chunks hold it, `MANY_CHUNKS` at most."""
    return {name: len(chunk_numbers(connection, name.lower(), MANY_CHUNKS)) for name in names}


def chunks_of(connection: sqlite3.Connection, numbers: list[int]) -> dict[int, Chunk]:
    """The chunks with these numbers."""
    ids = list({number >> FILE_SHIFT for number in numbers})
    marks = ", ".join("?" * len(ids))
    paths = dict(connection.execute(f"SELECT id, path FROM files WHERE id IN ({marks})", ids).fetchall())
    low = (1 << FILE_SHIFT) - 1
    return {n: Chunk(paths[n >> FILE_SHIFT], n & low) for n in numbers if n >> FILE_SHIFT in paths}


def paths(connection: sqlite3.Connection) -> list[str]:
    return [path for (path,) in connection.execute("SELECT path FROM files").fetchall()]


def existing(connection: sqlite3.Connection, paths: Sequence[str]) -> set[str]:
    """Those of the paths that are indexed."""
    found: set[str] = set()
    for start in range(0, len(paths), _VARIABLES):
        some = paths[start : start + _VARIABLES]
        marks = ",".join("?" * len(some))
        found.update(path for (path,) in connection.execute(f"SELECT path FROM files WHERE path IN ({marks})", some))
    return found


def holds_files(connection: sqlite3.Connection, folder: str) -> bool:
    """Whether files of a folder, named without a slash at its end, are in the index."""
    span = (folder + "/", folder + "0")  # "0" follows "/"
    return connection.execute("SELECT 1 FROM files WHERE path >= ? AND path < ?", span).fetchone() is not None


def starting_with(connection: sqlite3.Connection, prefix: str) -> list[str]:
    """Some files whose paths begin so, in order."""
    span = (prefix, prefix + "\U0010ffff", _MAX_NEIGHBOURS)
    rows = connection.execute("SELECT path FROM files WHERE path >= ? AND path < ? LIMIT ?", span)
    return [path for (path,) in rows.fetchall()]


def num_chunks(connection: sqlite3.Connection) -> int:
    """Roughly: as many as there are numbers of files would have with a few chunks each. Only its logarithm is used."""
    row = connection.execute("SELECT max(id) FROM files").fetchone()
    return int(row[0] or 0) * _CHUNKS_PER_FILE + 1


# Of the standard library's files: 17,377 chunks in 2,252 files.
_CHUNKS_PER_FILE = 8


def num_files(connection: sqlite3.Connection) -> tuple[int, dict[str, int]]:
    """How many files are indexed, and how many were read and skipped for each reason."""
    counts = dict(connection.execute("SELECT skipped, count(*) FROM files GROUP BY skipped").fetchall())
    return counts.pop("", 0), counts


def num_definitions(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM definitions").fetchone()[0])


def definition_of(row: Sequence[Any]) -> Definition:
    name, kind, start, end, signature, doc, parent, bases = row
    return Definition(
        name, SymbolKind(kind), start, end, signature, doc, parent, tuple(bases.split(" ")) if bases else ()
    )


def import_of(row: Sequence[Any]) -> Import:
    module, names, start = row
    return Import(module, tuple(names.split(" ")) if names else (), start)


def _span_of(connection: sqlite3.Connection, path: str) -> tuple[int, int]:
    """Numbers of what belongs to a file: none for one that is not there."""
    row = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    file_id = row[0] if row else -2
    return file_id << FILE_SHIFT, ((file_id + 1) << FILE_SHIFT) - 1
