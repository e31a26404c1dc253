"""A suggestion from the keystroke to the text that is shown, or the reason why there is none.

    policy ...... may anything leave?                       -> no, with a reason
    reuse ....... does an earlier answer still say it?      -> shown at once
    trigger ..... is it worth asking?                       -> no, with a reason
    flight ...... is an answer under way that may be right? -> wait for it
    debounce, context, prompt, the question itself          -> wait for it

Knows neither LSP nor HTTP: a document and an offset come in, and the questions go to any `Completer`.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsp_complete.completion.answer import DENIED, Answer, NoSuggestion, StopWatch, detail_of
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.exclusions import exclusions_of
from lsp_complete.completion.flight import End, Flight
from lsp_complete.completion.keystrokes import Keystrokes, pressed, typed_up_to
from lsp_complete.completion.mode import choose_mode
from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.completion.outgoing import outgoing
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.reuse import Recent, remaining, suggestion_at
from lsp_complete.completion.trigger import Mood, Skip, hopeless, wait_ms
from lsp_complete.config.settings import Settings
from lsp_complete.context.edits import edit_between
from lsp_complete.context.mixer import DEADLINE_S, Mix
from lsp_complete.context.policy import Policy, Verdict
from lsp_complete.context.snippets import Snippet as Found
from lsp_complete.context.workspace import Workspace
from lsp_complete.prompt.assemble import Prompt
from lsp_complete.protocol.completion import Completer, CompletionRequest, Finish, Mode, Snippet, Timing, Trigger, Usage
from lsp_complete.protocol.errors import CompletionError, DeadlinePassed
from lsp_complete.protocol.events import (
    Cancelled,
    Error,
    Failure,
    Hex,
    Language,
    Reason,
    Requested,
    Rung,
    Sink,
    Stage,
    Suppressed,
    timings,
    tokens,
)
from lsp_complete.text.document import Document

# A longer line was written by a program, and is looked at again with each piece of an answer.
_MAX_LINE_CHARACTERS = 5_000
# How much the last first text tells of the next, against all before it.
_ANSWER_SHARE = 0.3


@dataclass(slots=True)
class _Known:
    """What is known of one document: how it is typed in, its last prompt, the question that is under way."""

    keys: Keystrokes = field(default_factory=Keystrokes)
    prompt: Prompt | None = None
    flight: Flight | None = None


class Pipeline:
    """Asks `completer` on behalf of one session. Cancel `suggest` to cancel the question, down to the model."""

    def __init__(
        self,
        completer: Completer,
        settings: Settings,
        session_id: str,
        workspace: Workspace | None = None,
        outcomes: Outcomes | None = None,
        tell: Sink = lambda event: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._completer = completer
        self._settings = settings
        self._session_id = session_id
        self._workspace = workspace
        self._outcomes = outcomes or Outcomes()
        self._tell = tell
        self._clock = clock
        self._own_policy = Policy((), exclusions_of(settings))
        self._documents: dict[str, _Known] = {}
        self._recent = Recent()
        self._barren: tuple[Document, int, Answer] | None = None  # the last answer without a suggestion
        self._answer_ms = 0.0
        self._least_wait_ms = 0.0

    async def suggest(self, document: Document, offset: int, trigger: Trigger) -> Answer:
        """What to insert at `offset` (characters). Never raises but for cancellation."""
        offset = max(0, min(offset, len(document.text)))
        watch = StopWatch()
        answer = Answer(uuid.uuid4().hex, choose_mode(document, offset))
        self._tell(Requested(Hex(answer.request_id), Language.of(document.language), answer.mode, trigger))
        try:
            denied = self._refused(answer, document, offset) or await self._scope_denied(answer, document, offset)
            at_once = denied or self._reused(answer, document, offset, trigger)
            watch.lap("reuse")
            if at_once is not None:
                return self._told(replace(at_once, timing_ms=watch.laps))
            return self._told(await self._answered(answer, document, offset, trigger, watch))
        except CompletionError as error:
            watch.lap("answer")
            self._tell(Error(Hex(answer.request_id), Failure.of(error.type), watch.laps["total"]))
            reason = NoSuggestion.DEADLINE if isinstance(error, DeadlinePassed) else NoSuggestion.SERVICE
            return replace(answer, reason=reason, detail=detail_of(error), timing_ms=watch.laps)
        except asyncio.CancelledError:
            stage = self._stage(document, watch)
            watch.lap("answer")
            self._tell(Cancelled(Hex(answer.request_id), stage, watch.laps["total"]))
            raise

    def changed(self, before: Document, after: Document, inserted: Sequence[str] = ()) -> None:
        """One message of the editor has made one document of the other. `inserted` as `keystrokes.pressed` has it. What
        other documents were told before may be wrong now."""
        self._barren = None
        self._recent.forget_others(after.uri)
        known = self._of(after.uri)
        known.keys = pressed(known.keys, before.text, after.text, self._clock(), inserted)
        if known.flight is not None and known.flight.is_under_way:
            known.flight.typed_on(after, typed_up_to(after.text, edit_between(before.text, after.text)))

    def forget(self, uri: str) -> None:
        """The document is closed, or has another name now."""
        known = self._documents.pop(uri, None)
        if known is not None and known.flight is not None:
            known.flight.leave(End.LEFT)
        self._barren = None
        self._recent.forget(uri)

    def close(self) -> None:
        """Give up all that is under way."""
        for uri in list(self._documents):
            self.forget(uri)

    def _told(self, answer: Answer) -> Answer:
        if answer.reason is not None:
            detail = Reason.of(answer.detail)
            reason = detail if detail is not Reason.OTHER else Reason.of(answer.reason)
            spent = timings(answer.timing_ms), tokens(answer.usage, is_wasted=True)
            self._tell(Suppressed(Hex(answer.request_id), reason, *spent))
        return answer

    def _stage(self, document: Document, watch: StopWatch) -> Stage:
        """How far a question has come that is given up."""
        if "prompt" not in watch.laps:
            return Stage.CONTEXT if "debounce" in watch.laps else Stage.DEBOUNCE
        known = self._documents.get(document.uri)
        return Stage.STREAMING if known and known.flight and known.flight.text else Stage.WAITING

    def _of(self, uri: str) -> _Known:
        return self._documents.setdefault(uri, _Known())

    def _refused(self, answer: Answer, document: Document, offset: int) -> Answer | None:
        """The answer where nothing need be asked, and where nothing may."""
        if not self._settings.enabled:
            return replace(answer, reason=NoSuggestion.OFF)
        if not (verdict := self._policy.admits(document)).allowed:
            return _denied(answer, verdict)
        if not document.text.strip():
            return replace(answer, reason=NoSuggestion.EMPTY_FILE)
        start, end = document.line_span(document.line_at(offset))
        return replace(answer, reason=NoSuggestion.LINE_TOO_LONG) if end - start > _MAX_LINE_CHARACTERS else None

    def _reused(self, answer: Answer, document: Document, offset: int, trigger: Trigger) -> Answer | None:
        """The answer that earlier answers, or the moment, already give."""
        found = self._recent.find(document, offset)
        if trigger is Trigger.AUTOMATIC:
            skip = hopeless(Cursor(document, offset), self._of(document.uri).keys, self._mood)
            is_typed_back = skip is Skip.AFTER_DELETION and found is not None and found.rung is Rung.TYPED_THROUGH
            if skip and not is_typed_back:
                return replace(answer, reason=NoSuggestion(skip))
            if self._barren is not None and self._barren[:2] == (document, offset):
                return replace(self._barren[2], request_id=answer.request_id, usage=Usage())
        return replace(answer, insertion=found.insertion, rung=found.rung) if found else None

    async def _answered(
        self, answer: Answer, document: Document, offset: int, trigger: Trigger, watch: StopWatch
    ) -> Answer:
        """The answer of the flight under way, as long as it agrees with the document; else of one of our own."""
        known, answer = self._of(document.uri), replace(answer, rung=Rung.IN_FLIGHT)
        while True:
            flight = known.flight
            if flight is None or not flight.is_under_way or not flight.agrees(document, offset):
                answer = replace(answer, rung=Rung.NETWORK)
                rest_s = await self._debounced(document, offset, trigger)
                watch.lap("debounce")
                flight = await self._departed(answer, document, offset, trigger, watch, rest_s)
            end = await flight.landing(document, offset)
            watch.lap("answer")
            if end is End.LEFT:
                return replace(answer, reason=NoSuggestion.SUPERSEDED, timing_ms=watch.laps)
            if end is End.LANDED and (landed := self._landed(answer, flight, document, offset, watch)):
                return landed

    async def _debounced(self, document: Document, offset: int, trigger: Trigger) -> float:
        """Wait for another key, but for as long as the retrievers take: their time is the rest of the wait, in
        seconds."""
        wait_s = self._wait_ms(document, offset, trigger) / 1000
        rest_s = min(wait_s, DEADLINE_S)
        await asyncio.sleep(wait_s - rest_s)
        return rest_s

    def _wait_ms(self, document: Document, offset: int, trigger: Trigger) -> float:
        if self._settings.debounce_ms is not None and trigger is Trigger.AUTOMATIC:
            return self._settings.debounce_ms
        return wait_ms(Cursor(document, offset), self._of(document.uri).keys, self._mood, trigger)

    async def _scope_denied(self, answer: Answer, document: Document, offset: int) -> Answer | None:
        if not self._policy.scopes:
            return None
        verdict = await asyncio.to_thread(self._policy.admits_at, document, offset)
        return None if verdict.allowed else _denied(answer, verdict)

    async def _departed(
        self, answer: Answer, document: Document, offset: int, trigger: Trigger, watch: StopWatch, rest_s: float
    ) -> Flight:
        """The question on its way, no sooner than in `rest_s`. What was under way for the document is given up."""
        mix, _ = await asyncio.gather(self._mix(document, offset), asyncio.sleep(rest_s))
        watch.lap("context")
        known = self._of(document.uri)
        if known.flight is not None:
            known.flight.leave(End.LEFT)
        flight = known.flight = Flight(self._request(document, offset, answer, trigger, mix), document, offset)
        flight.start(self._completer, self._keep)
        watch.lap("prompt")
        return flight

    def _keep(self, flight: Flight) -> None:
        """Remember what an answer says, for the keystrokes to come."""
        outcome = flight.outcome
        if isinstance(outcome, Insertion):
            self._recent.add(flight.document.uri, suggestion_at(flight.document, flight.offset, outcome))
        if flight.first_text_ms:
            self._answer_ms += _ANSWER_SHARE * (flight.first_text_ms - self._answer_ms)
        if flight.finish is not None:
            self._least_wait_ms = flight.finish.debounce_ms

    def _landed(
        self, answer: Answer, flight: Flight, document: Document, offset: int, watch: StopWatch
    ) -> Answer | None:
        """What a whole answer says at `offset`; None where all of it has been typed by now. That another text had none
        says nothing of this one."""
        outcome = flight.outcome
        watch.lap("postprocess")
        answer = _measured(answer, flight, watch)
        is_its_own = (flight.document.text, flight.offset) == (document.text, offset)
        if isinstance(outcome, Insertion):
            suggestion = suggestion_at(flight.document, flight.offset, outcome)
            left = outcome if is_its_own else remaining(suggestion, document, offset)
            return replace(answer, insertion=left) if left else None
        if not is_its_own:
            return None
        if flight.finish is not None and flight.finish.finish is Finish.DEADLINE:
            return replace(answer, reason=NoSuggestion.DEADLINE, detail=outcome.value)
        answer = replace(answer, reason=NoSuggestion.WITHHELD, detail=outcome.value)
        self._barren = document, offset, answer
        return answer

    @property
    def _mood(self) -> Mood:
        seen = self._outcomes
        return Mood(seen.num_rejected, seen.has_accepted, self._answer_ms, self._least_wait_ms, seen.rejected_at)

    @property
    def _policy(self) -> Policy:
        """In force also where no folder is open or nothing is indexed."""
        return self._workspace.policy if self._workspace else self._own_policy

    async def _mix(self, document: Document, offset: int) -> Mix:
        if self._workspace is None or not document.file or not self._settings.snippet_tokens:
            return Mix()
        return await self._workspace.snippets(document, Path(document.file), offset)

    def _request(
        self, document: Document, offset: int, answer: Answer, trigger: Trigger, mix: Mix
    ) -> CompletionRequest:
        settings, known = self._settings, self._of(document.uri)
        out = outgoing(document, offset, mix, settings, self._policy, known.prompt)
        prompt = known.prompt = out.prompt
        return CompletionRequest(
            request_id=answer.request_id,
            session_id=self._session_id,
            prefix=prompt.window.prefix,
            suffix=prompt.window.suffix,
            path=document.path,
            language=document.language,
            snippets=tuple(_snippet(one.snippet) for one in prompt.packed),
            mode=answer.mode,
            max_tokens=settings.line_tokens if answer.mode is Mode.LINE else settings.block_tokens,
            deadline_ms=settings.deadline_ms,
            trigger=trigger,
            num_redacted=out.num_redacted,
        )


def _denied(answer: Answer, verdict: Verdict) -> Answer:
    return replace(answer, reason=DENIED.get(verdict.reason, NoSuggestion.EXCLUDED), detail=verdict.reason.value)


def _snippet(found: Found) -> Snippet:
    return Snippet(found.path, found.text, found.source)


def _measured(answer: Answer, flight: Flight, watch: StopWatch) -> Answer:
    """With what the flight took."""
    finish = flight.finish
    timing = finish.timing_ms if finish else Timing()
    service = {"queue": timing.queue, "prefill": timing.prefill, "decode": timing.decode}
    laps = {**watch.laps, "first_text": round(flight.first_text_ms, 2), **service}
    usage, flight.unclaimed = flight.unclaimed, Usage()
    return replace(answer, model=finish.model if finish else "", usage=usage, timing_ms=laps)
