"""Who may use the engine now, who waits, and who is turned away. Knows nothing of what they ask.

Times are seconds of the event loop's clock.
"""

import asyncio
import contextlib
import math
from bisect import insort
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from enum import IntEnum
from statistics import harmonic_mean

from lsp_complete.protocol.errors import CompletionError, DeadlinePassed, QueueFull, Superseded, TooLate

_RETRY_AFTER_S = 1.0


class Tier(IntEnum):
    """The lower goes first. `WARMING` is what nobody waits for yet: prompts to be cached, questions asked ahead."""

    INVOKED = 0
    AUTOMATIC = 1
    WARMING = 2


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request as the queue sees it. `session` is empty where several requests of one may wait. `min_work_s`: what it
    takes at least from its slot to its first text."""

    tier: Tier = Tier.AUTOMATIC
    deadline: float = math.inf
    session: tuple[str, str] | None = None
    min_work_s: float = 0.0


@dataclass(slots=True, eq=False)
class _Waiter:
    ticket: Ticket
    number: int
    granted: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def __lt__(self, other: "_Waiter") -> bool:
        return self.order() < other.order()

    def order(self) -> tuple[Tier, float, int]:
        return self.ticket.tier, self.ticket.deadline, self.number


class Admission:
    """`num_slots` requests at once, `queue_length` more in order of tier, then deadline, then arrival.

    Of a session only the newest waits. Who comes too many is refused, or makes way for a better one; and so is whose
    deadline would pass before the first text, judged by how long slots were held of late, or are held now. That is
    judged again whenever a slot is free.
    """

    def __init__(self, num_slots: int, queue_length: int) -> None:
        self._num_slots = num_slots
        self._queue_length = queue_length
        self._queue: list[_Waiter] = []
        self._num_seen = 0
        self._held_s = Mean()
        self._since: list[float] = []
        self.num_running = 0

    @property
    def num_waiting(self) -> int:
        return len(self._queue)

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for a slot who would use it for more than what nobody waits for."""
        return bool(self._queue) and self._queue[0].ticket.tier < Tier.WARMING

    @property
    def waiting_per_slot(self) -> float:
        return len(self._queue) / self._num_slots

    @contextlib.asynccontextmanager
    async def enter(self, ticket: Ticket = Ticket()) -> AsyncGenerator[None, None]:
        """Hold a slot. Raises QueueFull, TooLate, Superseded, or DeadlinePassed while waiting."""
        if self.num_running < self._num_slots:
            self.num_running += 1
        else:
            await self._wait(ticket)
        loop = asyncio.get_running_loop()
        started = loop.time()
        is_short = ticket.tier < Tier.WARMING  # or it gives way
        self._since += [started] * is_short
        try:
            yield
        finally:
            if is_short:
                self._since.remove(started)
            self._held_s.note(loop.time() - started)
            self._release()
            self._refuse_hopeless()

    def expected_wait_s(self, ticket: Ticket) -> float:
        """Until a slot would be free for it: those that go before, and half of what is running."""
        num_before = sum(1 for waiter in self._queue if waiter.order() < (ticket.tier, ticket.deadline, self._num_seen))
        return self._wait_s(num_before)

    def _wait_s(self, num_before: int) -> float:
        """A slot that is held for long is not waited for where the others are given back meanwhile."""
        now, usual_s = asyncio.get_running_loop().time(), self._held_s.value
        held_s = [max(usual_s, now - since) for since in self._since]
        held_s += [usual_s] * (self._num_slots - len(held_s))
        return (num_before + 0.5) * harmonic_mean(held_s) / self._num_slots

    def _refuse_hopeless(self) -> None:
        now = asyncio.get_running_loop().time()
        for waiter in [*self._queue]:
            wait_s = self._wait_s(self._queue.index(waiter))
            if now + wait_s + waiter.ticket.min_work_s > waiter.ticket.deadline:
                self._turn_away(waiter, _too_late(wait_s))

    async def _wait(self, ticket: Ticket) -> None:
        self._replace_older(ticket)
        wait_s = self.expected_wait_s(ticket)
        if asyncio.get_running_loop().time() + wait_s + ticket.min_work_s > ticket.deadline:
            raise _too_late(wait_s)
        waiter = self._queued(ticket)
        try:
            async with asyncio.timeout_at(None if ticket.deadline == math.inf else ticket.deadline):
                await waiter.granted
        except TimeoutError:
            self._leave(waiter)
            raise DeadlinePassed("the deadline passed in the queue", _RETRY_AFTER_S) from None
        except BaseException:
            self._leave(waiter)
            raise

    def _replace_older(self, ticket: Ticket) -> None:
        """A newer question of a session makes its waiting one pointless, unless that is of a better tier."""
        for waiter in [*self._queue] if ticket.session else ():
            if waiter.ticket.session == ticket.session and waiter.ticket.tier >= ticket.tier:
                self._turn_away(waiter, Superseded())

    def _queued(self, ticket: Ticket) -> _Waiter:
        waiter = _Waiter(ticket, self._num_seen)
        self._num_seen += 1
        if len(self._queue) >= self._queue_length:
            if not self._queue or self._queue[-1] < waiter:
                raise QueueFull(retry_after_s=_RETRY_AFTER_S)
            self._turn_away(self._queue[-1], QueueFull(retry_after_s=_RETRY_AFTER_S))
        insort(self._queue, waiter)
        return waiter

    def _turn_away(self, waiter: _Waiter, error: CompletionError) -> None:
        self._queue.remove(waiter)
        waiter.granted.set_exception(error)

    def _leave(self, waiter: _Waiter) -> None:
        """Whoever gives up at the moment in which the slot is granted hands it on."""
        if waiter in self._queue:
            self._queue.remove(waiter)
            waiter.granted.cancel()
        elif waiter.granted.done() and not waiter.granted.cancelled() and waiter.granted.exception() is None:
            self._release()

    def _release(self) -> None:
        while self._queue:
            waiter = self._queue.pop(0)
            if not waiter.granted.done():
                waiter.granted.set_result(None)
                return
        self.num_running -= 1


def _too_late(wait_s: float) -> TooLate:
    return TooLate("the first text would come behind the deadline", max(_RETRY_AFTER_S, wait_s))


@dataclass(slots=True)
class Mean:
    """A mean in which what is new counts more: each value a tenth, the first one whole."""

    value: float = 0.0
    is_empty: bool = True

    def note(self, value: float) -> None:
        self.value = value if self.is_empty else self.value + (value - self.value) / 10
        self.is_empty = False
