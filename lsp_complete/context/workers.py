"""Parses batches of files in processes of low priority, beside the editor's. Knows no database.

Spawned, never forked: the server has threads. A worker reads batches from a pipe and ends when the other end is closed,
however that came. It counts the files it begins where the parent can see it: so the parent knows which file a worker
died of, or has been at for too long, without asking.
"""

import contextlib
import errno
import gc
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.sharedctypes import Synchronized
from typing import cast

import psutil

from lsp_complete.context.parse import ParsedFile, Unreadable, parse_files, too_slow

# More than this many files are worth the start of processes, a quarter of a second; fewer are parsed here and now.
MIN_FILES_FOR_PROCESSES = 64
# A batch is what one transaction holds. Its result is unpickled in one go while the server's event loop waits, so it is
# small.
_BATCH_BYTES = 400_000
_BATCH_FILES = 60
# Paths of a batch fit into a pipe, so that neither end ever waits for the other to read.
_BATCH_PATH_CHARACTERS = 8_000
# One under way and one that waits, so that no worker idles while results are written.
_BATCHES_EACH = 2
# More would only take memory: the writer keeps up with three or four.
_MAX_WORKERS = 4
_NICENESS = 10
# How often workers are looked after while none has a result.
_LOOK_S = 0.5

Work = tuple[str, bytes, int]
"""Relative path, known hash, size."""
Batch = list[tuple[str, bytes]]
Results = list[ParsedFile | Unreadable]


@dataclass(frozen=True, slots=True)
class Limits:
    """`max_file_s`: CPU time of a worker for one file, ten times what the largest file of real code takes. A step of
    tree-sitter cannot be interrupted and may take minutes, so the worker is killed."""

    max_file_s: float = 3.0
    min_files: int = MIN_FILES_FOR_PROCESSES


DEFAULT_LIMITS = Limits()


def parse_all(root: str, work: list[Work], limits: Limits = DEFAULT_LIMITS) -> Generator[Results, None, None]:
    """Results batch by batch, in no particular order, and now and then none, so that a caller can change its mind.
    Closing the iterator ends the processes.

    A file that its worker dies of is reported as unreadable, one that takes too long as skipped; what else was in their
    batches is parsed again.
    """
    batches = deque(_batches(work))
    if len(work) < limits.min_files:
        yield from (parse_files(root, batch) for batch in batches)
        return
    workers: list[_Worker] = []
    try:
        while batches or any(worker.batches for worker in workers):
            _hand_out(root, batches, workers)
            if not workers:  # no process can be had
                yield parse_files(root, batches.popleft())
                continue
            yield from _taken(workers)
            for worker in [worker for worker in workers if worker.is_dead or worker.is_stuck(limits.max_file_s)]:
                workers.remove(worker)
                yield from _given_up(root, worker, batches)
    finally:
        for worker in workers:
            worker.kill()


def num_workers() -> int:
    return max(1, min(_MAX_WORKERS, os.cpu_count() or 1))


def _hand_out(root: str, batches: deque[Batch], workers: list["_Worker"]) -> None:
    with contextlib.suppress(OSError):
        while len(workers) < min(num_workers(), len(batches)):
            workers.append(_Worker(root))
    for worker in workers * _BATCHES_EACH:
        if batches and len(worker.batches) < _BATCHES_EACH:
            worker.give(batches.popleft())


def _taken(workers: list["_Worker"]) -> Iterator[Results]:
    ready = wait([worker.connection for worker in workers], _LOOK_S)
    if not ready:
        yield []
    for worker in workers:
        if worker.connection in ready and (results := worker.take()) is not None:
            yield results


def _given_up(root: str, worker: "_Worker", batches: deque[Batch]) -> Iterator[Results]:
    """The file that was under way when a worker was lost; all others that it had go back to `batches`."""
    is_dead, number = worker.is_dead, worker.current
    worker.kill()
    if not worker.batches:
        return
    path, _ = [file for batch in worker.batches for file in batch][number]
    batches.extendleft(filter(None, ([file for file in batch if file[0] != path] for batch in worker.batches)))
    yield [Unreadable(path, errno.ECHILD) if is_dead else too_slow(root, path)]


class _Worker:
    """A process, and the batches that it has been given and has not given back."""

    def __init__(self, root: str) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.batches: deque[Batch] = deque()
        self._num_begun = context.RawValue("Q", 0)
        self._num_done = 0
        self._seen = (-1, 0.0)
        self._is_broken = False
        self._process = context.Process(target=_work, args=(root, theirs, self._num_begun), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def current(self) -> int:
        """The number among its files of the one that is under way."""
        return max(0, int(self._num_begun.value) - 1 - self._num_done)

    def give(self, batch: Batch) -> None:
        self.batches.append(batch)
        try:
            self.connection.send(batch)
        except OSError:
            self._is_broken = True

    def take(self) -> Results | None:
        """None where the worker has died."""
        try:
            results = cast(Results, self.connection.recv())
        except (OSError, EOFError):
            self._is_broken = True
            return None
        self._num_done += len(self.batches.popleft())
        return results

    @property
    def is_dead(self) -> bool:
        return self._is_broken or not self._process.is_alive()

    def is_stuck(self, max_file_s: float) -> bool:
        """By CPU time: a machine that sleeps or is busy with other things is no fault of the file."""
        begun, used_s = self._num_begun.value, _cpu_s(self._process.pid)
        if begun != self._seen[0]:
            self._seen = begun, used_s
        return bool(self.batches) and begun > 0 and used_s - self._seen[1] > max_file_s

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def _cpu_s(pid: int | None) -> float:
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _batches(work: Iterable[Work]) -> Iterator[Batch]:
    batch: Batch = []
    num_bytes = num_characters = 0
    for path, known_hash, size in work:
        batch.append((path, known_hash))
        num_bytes, num_characters = num_bytes + size, num_characters + len(path)
        is_full = num_bytes >= _BATCH_BYTES or num_characters >= _BATCH_PATH_CHARACTERS or len(batch) >= _BATCH_FILES
        if is_full:
            yield batch
            batch, num_bytes, num_characters = [], 0, 0
    if batch:
        yield batch


def _work(root: str, connection: Connection, num_begun: "Synchronized[int]") -> None:
    """What a worker does. Nothing in it makes cycles, so there is no garbage to look for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    with contextlib.suppress(OSError, ImportError, psutil.Error):
        _lower_priority()
    with contextlib.suppress(OSError, EOFError):
        while True:
            connection.send(parse_files(root, connection.recv(), num_begun))


def _lower_priority() -> None:
    if sys.platform == "win32":
        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(_NICENESS)
