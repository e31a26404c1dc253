"""A question that is under way, apart from who waits for it.

The user goes on typing while the answer comes. As long as what is typed agrees with what has come, the next keystroke
waits for the same answer; at the first letter that does not, the stream is closed, and nobody works for it any longer.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from enum import Enum
from functools import cached_property

from lsp_complete.completion.postprocess import Insertion, Withheld, enough, judge
from lsp_complete.protocol.completion import Completer, CompletionRequest, Finish, FinishChunk, Usage
from lsp_complete.text.document import Document, normalize_eol

# From the `$/cancelRequest` of a keystroke to the question that follows it. Editors that take longer ask anew.
GRACE_S = 0.4


class End(Enum):
    """Of a flight: the answer is whole, it goes another way than the document, or nobody wants it any more."""

    LANDED = "landed"
    DIVERGED = "diverged"
    LEFT = "left"


class Flight:
    """The stream of one question, read by a task of its own. `text` is what has come, the first of it after
    `first_text_ms`; `unclaimed` are the tokens that count for whoever hears the end first."""

    def __init__(self, request: CompletionRequest, document: Document, offset: int) -> None:
        self.request, self.document, self.offset = request, document, offset
        self.text = ""
        self.finish: FinishChunk | None = None
        self.first_text_ms = 0.0
        self.unclaimed = Usage()
        self._end: End | None = None
        self._latest = document, offset
        self._is_typed_on = False
        self._num_waiting = 0
        self._grace: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_under_way(self) -> bool:
        return self._task is not None and self._end is None and not self._task.done()

    @cached_property
    def outcome(self) -> Insertion | Withheld:
        """What the answer comes to at the question's own place, once it is whole. Of one that the service's filters
        ended, nothing is shown."""
        if self.finish is not None and self.finish.finish is Finish.FILTERED:
            return Withheld.FILTERED
        return judge(self.document, self.offset, self.request.mode, self.text)

    def start(self, completer: Completer, landed: Callable[["Flight"], None]) -> None:
        """`landed` hears of the end where the answer is whole, whether anybody waits for it or not."""
        self._task = asyncio.create_task(self._fly(completer, landed))
        self._task.add_done_callback(_forget)

    def agrees(self, document: Document, offset: int) -> bool:
        """Whether the answer may still be right at `offset` of a document that has changed since: what was typed at the
        question's place is what the answer says, as far as it has come."""
        old, new, start = self.document.text, document.text, self.offset
        if document.uri != self.document.uri or offset < start or new[:start] != old[:start]:
            return False
        typed, text = normalize_eol(new[start:offset]), normalize_eol(self.text)
        return (text.startswith(typed) or typed.startswith(text)) and new.endswith(old[start:])

    def typed_on(self, document: Document, offset: int) -> None:
        """The user has typed, up to `offset`. Closes the stream where that is something else."""
        self._latest, self._is_typed_on = (document, offset), True
        if not self.agrees(document, offset):
            self.leave(End.LEFT)

    async def landing(self, document: Document, offset: int) -> End:
        """Wait for the end on behalf of a question at `offset`. Raises what the completer does. When nobody waits any
        more the stream is closed: at once, or where the user has typed on, unless the next question comes soon."""
        assert self._task is not None, "not started"
        self._latest = document, offset
        self._num_waiting += 1
        if self._grace is not None:
            self._grace.cancel()
        try:
            await asyncio.wait([self._task])
        finally:
            self._num_waiting -= 1
            if not self._num_waiting and self.is_under_way:
                await self._forsaken(self._task)
        if self._end is None:
            self._task.result()
        return self._end or End.LANDED

    def leave(self, end: End) -> None:
        """Close the stream: cancellation, down to the model."""
        if self._task is not None and self.is_under_way:
            self._end = end
            self._task.cancel()

    async def _forsaken(self, task: "asyncio.Task[None]") -> None:
        if self._is_typed_on:
            self._grace = asyncio.get_running_loop().call_later(GRACE_S, self._leave_if_alone)
        else:
            self.leave(End.LEFT)
            await asyncio.wait([task])

    def _leave_if_alone(self) -> None:
        if not self._num_waiting:
            self.leave(End.LEFT)

    async def _fly(self, completer: Completer, landed: Callable[["Flight"], None]) -> None:
        departed = time.perf_counter()
        async with contextlib.aclosing(completer.complete(self.request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, FinishChunk):
                    self.finish, self.unclaimed = chunk, chunk.usage
                    break
                self.first_text_ms = self.first_text_ms or (time.perf_counter() - departed) * 1000
                self.text += chunk.text
                if not self.agrees(*self._latest):
                    self._end = End.DIVERGED
                    return
                if enough(self.document, self.offset, self.request.mode, self.text):
                    break
        landed(self)


def _forget(task: "asyncio.Task[None]") -> None:
    """A failure that nobody waits for is nobody's."""
    if not task.cancelled():
        task.exception()
