"""Writes parsed files into the database, each batch in one transaction. Knows no files and no processes."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lsp_complete.context.parse import ParsedFile
from lsp_complete.context.store import FILE_SHIFT

# Pages that deletions left empty are given back when they are more than this share of the file.
_MAX_FREE_SHARE = 0.25
# Merging rewrites all words, a tenth of the time of a build; below this the merges that FTS5 does itself are enough.
_MIN_SHARE_TO_MERGE = 0.3


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was when it was indexed."""

    id: int
    size: int
    mtime_ns: int
    hash: bytes


def known_files(connection: sqlite3.Connection) -> dict[str, KnownFile]:
    rows = connection.execute("SELECT path, id, size, mtime_ns, hash FROM files")
    return {path: KnownFile(*row) for path, *row in rows}


def known_among(connection: sqlite3.Connection, paths: Iterable[str]) -> dict[str, KnownFile]:
    """The same for a few files."""
    found: dict[str, KnownFile] = {}
    for path in paths:
        row = connection.execute("SELECT id, size, mtime_ns, hash FROM files WHERE path = ?", (path,)).fetchone()
        if row is not None:
            found[path] = KnownFile(*row)
    return found


def write_files(connection: sqlite3.Connection, files: Iterable[ParsedFile], known: dict[str, KnownFile]) -> None:
    """Put files in place of what is known of them. One with the known hash is only marked as seen."""
    with _transaction(connection):
        fresh: list[ParsedFile] = []
        for file in files:
            before = known.get(file.path)
            if before is not None and file.hash and file.hash == before.hash:
                values = (file.size, file.mtime_ns, before.id)
                connection.execute("UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?", values)
                continue
            if before is not None:
                _delete(connection, before.id)
            fresh.append(file)
        _insert(connection, fresh)


def remove_files(connection: sqlite3.Connection, ids: Iterable[int]) -> None:
    with _transaction(connection):
        for file_id in ids:
            _delete(connection, file_id)


def tidy(connection: sqlite3.Connection, share_written: float) -> None:
    """After an update that wrote so large a share of all files: merge the words, which halves the time of a query, give
    back free pages, and empty the log where no reader is in the way."""
    if share_written > _MIN_SHARE_TO_MERGE:
        connection.execute("INSERT INTO words (words) VALUES ('optimize')")
    free, total = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
    if free > total * _MAX_FREE_SHARE:
        connection.execute("PRAGMA incremental_vacuum").fetchall()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _insert(connection: sqlite3.Connection, files: list[ParsedFile]) -> None:
    """Numbers the files behind those that are there, and writes all rows of a table at once."""
    first_id = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM files").fetchone()[0]
    numbered = [(file_id, file_id << FILE_SHIFT, file) for file_id, file in enumerate(files, first_id)]
    connection.executemany(
        "INSERT INTO files (id, path, size, mtime_ns, hash, language, skipped) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(id_, one.path, one.size, one.mtime_ns, one.hash, one.language, one.skipped) for id_, _, one in numbered],
    )
    connection.executemany(
        "INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, *row) for _, first, one in numbered for number, row in enumerate(one.definitions, first)],
    )
    connection.executemany(
        "INSERT INTO imports VALUES (?, ?, ?, ?)",
        [(number, *row) for _, first, one in numbered for number, row in enumerate(one.imports, first)],
    )
    connection.executemany(
        "INSERT INTO words (rowid, chunk) VALUES (?, ?)",
        [(number, chunk) for _, first, one in numbered for number, chunk in enumerate(one.chunks, first) if chunk],
    )


def _delete(connection: sqlite3.Connection, file_id: int) -> None:
    span = (file_id << FILE_SHIFT, ((file_id + 1) << FILE_SHIFT) - 1)
    for statement in (
        "DELETE FROM definitions WHERE id BETWEEN ? AND ?",
        "DELETE FROM imports WHERE id BETWEEN ? AND ?",
        "DELETE FROM words WHERE rowid BETWEEN ? AND ?",
    ):
        connection.execute(statement, span)
    connection.execute("DELETE FROM files WHERE id = ?", (file_id,))
