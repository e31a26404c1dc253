"""Who may use the engine now, who waits, and who is turned away. Knows nothing of what they ask."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from lsp_complete.protocol.errors import DeadlinePassed, RateLimited

_RETRY_AFTER_S = 1.0


class Admission:
    """`num_slots` requests at once, `queue_length` more in order of arrival, RateLimited for the rest."""

    def __init__(self, num_slots: int, queue_length: int) -> None:
        self._slots = asyncio.Semaphore(num_slots)
        self._queue_length = queue_length
        self.num_running = 0
        self.num_waiting = 0

    @contextlib.asynccontextmanager
    async def enter(self, deadline: float | None = None) -> AsyncGenerator[None, None]:
        """Hold a slot. DeadlinePassed if none is free by `deadline`, seconds of the event loop's clock."""
        await self._wait(deadline)
        self.num_running += 1
        try:
            yield
        finally:
            self.num_running -= 1
            self._slots.release()

    async def _wait(self, deadline: float | None) -> None:
        if self._slots.locked() and self.num_waiting >= self._queue_length:
            raise RateLimited("the queue is full", _RETRY_AFTER_S)
        self.num_waiting += 1
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
        except TimeoutError:
            raise DeadlinePassed("the deadline passed in the queue", _RETRY_AFTER_S) from None
        finally:
            self.num_waiting -= 1
