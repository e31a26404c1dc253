"""A question that is under way, apart from who waits for it.

The user goes on typing while the answer comes. As long as what is typed agrees with what has come, the next keystroke
waits for the same answer; at the first letter that does not, the stream is closed, and nobody works for it any longer.
"""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from lsp_complete.completion.postprocess import Insertion, Withheld, enough, judge
from lsp_complete.protocol.completion import Completer, CompletionRequest, Finish, FinishChunk, Usage
from lsp_complete.text.document import Document, normalize_eol

# From a keystroke to the question that follows it. Editors that take longer ask anew.
GRACE_S = 0.4
# Neovim cancels with the key, and tells of it 150 ms later at the latest. In an editor that does so a stream goes on as
# long after each cancel, also after one that is meant. One such cancel may be chance.
TOLD_S = 0.25
_NUM_EARLY = 2
# What an editor that has closed a bracket lets the user type over.
_CLOSERS = frozenset(")]}>\"'`")


class End(Enum):
    """Of a flight: the answer is whole, it goes another way than the document, or nobody wants it any more."""

    LANDED = "landed"
    DIVERGED = "diverged"
    LEFT = "left"


@dataclass(slots=True)
class Manners:
    """Of one editor, learned: how often it has cancelled a question before it told of the key that was pressed."""

    num_early: int = 0

    @property
    def cancels_first(self) -> bool:
        return self.num_early >= _NUM_EARLY


class Flight:
    """The stream of one question, read by a task of its own. `text` is what has come, the first of it after
    `first_text_ms`; `unclaimed` are the tokens that count for whoever hears the end first."""

    def __init__(
        self, request: CompletionRequest, document: Document, offset: int, manners: Manners | None = None
    ) -> None:
        self.request, self.document, self.offset = request, document, offset
        self._manners = manners or Manners()
        self.text = ""
        self.finish: FinishChunk | None = None
        self.first_text_ms = 0.0
        self.unclaimed = Usage()
        self._end: End | None = None
        self._latest = document, offset
        self._is_typed_on = False
        self._num_waiting = 0
        self._grace: asyncio.TimerHandle | None = None
        self._early_until_s = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def is_under_way(self) -> bool:
        return self._task is not None and self._end is None and not self._task.done()

    @property
    def has_landed(self) -> bool:
        task = self._task
        return task is not None and self._end is None and task.done() and not (task.cancelled() or task.exception())

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
        num_over = offset - start - (len(new) - len(old))  # typed over, or where the cursor was moved
        if num_over > 0 and not _CLOSERS.issuperset(new[offset - num_over : offset]):
            return False
        typed, text = normalize_eol(new[start:offset]), normalize_eol(self.text)
        return (text.startswith(typed) or typed.startswith(text)) and new.endswith(old[start:])

    def typed_on(self, document: Document, offset: int) -> None:
        """The user has typed, up to `offset`. Closes the stream where that is something else."""
        if not self.is_under_way:
            self._learn(document, offset)
        elif not self.agrees(document, offset):
            self.leave(End.LEFT)
        else:
            self._latest, self._is_typed_on = (document, offset), True
            if not self._num_waiting:
                self._give(GRACE_S)

    async def landing(self, document: Document, offset: int) -> End:
        """Wait for the end on behalf of a question at `offset`. Raises what the completer does. When nobody waits any
        more the stream is closed: at once, or where the user has typed on, unless the next question comes soon."""
        assert self._task is not None, "not started"
        self._latest = document, offset
        self._num_waiting += 1
        try:
            await asyncio.wait([self._task])
        finally:
            self._num_waiting -= 1
            if not self._num_waiting and self.is_under_way:
                await self._forsaken(self._task)
        if self._end is None:
            self._task.result()
        return self._end or End.LANDED

    async def has_failed(self) -> bool:
        """How it ended, for one who does not want the answer: that changes nothing for the stream."""
        assert self._task is not None, "not started"
        await asyncio.wait([self._task])
        return self._end is None and not self.has_landed

    def leave(self, end: End) -> None:
        """Close the stream: cancellation, down to the model."""
        if self._task is not None and self.is_under_way:
            self._end = end
            self._task.cancel()

    def leave_if_alone(self) -> None:
        """Close the stream unless a question waits for it."""
        if not self._num_waiting:
            self.leave(End.LEFT)

    async def _forsaken(self, task: "asyncio.Task[None]") -> None:
        if self._is_typed_on or self._manners.cancels_first:
            self._give(GRACE_S if self._is_typed_on else TOLD_S)
        else:
            self._early_until_s = asyncio.get_running_loop().time() + TOLD_S
            self.leave(End.LEFT)
            await asyncio.wait([task])

    def _give(self, seconds: float) -> None:
        """For so long the stream goes on without anybody who waits for it."""
        if self._grace is not None:
            self._grace.cancel()
        self._grace = asyncio.get_running_loop().call_later(seconds, self.leave_if_alone)

    def _learn(self, document: Document, offset: int) -> None:
        """A key after the end: one that an editor with other manners would have told of before its cancel?"""
        is_soon = asyncio.get_running_loop().time() < self._early_until_s
        if is_soon and offset > self.offset and self.agrees(document, offset):
            self._manners.num_early += 1
        self._early_until_s = 0.0

    async def _fly(self, completer: Completer, landed: Callable[["Flight"], None]) -> None:
        now_s = asyncio.get_running_loop().time
        departed_s = now_s()
        async with contextlib.aclosing(completer.complete(self.request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, FinishChunk):
                    self.finish, self.unclaimed = chunk, chunk.usage
                    break
                self.first_text_ms = self.first_text_ms or (now_s() - departed_s) * 1000
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
