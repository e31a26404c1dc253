"""The file of an index: opened, made, set aside when it cannot be used, and written by one process at a time.

SQLite in WAL mode: any number of processes read while one writes. Who writes holds a lease, a lock of the operating
system beside the database. A lease with a heartbeat would be a guess: a process that sleeps with its laptop, or writes
for longer than the heart may rest, looks dead and is not, and a dead one looks alive for a while. The system knows: the
lock is free the moment its holder dies, however that came, and never before. Who is left tries again every few seconds
(heir.py). Only the holder of the lease ever makes or renames a database, and nothing is deleted under another process.
Knows nothing of files' contents (rows.py, queries.py).
"""

import hashlib
import os
import sqlite3
import zlib
from enum import StrEnum
from functools import cache
from pathlib import Path

from filelock import FileLock, Timeout

from lsp_complete.text.languages import grammar_folder

# Raise it when files are parsed or stored otherwise than before. Tables and grammars are counted in by themselves.
_FORMAT = 2
# How long a writer waits for another one that holds no lease; then it tries again at the next update.
_BUSY_TIMEOUT_S = 0.5
# The write-ahead log is cut to this when it has been copied back, so that a large build leaves no large file.
_WAL_BYTES = 16_000_000
# The log is copied back when it has so many pages, 16 MB: pages that change often are copied once, not with each batch.
_WAL_PAGES = 4_000
# SQLite's page cache for the writer and for the reader, in KiB.
_CACHE_KIB = 16_384
# Words that full-text search gathers in memory before it writes them: larger segments, fewer merges.
_WORDS_BUFFER_BYTES = 16_000_000

# Numbers of definitions, imports and chunks begin with the number of their file, so that no index by file is needed.
FILE_SHIFT = 20

_TABLES = f"""
CREATE TABLE files (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  hash BLOB NOT NULL, language TEXT NOT NULL, skipped TEXT NOT NULL
);
CREATE TABLE definitions (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  signature TEXT NOT NULL, doc TEXT NOT NULL, parent TEXT NOT NULL, bases TEXT NOT NULL
);
CREATE INDEX definitions_by_name ON definitions (name);
CREATE TABLE imports (id INTEGER PRIMARY KEY, module TEXT NOT NULL, names TEXT NOT NULL, start INTEGER NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (chunk, detail = none, columnsize = 0, tokenize = "ascii tokenchars '_$'");
INSERT INTO words (words, rank) VALUES ('hashsize', {_WORDS_BUFFER_BYTES});
"""


class Trouble(StrEnum):
    """What an error of the database means for us. The value is what a user is told, once."""

    BUSY = "another process is writing the index"
    UNUSABLE = "the index cannot be written here (disk full or read-only)"
    BROKEN = "the index was damaged or of another version, and is built again"


class StoreError(Exception):
    def __init__(self, trouble: Trouble, detail: str = "") -> None:
        super().__init__(f"{trouble}: {detail}" if detail else trouble.value)
        self.trouble = trouble


def trouble_of(error: sqlite3.Error | OSError) -> Trouble:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Trouble.BUSY
    broken = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA)
    return Trouble.BROKEN if code in broken else Trouble.UNUSABLE


class Store:
    """One root's database. `writer` is None in a process that does not hold the lease. Not for several threads at
    once; the index has a lock for each of the two connections."""

    def __init__(self, file: Path, *, may_write: bool = True) -> None:
        """Opens nothing yet. One that may not write leaves the lease to others and makes no file."""
        self.file = file
        self.may_write = may_write
        self.reader: sqlite3.Connection | None = None
        self.writer: sqlite3.Connection | None = None
        self.num_set_aside = 0
        self._inode: int | None = None
        self._lease = FileLock(f"{file}.lock", blocking=False, thread_local=False)

    def open(self) -> None:
        """Connect, and make the database where this process may. Raises StoreError; then nothing is open."""
        try:
            if self.may_write:
                self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                if self._take_lease():
                    self._open_writer()
            self._open_reader()
        except (sqlite3.Error, OSError) as error:
            self.close()
            raise StoreError(trouble_of(error), str(error)) from error

    def close(self) -> None:
        for connection in (self.reader, self.writer):
            if connection is not None:
                connection.close()
        self.reader = self.writer = None
        self._lease.release()

    def set_aside(self) -> None:
        """Rename a database that cannot be used, over one that was set aside before. Needs the lease."""
        for connection in (self.reader, self.writer):
            if connection is not None:
                connection.close()
        self.reader = self.writer = None
        for ending in ("-wal", "-shm", ""):
            path = Path(f"{self.file}{ending}")
            if path.exists():
                os.replace(path, f"{self.file}.aside{ending}")
        self.num_set_aside += 1

    @property
    def num_bytes(self) -> int:
        paths = (Path(f"{self.file}{ending}") for ending in ("", "-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def _take_lease(self) -> bool:
        if not self._lease.is_locked:
            try:
                self._lease.acquire()
            except Timeout:
                return False
        return True

    def _open_reader(self) -> None:
        """Again where another process has set aside the file that we read, and made a new one."""
        inode = self.file.stat().st_ino if self.file.exists() else None
        if self.reader is not None and inode != self._inode:
            self.reader.close()
            self.reader = None
        if self.reader is None and inode is not None:
            self.reader, self._inode = _reader(self.file), inode

    def _open_writer(self) -> None:
        if self.writer is not None:
            return
        try:
            self.writer = _writer(self.file)
        except sqlite3.Error as error:
            if trouble_of(error) is not Trouble.BROKEN:
                raise
            self.set_aside()
            self.writer = _writer(self.file)


@cache
def schema_version() -> int:
    """A number that changes with what a database would hold of the same files."""
    version = zlib.crc32(f"{_FORMAT}{_TABLES}".encode())
    for path in sorted(grammar_folder().glob("*/*.*")):
        version = zlib.crc32(path.read_bytes(), version)
    return version & 0x7FFF_FFFF or 1


def empty(connection: sqlite3.Connection) -> None:
    """Empty the database in one step: whoever reads sees all of the old or none of it."""
    drops = "".join(f"DROP TABLE {name};" for name in ("files", "definitions", "imports", "words"))
    try:
        connection.executescript(f"BEGIN IMMEDIATE;{drops}{_TABLES}COMMIT;")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def database_file(folder: Path, root: str) -> Path:
    """Where the database of a canonical root lies in a folder of databases."""
    return folder / f"{hashlib.sha256(root.rstrip('/').encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.sqlite"


def _writer(file: Path) -> sqlite3.Connection:
    connection = _connect(file)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_WAL_PAGES}")
        if _version(connection) == 0:
            connection.executescript(f"BEGIN IMMEDIATE;{_TABLES}PRAGMA user_version = {schema_version()};COMMIT;")
        _check_version(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _reader(file: Path) -> sqlite3.Connection | None:
    """None where the database is not there yet, or is not one that we can read: its writer will see to that."""
    connection = _connect(file)
    try:
        connection.execute("PRAGMA query_only = 1")
        _check_version(connection)
    except sqlite3.Error:
        connection.close()
        return None
    return connection


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_version(connection: sqlite3.Connection) -> None:
    """A version that is not ours counts as damage: there is nothing in an index that cannot be built again."""
    version = _version(connection)
    if version != schema_version():
        error = sqlite3.DatabaseError(f"schema version {version}")
        error.sqlite_errorcode = sqlite3.SQLITE_SCHEMA
        raise error
    connection.execute("SELECT count(*) FROM (SELECT 1 FROM files, definitions, imports LIMIT 1)").fetchone()
    connection.execute("SELECT rowid FROM words LIMIT 1").fetchone()
