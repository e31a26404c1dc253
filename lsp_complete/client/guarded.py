"""A `Completer` that is left alone while it cannot help, and what is known of its trouble.

Sits between whoever asks and the one that is asked: hears how questions end, counts failures (breaker.py) and what the
service leaves out (load.py). Knows neither HTTP nor who is told of the trouble. A question that a user asks by hand
always goes; one that nobody waits for is nobody's loss, and proves nothing by failing.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from math import isfinite

from lsp_complete.client import breaker as state
from lsp_complete.client import load
from lsp_complete.client.breaker import CLOSED, Breaker
from lsp_complete.client.load import INVOKED_ONLY, NO_BLOCKS, Load
from lsp_complete.client.moment import Clock, Moment, now
from lsp_complete.protocol.completion import (
    Completer,
    CompletionChunk,
    CompletionRequest,
    FinishChunk,
    Mode,
    Trigger,
)
from lsp_complete.protocol.errors import CompletionError, ModelLoading, Overloaded, Paused, RateLimited, Unauthorized

# A user wants to know of a pause that is longer than a look at the keyboard, and of a trouble that is there a second
# time: one failure is a hiccup.
_LONG_S, _LASTING = 10.0, 2


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why automatic questions pause, and until when (seconds since the epoch, 0 for nobody knows). `is_notable`: worth
    a message, if the user has had none."""

    cause: CompletionError
    until_s: float = 0.0
    is_notable: bool = False


class Guarded:
    """`on_change` hears that `trouble` may be another one. `wall_clock` and `chance` are for tests."""

    def __init__(
        self,
        completer: Completer,
        on_change: Callable[[], None] = lambda: None,
        wall_clock: Clock = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._completer, self._on_change = completer, on_change
        self._wall_clock, self._chance = wall_clock, chance
        self._breaker, self._load = CLOSED, Load()
        self._was_asked_by_hand = False
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, trigger: Trigger, mode: Mode) -> Mode:
        """How much to ask for. Raises Paused where nothing may be asked now: before any work is done for it."""
        if trigger is Trigger.INVOKED:
            return mode
        if self._breaker.is_open(self._now()):
            raise self._paused()
        level = self._load.level_at(self._now())
        if level >= INVOKED_ONLY:
            raise Paused(Overloaded("under load it answers only when you ask by hand"))
        return Mode.LINE if level >= NO_BLOCKS else mode

    async def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        before = self._left(request)
        try:
            async with contextlib.aclosing(self._completer.complete(request)) as chunks:
                async for chunk in chunks:
                    self._answered(chunk)
                    yield chunk
        except CompletionError as error:
            self._failed(request, error, before)
            raise
        finally:
            if self._breaker is before and _may_probe(request):
                self._breaker = state.probed(before, is_under_way=False)

    def recovered(self) -> None:
        """Somebody else knows that the service is there again."""
        self._set(CLOSED)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    @property
    def is_answering(self) -> bool:
        """The last question was answered, or none was asked. Behind a pause nobody knows."""
        return self._breaker.is_closed

    @property
    def trouble(self) -> Trouble | None:
        """None where all is well, as far as is known. That too much was asked is over when the pause is."""
        cause, until = self._breaker.cause, self._breaker.until
        is_over = until.is_past(self._now())
        if cause is None or (is_over and isinstance(cause, RateLimited)):
            return None
        until_s = until.wall_s if isfinite(until.wall_s) and not is_over else 0.0
        return Trouble(cause, until_s, self._is_notable(cause))

    def _is_notable(self, cause: CompletionError) -> bool:
        is_long = (cause.retry_after_s or 0.0) >= _LONG_S or isinstance(cause, Unauthorized)
        is_lasting = self._breaker.num_failures >= _LASTING or self._was_asked_by_hand
        return (is_long or is_lasting) and not isinstance(cause, ModelLoading)

    def _left(self, request: CompletionRequest) -> Breaker:
        """The state in which the request leaves. Raises Paused."""
        if not _is_by_hand(request) and not state.may_leave(self._breaker, self._now()):
            raise self._paused()
        if _may_probe(request):
            self._breaker = state.probed(self._breaker, is_under_way=True)
        return self._breaker

    def _answered(self, chunk: CompletionChunk) -> None:
        if not self._breaker.is_closed:
            self._set(CLOSED)
        if isinstance(chunk, FinishChunk):
            self._load = load.told(chunk.level, self._now())

    def _failed(self, request: CompletionRequest, error: CompletionError, before: Breaker) -> None:
        if request.nobody_waits:
            return  # refused before what somebody waits for
        if isinstance(error, Overloaded):
            self._load = load.refused(error, request.mode, self._now())
        self._was_asked_by_hand = _is_by_hand(request)
        if self._breaker.is_open(self._now()):
            self._set(state.failed_by_hand(self._breaker, error, self._now()))
        elif self._breaker is before:
            self._set(state.failed(before, error, self._now(), self._chance()))

    def _set(self, breaker: Breaker) -> None:
        self.close()
        self._breaker = breaker
        if isfinite(breaker.until.loop_s):
            self._timer = asyncio.get_running_loop().call_at(breaker.until.loop_s, self._on_change)
        self._on_change()

    def _paused(self) -> Paused:
        cause = self._breaker.cause
        assert cause is not None, "closed"
        return Paused(cause)

    def _now(self) -> Moment:
        return now(self._wall_clock)


def _may_probe(request: CompletionRequest) -> bool:
    """Whether it is the one that is let through behind a pause; others leave beside it, and do not end it."""
    return not _is_by_hand(request) and not request.nobody_waits


def _is_by_hand(request: CompletionRequest) -> bool:
    return request.trigger is Trigger.INVOKED and not request.nobody_waits
