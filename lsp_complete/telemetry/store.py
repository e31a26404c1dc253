"""The events on this machine: one SQLite file, private to the user, bounded in size and age.

Any number of processes write it at once; each event has an id and is in it once. What is committed survives the death
of the process. A file that is damaged, or of another version, is set aside. Not for several threads at once: each opens
a store of its own. Raises sqlite3.Error and OSError; who records (client/recorder.py) lives with that.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from filelock import FileLock

from lsp_complete.protocol.events import Hex, Record
from lsp_complete.protocol.events_wire import record_from_dict, record_to_dict

FILE = "events.sqlite"

_SCHEMA_VERSION = 1
# Other processes hold the file for milliseconds; behind that a writer tries again with its next batch.
_BUSY_TIMEOUT_S = 0.5
_SETTING_ASIDE_S = 2.0
# Some 150,000 events: a season of daily use.
_MAX_BYTES = 50_000_000
_MAX_AGE_S = 90 * 86_400.0
# A file that is too large is emptied to this share of its bound, so that it is not at once too large again.
_KEPT_SHARE = 0.9
_ADDS_TO_PRUNE = 500

_SCHEMA = f"""
CREATE TABLE events (id TEXT PRIMARY KEY, at_s REAL NOT NULL, is_queued INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX events_by_time ON events (at_s);
CREATE INDEX events_queued ON events (at_s) WHERE is_queued;
PRAGMA user_version = {_SCHEMA_VERSION};
"""
_BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA)


class EventStore:
    """Opens nothing before its first use."""

    def __init__(self, file: Path, *, max_bytes: int = _MAX_BYTES, max_age_s: float = _MAX_AGE_S) -> None:
        self.file = file
        self._max_bytes, self._max_age_s = max_bytes, max_age_s
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._num_adds = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, records: Iterable[Record], *, is_queued: bool = False) -> int:
        """Keep the events, to be sent if `is_queued`. Gives how many were not there yet."""
        rows = [(record.id, record.at_s, is_queued, _body(record)) for record in records]
        with self._writing() as connection:
            before = connection.total_changes
            connection.executemany("INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?)", rows)
            num_new = connection.total_changes - before
        if self._num_adds % _ADDS_TO_PRUNE == 0:
            self.prune(time.time())
        self._num_adds += 1
        return num_new

    def queued(self, limit: int) -> list[Record]:
        """Events that are still to be sent, the oldest first."""
        query = "SELECT body FROM events WHERE is_queued ORDER BY at_s LIMIT ?"
        with self._writing() as connection:
            return _records(connection.execute(query, (limit,)))

    def sent(self, ids: Iterable[Hex]) -> None:
        with self._writing() as connection:
            connection.executemany("UPDATE events SET is_queued = 0 WHERE id = ?", [(one,) for one in ids])

    def discard_queue(self) -> None:
        """What has not been sent never will be."""
        if self.file.exists():
            with self._writing() as connection:
                connection.execute("UPDATE events SET is_queued = 0 WHERE is_queued")

    def since(self, at_s: float) -> list[Record]:
        """The events from a time on, in their order; none where there is no file."""
        if not self.file.exists():
            return []
        with self._writing() as connection:
            return _records(connection.execute("SELECT body FROM events WHERE at_s >= ? ORDER BY at_s", (at_s,)))

    def prune(self, now_s: float) -> None:
        """Forget what is too old, and the oldest of what is too much."""
        with self._writing() as connection:
            connection.execute("DELETE FROM events WHERE at_s < ?", (now_s - self._max_age_s,))
            num_bytes = _num_bytes(connection)
            if num_bytes > self._max_bytes:
                (count,) = connection.execute("SELECT count(*) FROM events").fetchone()
                oldest = "DELETE FROM events WHERE id IN (SELECT id FROM events ORDER BY at_s LIMIT ?)"
                connection.execute(oldest, (round(count * (1 - _KEPT_SHARE * self._max_bytes / num_bytes)),))
        self._open().execute("PRAGMA incremental_vacuum").fetchall()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction. One in a broken file sets that aside, and fails: the next one has a new file."""
        try:
            with self._open() as connection:
                yield connection
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _BROKEN:
                self._set_aside()
            raise

    def _open(self) -> sqlite3.Connection:
        """Again where another process has set aside the file that was open here."""
        if self._connection is not None and _inode(self.file) == self._inode:
            return self._connection
        self.close()
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))
        self.file.chmod(0o600)
        self._inode = _inode(self.file)
        try:
            self._connection = _connected(self.file)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _BROKEN:
                raise
            self._set_aside()
            return self._open()
        return self._connection

    def _set_aside(self) -> None:
        self.close()
        with FileLock(f"{self.file}.lock", timeout=_SETTING_ASIDE_S):
            if _inode(self.file) == self._inode:
                for ending in ("-wal", "-shm", ""):
                    if (path := Path(f"{self.file}{ending}")).exists():
                        os.replace(path, f"{self.file}.aside{ending}")


def _connected(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)
    try:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        _ensure_schema(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _ensure_schema(connection: sqlite3.Connection) -> None:
    """Two processes may get here at once: the second finds what the first has made."""
    if _version(connection) == 0:
        connection.execute("BEGIN IMMEDIATE")
        if _version(connection) == 0:
            for statement in _SCHEMA.strip().split(";\n"):
                connection.execute(statement)
        connection.commit()
    if _version(connection) != _SCHEMA_VERSION:
        error = sqlite3.DatabaseError("another version")
        error.sqlite_errorcode = sqlite3.SQLITE_SCHEMA
        raise error


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _num_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _inode(file: Path) -> int:
    return file.stat().st_ino if file.exists() else 0


def _body(record: Record) -> str:
    return json.dumps(record_to_dict(record), separators=(",", ":"))


def _records(rows: Iterable[tuple[str]]) -> list[Record]:
    """Those of a later version that make no sense here are passed over."""
    found = []
    for (body,) in rows:
        try:
            found.append(record_from_dict(json.loads(body)))
        except ValueError:
            continue
    return found
