"""Waits until the process that keeps an index is gone, and takes over then. Knows no database.

A thread that tries again every few seconds: the system frees a lock the moment its holder dies, and tells nobody.
"""

import threading
from collections.abc import Callable

# How long an index may be left to itself. A try costs a lock and a look at a file.
PERIOD_S = 5.0


class Heir:
    """`take_over` says whether there is nothing left to wait for."""

    def __init__(self, take_over: Callable[[], bool]) -> None:
        self._take_over = take_over
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def wait(self) -> None:
        """Start to wait, if not waiting already."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._try, name="index heir", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._is_over.set()

    def _try(self) -> None:
        while not self._is_over.wait(PERIOD_S) and not self._take_over():
            pass
