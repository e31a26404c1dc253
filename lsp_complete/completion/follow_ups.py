"""What comes behind a suggestion, asked as if it were accepted, so that the next ghost text is there when it is.

Asked where acceptance is likely, and only as long as few of these answers were for nobody. The answer serves a document
that is the accepted one up to the cursor, and what was typed on from there in agreement; a question that comes while it
is still under way waits for it. Knows neither the model nor the editor.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from lsp_complete.completion.ahead import Ahead
from lsp_complete.completion.flight import Flight
from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.completion.postprocess import Insertion, accept
from lsp_complete.completion.reuse import Suggestion, remaining, suggestion_at
from lsp_complete.protocol.events import Cancelled, Hex, Sink, Stage, tokens
from lsp_complete.text.document import Document

# Who accepts so many of the last suggestions most likely accepts the next, too.
_LIKELY_SHARE = 0.6
# Of all text that is generated so much may be follow-ups that nobody wanted: half of what the service may do for nobody
# in all (20 %). What less text than that says is chance.
_MAX_WASTED_SHARE = 0.1
_LEAST_CHARACTERS = 500


@dataclass(slots=True)
class _FollowUp:
    """`shown` is the suggestion that it follows, `accepted` the document with that, and `offset` the cursor in it."""

    shown: Suggestion
    accepted: Document
    offset: int
    task: "asyncio.Task[None]"
    flight: Flight | None = None

    @property
    def is_under_way(self) -> bool:
        """What was closed just now is not, though its task has yet to hear of it."""
        if self.flight is not None:
            return self.flight.is_under_way
        return not self.task.done() and not self.task.cancelling()

    @property
    def is_of_use(self) -> bool:
        return self.is_under_way or (self.flight is not None and self.flight.has_landed)

    def is_next(self, document: Document, offset: int) -> bool:
        """Whether typing may still lead to it."""
        if self.flight is not None and self.flight.agrees(document, offset):
            return True
        return document.text == self.accepted.text or remaining(self.shown, document, offset) is not None


class FollowUps:
    """`keep` takes an answer that somebody wants."""

    def __init__(self, ahead: Ahead, outcomes: Outcomes, keep: Callable[[Flight], None], tell: Sink) -> None:
        self._ahead, self._outcomes, self._keep, self._tell = ahead, outcomes, keep, tell
        self._last: _FollowUp | None = None
        self._num_generated = self._num_wasted = 0

    def shown(self, document: Document, offset: int, insertion: Insertion, num_typed: int) -> None:
        """The user is shown an insertion at `offset`, behind `num_typed` characters of the same suggestion."""
        if not self._is_likely(num_typed, len(insertion.text)) or not self._is_affordable:
            return
        accepted = replace(document, text=accept(document, offset, insertion))
        behind = offset + len(insertion.text)
        last = self._last
        if last is not None and last.is_of_use and (last.accepted.text, last.offset) == (accepted.text, behind):
            return
        if task := self._ahead.ask(accepted, behind, self._departed, self._landed):
            self._give_up()
            self._last = _FollowUp(suggestion_at(document, offset, insertion), accepted, behind, task)

    def taken(self, document: Document, offset: int) -> Flight | None:
        """The answer for this very place, landed or under way. It is the caller's now."""
        last = self._last
        if last is None or last.flight is None or not last.is_of_use or not last.flight.agrees(document, offset):
            return None
        self._last = None
        self._ahead.release(last.flight)
        if last.flight.has_landed:
            self._keep(last.flight)
        return last.flight

    def typed_on(self, document: Document, offset: int) -> None:
        """The user has typed, up to `offset`. Closes the stream of what that does not lead to."""
        last = self._last
        if last is None:
            return
        if last.accepted.uri != document.uri or (last.is_under_way and not last.is_next(document, offset)):
            self.forget(last.accepted.uri)

    def forget(self, uri: str) -> None:
        """What was asked for this document is not right any more."""
        if self._last is None or self._last.accepted.uri != uri:
            return
        if self._last.is_under_way:
            self._ahead.leave()
        self._give_up()

    def generated(self, flight: Flight) -> None:
        """Somebody's answer has come."""
        self._num_generated += len(flight.text)

    def _is_likely(self, num_typed: int, num_left: int) -> bool:
        """Half of it is typed, a part of it was accepted, or most suggestions are."""
        seen = self._outcomes
        return num_typed >= num_left or (num_typed > 0 and seen.has_accepted) or seen.accepted_share >= _LIKELY_SHARE

    @property
    def _is_affordable(self) -> bool:
        return self._num_wasted <= _MAX_WASTED_SHARE * max(self._num_generated, _LEAST_CHARACTERS)

    def _departed(self, flight: Flight) -> None:
        if self._last is not None:
            self._last.flight = flight

    def _landed(self, flight: Flight) -> None:
        if self._last is None or self._last.flight is not flight:  # taken meanwhile
            self._keep(flight)

    def _give_up(self) -> None:
        last, self._last = self._last, None
        if last is not None and last.flight is not None:
            text, wasted = last.flight.text, tokens(last.flight.unclaimed, is_wasted=True)
            self._num_generated += len(text)
            self._num_wasted += len(text)
            self._tell(Cancelled(Hex(last.flight.request.request_id), Stage.AHEAD, tokens=wasted))
