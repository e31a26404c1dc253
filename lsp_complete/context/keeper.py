"""Keeps the database of an index usable: opened, taken over, set aside, or given up. Knows no query and no file.

Whatever happens to the database, the worst is an index that answers nothing, with one message that says why.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable
from typing import TypeVar

from lsp_complete.context.answers import IndexState
from lsp_complete.context.indexer import Update
from lsp_complete.context.store import Store, StoreError, Trouble, trouble_of

_log = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")

# Once for the attempt, and once more after a damaged database has been set aside.
_NUM_ATTEMPTS = 2


class Keeper:
    """Any thread may `ask` while another one `write`s."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.state = IndexState.EMPTY
        self.warnings: list[str] = []
        self.last = Update()
        self._is_damaged = False
        self._reading = threading.RLock()
        self._writing = threading.RLock()

    def connect(self) -> None:
        """Open the database, make it, or take over the lease of a process that has gone. Cheap when all is open."""
        with self._reading:
            if self.state is IndexState.OFF:
                return
            try:
                self.store.open()
            except StoreError as error:
                self._give_up(error.trouble)
                return
        if self.store.num_set_aside:
            self._warn(Trouble.BROKEN)
        if self.store.writer is None and self.store.may_write:
            self.state = IndexState.FOLLOWING
        elif self.state is IndexState.FOLLOWING or self._has_files():
            self.state = IndexState.READY

    def ask(self, query: Callable[[sqlite3.Connection], _Answer]) -> _Answer | None:
        """The answer of a query; None where the database cannot give one."""
        with self._reading:
            if self.store.reader is None:
                return None
            try:
                return query(self.store.reader)
            except sqlite3.Error as error:
                self._is_damaged |= trouble_of(error) is Trouble.BROKEN
            except ValueError:  # a name that cannot be encoded
                pass
        return None

    def write(self, run: Callable[[sqlite3.Connection], Update]) -> bool:
        """Run an update where this process may write, and say whether it came to its end. What it committed before it
        failed stays."""
        before = self.last
        with self._writing:
            self.connect()
            for _ in range(_NUM_ATTEMPTS):
                if self._is_damaged:
                    self._set_aside()
                if self.store.writer is None or self._attempt(run, self.store.writer):
                    break
            return self.last is not before and self.last.is_complete

    def close(self) -> None:
        with self._writing, self._reading:
            self.store.close()

    def _attempt(self, run: Callable[[sqlite3.Connection], Update], connection: sqlite3.Connection) -> bool:
        """Whether there is nothing left to try."""
        before, self.state = self.state, IndexState.BUILDING
        try:
            self.last = run(connection)
        except (sqlite3.Error, OSError) as error:
            self.state = before
            trouble = trouble_of(error)
            self._is_damaged = trouble is Trouble.BROKEN
            if not self._is_damaged:
                self._give_up(trouble)
            return not self._is_damaged
        except Exception:
            self.state = before
            _log.exception("the index could not be updated")
            return True
        self.state = IndexState.READY if self.last.is_complete else before
        return True

    def _set_aside(self) -> None:
        if self.store.writer is None:
            return
        with self._reading:
            try:
                self.store.set_aside()
            except OSError:
                self._give_up(Trouble.UNUSABLE)
                return
        self._is_damaged = False
        self.state = IndexState.EMPTY
        self.connect()

    def _give_up(self, trouble: Trouble) -> None:
        """For now where another process writes, which is no news to a user; for good where nobody can."""
        if trouble is Trouble.BUSY:
            return
        self._warn(Trouble.UNUSABLE)
        self.state = IndexState.OFF
        with self._reading:
            self.store.close()

    def _has_files(self) -> bool:
        return self.ask(lambda connection: connection.execute("SELECT 1 FROM files LIMIT 1").fetchone()) is not None

    def _warn(self, trouble: Trouble) -> None:
        if trouble.value not in self.warnings:
            self.warnings.append(trouble.value)
