"""An event loop whose time leaps over waits, so that an hour of typing takes about a minute.

Its time is what this process has computed, and what was leapt over: work takes as long as it takes, whatever else the
machine does, and waiting takes nothing. It leaps where nothing is ready and only timers are waited for; while a thread
of an executor works it waits like any other loop. Threads that are started elsewhere, and other processes, are not
seen: who waits for those needs a real clock.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple, Unpack

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")
# What an executor has done is told by a wake-up call of its own; so this only bounds a wait that would be without end.
_LONGEST_WAIT_S = 3600.0


def run(main: Coroutine[Any, Any, _T], *, is_virtual: bool) -> _T:
    """As `asyncio.run`."""
    with asyncio.Runner(loop_factory=VirtualLoop if is_virtual else None) as runner:
        return runner.run(main)


class VirtualLoop(asyncio.SelectorEventLoop):
    """`skipped_s` is what was leapt over so far."""

    def __init__(self) -> None:
        self.skipped_s = 0.0
        self._num_jobs = 0
        super().__init__(_LeapingSelector(selectors.DefaultSelector(), self._leap))

    def time(self) -> float:
        return time.process_time() + self.skipped_s

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[_Ts]], _T], *args: *_Ts
    ) -> asyncio.Future[_T]:
        future = super().run_in_executor(executor, func, *args)
        self._num_jobs += 1
        future.add_done_callback(self._done)
        return future

    def _done(self, _: asyncio.Future[Any]) -> None:
        self._num_jobs -= 1

    def _leap(self, wait_s: float) -> bool:
        if self._num_jobs:
            return False
        self.skipped_s += wait_s
        return True


class _LeapingSelector(selectors.BaseSelector):
    """Looks for what is ready. Where nothing is, `leap` may take the place of the wait."""

    def __init__(self, selector: selectors.BaseSelector, leap: Callable[[float], bool]) -> None:
        self._selector, self._leap = selector, leap

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._selector.select(0)
        if ready or timeout is None or timeout <= 0:
            return ready if ready or timeout is not None else self._selector.select(_LONGEST_WAIT_S)
        return [] if self._leap(timeout) else self._selector.select(timeout)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._selector.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._selector.modify(fileobj, events, data)

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._selector.get_key(fileobj)

    def get_map(self) -> Any:
        return self._selector.get_map()

    def close(self) -> None:
        self._selector.close()
