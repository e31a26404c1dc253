"""Ends the server when its editor is gone, also when stdin stays open and when the event loop hangs."""

import os
import threading
import time
from collections.abc import Callable

import psutil

_POLL_S = 1.0
# An orderly end may take so long; with the poll this stays within five seconds.
_GRACE_S = 3.0


def watch_parent(pid: int, on_death: Callable[[], object]) -> None:
    """Call `on_death` from a thread once the process is gone, and end this process soon after, come what may."""
    threading.Thread(target=_watch, args=(pid, on_death), name="parent", daemon=True).start()


def _watch(pid: int, on_death: Callable[[], object]) -> None:
    parent = _process(pid)
    while parent is not None and _is_alive(parent):
        time.sleep(_POLL_S)
    on_death()
    time.sleep(_GRACE_S)
    os._exit(1)


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except (psutil.Error, ValueError, OverflowError):
        return None


def _is_alive(process: psutil.Process) -> bool:
    """False, too, for a zombie and for another process that has got the number since."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
