"""Parses batches of files in processes of low priority, beside the editor's. Knows no database.

Spawned, never forked: the server has threads. A worker ends itself when its parent is gone, however that ended.
"""

import contextlib
import errno
import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from multiprocessing.connection import wait

from lsp_complete.context.parse import ParsedFile, Unreadable, parse_files

# More than this many files are worth the start of processes, a quarter of a second; fewer are parsed here and now.
MIN_FILES_FOR_PROCESSES = 64
# A batch is what is lost when a build is cancelled and what one transaction holds. Its result is unpickled in one go
# while the server's event loop waits, so it is small.
_BATCH_BYTES = 400_000
_BATCH_FILES = 60
# Batches that wait at each worker, so that none idles while results are written.
_BATCHES_AHEAD = 2
# More would only take memory: the writer keeps up with three or four.
_MAX_WORKERS = 4
_NICENESS = 10

Work = tuple[str, bytes, int]
"""Relative path, known hash, size."""
Batch = list[tuple[str, bytes]]
Results = list[ParsedFile | Unreadable]


def parse_all(
    root: str, work: list[Work], executor: Callable[[], Executor] | None = None
) -> Generator[Results, None, None]:
    """Results batch by batch, in no particular order of batches. Closing the iterator ends the processes.

    A process that dies takes all batches with it that were under way. They are tried again one by one, one that kills
    its process again file by file, and the file that does it is reported as unreadable.
    """
    batches = deque(_batches(work))
    suspects: deque[Batch] = deque()
    if executor is None and len(work) < MIN_FILES_FOR_PROCESSES:
        yield from (parse_files(root, batch) for batch in batches)
        return
    while batches or suspects:
        with (executor or process_executor)() as pool:
            try:
                yield from _one_by_one(pool, root, suspects)
                yield from _in_parallel(pool, root, batches, suspects)
            except BrokenExecutor:
                continue
            finally:
                pool.shutdown(wait=False, cancel_futures=True)


def _one_by_one(pool: Executor, root: str, suspects: deque[Batch]) -> Iterator[Results]:
    while suspects:
        batch = suspects.popleft()
        try:
            yield pool.submit(parse_files, root, batch).result()
        except BrokenExecutor:
            suspects.extendleft([one] for one in batch if len(batch) > 1)
            if len(batch) == 1:
                yield [Unreadable(batch[0][0], errno.ECHILD)]
            raise


def _in_parallel(pool: Executor, root: str, batches: deque[Batch], suspects: deque[Batch]) -> Iterator[Results]:
    """Takes from `batches`; what is under way when a process dies goes to `suspects`."""
    waiting: deque[tuple[Batch, Future[Results]]] = deque()
    try:
        while batches or waiting:
            while batches and len(waiting) <= _BATCHES_AHEAD * num_workers():
                waiting.append((batches[0], pool.submit(parse_files, root, batches[0])))
                batches.popleft()
            result = waiting[0][1].result()
            waiting.popleft()
            yield result
    except BrokenExecutor:
        suspects.extend(batch for batch, _ in waiting)
        if not waiting and batches:  # not even one could be handed over
            suspects.append(batches.popleft())
        raise


def process_executor() -> Executor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(num_workers(), mp_context=context, initializer=_start_worker)


def num_workers() -> int:
    return max(1, min(_MAX_WORKERS, os.cpu_count() or 1))


def _batches(work: Iterable[Work]) -> Iterator[Batch]:
    batch: Batch = []
    num_bytes = 0
    for path, known_hash, size in work:
        batch.append((path, known_hash))
        num_bytes += size
        if num_bytes >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, num_bytes = [], 0
    if batch:
        yield batch


def _start_worker() -> None:
    with contextlib.suppress(OSError, ImportError):
        _lower_priority()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _lower_priority() -> None:
    if sys.platform == "win32":
        import psutil

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(_NICENESS)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
