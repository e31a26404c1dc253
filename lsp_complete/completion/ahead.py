"""What is asked before anybody asks, one stream at a time: what follows a suggestion (follow_ups.py), and the prompt of
a place that the user has just come to (warming.py).

Nobody waits for it, so it gives way to whatever somebody waits for: it leaves only while no question is under way and
the service has no load, and a question of the user's closes it. A failure is nobody's, too; after one nothing is asked
ahead until the service has answered a question again. It passes the same gate as any question.
Knows neither what is worth asking nor what becomes of the answer.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable

from lsp_complete.completion.flight import End, Flight, Manners
from lsp_complete.completion.mode import choose_mode
from lsp_complete.completion.questions import Questions
from lsp_complete.protocol.completion import Completer
from lsp_complete.text.document import Document

# The first look at a file is a slow one, and what is missing in a warm prompt makes the next one cold.
_PATIENCE_S = 1.0

_log = logging.getLogger(__name__)

Hears = Callable[[Flight], None]


def _is_told_nothing(flight: Flight) -> None:
    """Of a warm prompt there is nothing to know."""


class Ahead:
    """`may_leave` tells whether the service has time now."""

    def __init__(
        self, completer: Completer, questions: Questions, manners: Manners, may_leave: Callable[[], bool]
    ) -> None:
        self._completer, self._questions = completer, questions
        self._manners, self._may_leave = manners, may_leave
        self._task: asyncio.Task[None] | None = None
        self._flight: Flight | None = None
        self._is_trusted = True

    @property
    def is_under_way(self) -> bool:
        return self._task is not None and not self._task.done()

    def ask(
        self,
        document: Document,
        offset: int,
        departed: Hears = _is_told_nothing,
        landed: Hears = _is_told_nothing,
        *,
        prefill_only: bool = False,
    ) -> "asyncio.Task[None] | None":
        """Begin to, in the place of what was asked ahead before, with a task that is done when it is over. None where
        that may not be now."""
        if not self._is_trusted or not self._may_leave():
            return None
        self.leave()
        self._task = asyncio.create_task(self._asked(document, offset, departed, landed, prefill_only))
        self._task.add_done_callback(_log_mistake)
        return self._task

    def leave(self) -> None:
        """Close the stream. What the service has computed stays in its cache."""
        if self._task is not None:
            self._task.cancel()
        if self._flight is not None:
            self._flight.leave(End.LEFT)
        self._task = self._flight = None

    def release(self, flight: Flight) -> None:
        """The flight has an owner now, who waits for it."""
        if self._flight is flight:
            self._task = self._flight = None

    def trust(self, is_well: bool) -> None:
        """The service has answered a question, or has not."""
        self._is_trusted = is_well

    async def _asked(self, document: Document, offset: int, departed: Hears, landed: Hears, prefill_only: bool) -> None:
        if await self._questions.refusal(document, offset):
            return
        mix = await self._questions.mix(document, offset, _PATIENCE_S)
        if await self._questions.refusal(document, offset) or not self._may_leave():
            return
        request = self._questions.request(
            document,
            offset,
            mix,
            choose_mode(document, offset),
            request_id=uuid.uuid4().hex,
            ahead=True,
            prefill_only=prefill_only,
        )
        flight = self._flight = Flight(request, document, offset, self._manners)
        departed(flight)
        flight.start(self._completer, landed)
        if await flight.has_failed():
            self.trust(False)


def _log_mistake(task: "asyncio.Task[None]") -> None:
    """One of ours, which nobody else would hear of."""
    if not task.cancelled() and (error := task.exception()):
        _log.error("nothing was asked ahead: %s", type(error).__name__)
