"""A suggestion from the keystroke to the text that is shown, or the reason why there is none.

    policy ...... may anything leave?                       -> no, with a reason
    reuse ....... does an earlier answer still say it?      -> shown at once
    trigger ..... is it worth asking?                       -> no, with a reason
    flight ...... is an answer under way that may be right? -> wait for it
    follow-up ... was just this asked ahead?                -> shown at once
    debounce, context, prompt, the question itself          -> wait for it
    ahead ....... the question behind what is shown, and prompts of places the user has come to; nobody waits for these

Knows neither LSP nor HTTP: a document and an offset come in, and the questions go to any `Completer`.
"""

import asyncio
import math
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from lsp_complete.completion.ahead import Ahead
from lsp_complete.completion.answer import Answer, NoSuggestion, StopWatch, detail_of, reason_of
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.draft import draft_at
from lsp_complete.completion.flight import End, Flight, Manners
from lsp_complete.completion.follow_ups import FollowUps
from lsp_complete.completion.keystrokes import Keystrokes, pressed, typed_up_to
from lsp_complete.completion.mode import choose_mode
from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.questions import Questions, Refusal
from lsp_complete.completion.reuse import Recent, remaining, suggestion_at
from lsp_complete.completion.trigger import GOES_ON, Mood, Skip, hopeless, wait_ms
from lsp_complete.completion.warming import Warming
from lsp_complete.config.settings import Settings
from lsp_complete.context.edits import edit_between
from lsp_complete.context.mixer import DEADLINE_S, Mix
from lsp_complete.context.workspace import Workspace
from lsp_complete.prompt.assemble import CHARACTERS_PER_TOKEN
from lsp_complete.protocol.completion import Completer, Finish, FinishChunk, Mode, Timing, Trigger, Usage
from lsp_complete.protocol.errors import CompletionError, Paused
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
    Tokens,
    timings,
    tokens,
)
from lsp_complete.text.document import Document

# How much the last first text tells of the next, against all before it.
_ANSWER_SHARE = 0.3


Admit = Callable[[Trigger, Mode], Mode]
"""How much may be asked for now. Raises Paused where nothing may be: before anything is done for the question."""
GivenUp = Callable[[Answer, Document, int, Trigger], object]
"""Hears of a question that was cancelled how far it had come."""


@dataclass(slots=True)
class _Known:
    """What is known of one document: how it is typed in, and the question that is under way."""

    keys: Keystrokes = field(default_factory=Keystrokes)
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
        clock: Callable[[], float] | None = None,
        admit: Admit = lambda trigger, mode: mode,
        given_up: GivenUp = lambda answer, document, offset, trigger: None,
    ) -> None:
        self._completer, self._admit, self._given_up = completer, admit, given_up
        self._settings = settings
        self._questions = Questions(settings, session_id, workspace)
        self._outcomes = outcomes or Outcomes()
        self._tell = tell
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._documents: dict[str, _Known] = {}
        self._manners = Manners()
        self._recent = Recent()
        self._barren: tuple[Document, int, Answer] | None = None  # the last answer without a suggestion
        self._ahead = Ahead(completer, self._questions, self._manners, self._has_time)
        self._follow_ups = FollowUps(self._ahead, self._outcomes, self._keep, tell)
        self._warming = Warming(self._ahead, self._questions)
        self._invoked_at: tuple[Document, int] | None = None
        self._model = ""
        self._answer_ms = 0.0
        self._least_wait_ms = 0.0

    async def suggest(self, document: Document, offset: int, trigger: Trigger, skip: Skip | None = None) -> Answer:
        """What to insert at `offset` (characters). `skip` is what the editor knows against an automatic question. Never
        raises but for cancellation."""
        offset = max(0, min(offset, len(document.text)))
        watch = StopWatch()
        answer = Answer(uuid.uuid4().hex, choose_mode(document, offset))
        self._tell(Requested(Hex(answer.request_id), Language.of(document.language), answer.mode, trigger))
        try:
            refusal = await self._questions.refusal(document, offset)
            at_once = _refused(answer, refusal) if refusal else self._reused(answer, document, offset, trigger, skip)
            watch.lap("reuse")
            if at_once is not None:
                return self._told(replace(at_once, timing_ms=watch.laps))
            return self._told(await self._answered(answer, document, offset, trigger, watch))
        except CompletionError as error:
            watch.lap("answer")
            answer = replace(answer, reason=reason_of(error), detail=detail_of(error), timing_ms=watch.laps)
            if isinstance(error, Paused):
                return self._told(answer)
            self._tell(Error(Hex(answer.request_id), Failure.of(error.type), watch.laps["total"]))
            self._ahead.trust(False)
            return answer
        except asyncio.CancelledError:
            stage = self._stage(document, watch)
            watch.lap("answer")
            self._tell(Cancelled(Hex(answer.request_id), stage, watch.laps["total"], self._lost(document, stage)))
            left = replace(answer, reason=NoSuggestion.SUPERSEDED, detail=f"cancelled: {stage}", timing_ms=watch.laps)
            self._given_up(left, document, offset, trigger)
            raise

    def kept(self, document: Document, offset: int, chosen: Insertion) -> Answer | None:
        """What is on the screen at `offset`, where that is just what is chosen in the editor's pop-up: nothing more is
        shown behind it. The insertion is what the choice leaves of it."""
        found = self._recent.find(document, offset)
        if found is None or found.rung is Rung.CACHED or found.insertion.text != chosen.text:
            return None
        if (num_left := found.insertion.num_replaced - chosen.num_replaced) < 0:
            return None
        answer = Answer(uuid.uuid4().hex, Mode.LINE, Insertion("", num_left), rung=found.rung)
        answer.trace.asked = found.suggestion.request_id
        self._tell(Requested(Hex(answer.request_id), Language.of(document.language), answer.mode, Trigger.AUTOMATIC))
        return answer

    def changed(self, before: Document, after: Document, inserted: Sequence[str] = ()) -> None:
        """One message of the editor has made one document of the other. `inserted` as `keystrokes.pressed` has it. What
        other documents were told before may be wrong now."""
        self._barren = None
        self._recent.forget_others(after.uri)
        known = self._of(after.uri)
        known.keys = pressed(known.keys, before.text, after.text, self._clock(), inserted)
        cursor = typed_up_to(after.text, edit_between(before.text, after.text))
        if known.flight is not None:
            known.flight.typed_on(after, cursor)
        self._follow_ups.typed_on(after, cursor)
        self._warming.changed(after, cursor)

    def arrived(self, document: Document, offset: int | None = None) -> None:
        """The user has come to a document; `offset` is the cursor, where somebody knows it."""
        self._warming.arrived(document, offset)

    def ready(self, *, was_away: bool = False) -> None:
        """The service can be asked now. One that was away may have come back with another model, of whatever name."""
        if was_away:
            self._forget_model()
        self._ahead.trust(True)
        self._warming.again()

    def forget(self, uri: str) -> None:
        """The document is closed, or has another name now."""
        known = self._documents.pop(uri, None)
        if known is not None and known.flight is not None:
            known.flight.leave(End.LEFT)
        self._barren = None
        self._recent.forget(uri)
        self._follow_ups.forget(uri)
        self._warming.forget(uri)
        self._questions.forget(uri)

    def _forget_model(self) -> None:
        """What it said, found nothing to say to, and took for that."""
        self._recent.forget_all()
        self._barren, self._answer_ms = None, 0.0

    def close(self) -> None:
        """Give up all that is under way."""
        for uri in list(self._documents):
            self.forget(uri)
        self._warming.stop()
        self._ahead.leave()

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

    def _lost(self, document: Document, stage: Stage) -> Tokens:
        """About how many tokens had come in a stream that is closed before the service could count them."""
        known = self._documents.get(document.uri)
        flight = known.flight if known and stage is Stage.STREAMING else None
        num = 0 if flight is None or flight.is_under_way else math.ceil(len(flight.text) / CHARACTERS_PER_TOKEN)
        return Tokens(generated=num, wasted=num)

    def _of(self, uri: str) -> _Known:
        return self._documents.setdefault(uri, _Known())

    def _reused(
        self, answer: Answer, document: Document, offset: int, trigger: Trigger, skip: Skip | None
    ) -> Answer | None:
        """The answer that earlier answers, or the moment, already give. Who asks by hand twice wants another one."""
        place = (document, offset) if trigger is Trigger.INVOKED else None
        is_again, self._invoked_at = place is not None and place == self._invoked_at, place
        found = None if is_again else self._recent.find(document, offset)
        if trigger is Trigger.AUTOMATIC:
            skip = skip or hopeless(Cursor(document, offset), self._of(document.uri).keys, self._mood)
            goes_on = skip in GOES_ON and found is not None and found.is_typed_through(offset)
            if skip and not goes_on:
                return replace(answer, reason=NoSuggestion(skip))
            if self._barren is not None and self._barren[:2] == (document, offset):
                answer.trace.asked = self._barren[2].request_id
                return replace(self._barren[2], request_id=answer.request_id, usage=Usage(), trace=answer.trace)
        if found is None:
            return None
        self._follow_ups.shown(document, offset, found.insertion, offset - found.suggestion.offset)
        self._recent.give(document.uri, found.suggestion)
        answer.trace.asked = found.suggestion.request_id
        return replace(answer, insertion=found.insertion, rung=found.rung)

    async def _answered(
        self, answer: Answer, document: Document, offset: int, trigger: Trigger, watch: StopWatch
    ) -> Answer:
        """The answer of the flight under way, as long as it agrees with the document; else of one of our own."""
        known = self._of(document.uri)
        while True:
            flight, rung = self._on_its_way(known, document, offset)
            answer = replace(answer, rung=rung)
            if flight is None:
                answer = replace(answer, mode=self._admit(trigger, answer.mode))
                self._make_way(known)
                mix = await self._debounced(answer, document, offset, trigger, watch)
                if refusal := await self._questions.refusal(document, offset):
                    return _refused(answer, refusal)  # the rules have changed meanwhile
                flight = self._departed(answer, document, offset, trigger, mix)
                watch.lap("prompt")
            try:
                end = await flight.landing(document, offset)
            except CompletionError:
                if not flight.request.ahead:
                    raise
                continue  # what nobody waited for when it was asked is nobody's failure
            watch.lap("answer")
            if end is End.LEFT:
                return replace(answer, reason=NoSuggestion.SUPERSEDED, timing_ms=watch.laps)
            if end is End.LANDED and (landed := self._landed(answer, flight, document, offset, watch)):
                return landed

    def _on_its_way(self, known: _Known, document: Document, offset: int) -> tuple[Flight | None, Rung]:
        if known.flight is not None and known.flight.is_under_way and known.flight.agrees(document, offset):
            return known.flight, Rung.IN_FLIGHT
        if flight := self._follow_ups.taken(document, offset):
            known.flight = flight
            return flight, Rung.FOLLOW_UP
        return None, Rung.NETWORK

    def _make_way(self, known: _Known) -> None:
        """For a question of its own: the document's last one is over, and so are those that nobody waits for."""
        if known.flight is not None:
            known.flight.leave(End.LEFT)
        for other in self._documents.values():
            if other.flight is not None:
                other.flight.leave_if_alone()

    async def _debounced(
        self, answer: Answer, document: Document, offset: int, trigger: Trigger, watch: StopWatch
    ) -> Mix:
        """Wait for another key. What else the model should see is gathered in the last of the wait."""
        answer.trace.wait_ms = self._wait_ms(document, offset, trigger)
        wait_s = answer.trace.wait_ms / 1000
        rest_s = min(wait_s, DEADLINE_S)
        await asyncio.sleep(wait_s - rest_s)
        watch.lap("debounce")
        mix, _ = await asyncio.gather(self._questions.mix(document, offset), asyncio.sleep(rest_s))
        watch.lap("context")
        return mix

    def _wait_ms(self, document: Document, offset: int, trigger: Trigger) -> float:
        if self._settings.debounce_ms is not None and trigger is Trigger.AUTOMATIC:
            return self._settings.debounce_ms
        return wait_ms(Cursor(document, offset), self._of(document.uri).keys, self._mood, trigger)

    def _departed(self, answer: Answer, document: Document, offset: int, trigger: Trigger, mix: Mix) -> Flight:
        """The question on its way. What was under way for the document is given up."""
        known, who = self._of(document.uri), answer.request_id
        if known.flight is not None:
            known.flight.leave(End.LEFT)
        draft = draft_at(self._recent.all_of(document.uri), document, offset)
        request = self._questions.request(
            document, offset, mix, answer.mode, request_id=who, trigger=trigger, draft=draft, trace=answer.trace
        )
        flight = known.flight = Flight(request, document, offset, self._manners)
        self._warming.stop()
        self._ahead.leave()
        flight.start(self._completer, self._keep)
        return flight

    def _keep(self, flight: Flight) -> None:
        """Remember what an answer says, for the keystrokes to come."""
        self._ahead.trust(True)
        self._follow_ups.generated(flight)
        if flight.finish is not None:
            self._heard(flight.finish)
        outcome = flight.outcome
        if isinstance(outcome, Insertion):
            self._recent.add(
                flight.document.uri,
                suggestion_at(flight.document, flight.offset, outcome, flight.request.request_id),
            )
        if flight.first_text_ms:
            self._answer_ms += _ANSWER_SHARE * (flight.first_text_ms - self._answer_ms)

    def _heard(self, finish: FinishChunk) -> None:
        """What the end of an answer says of the service."""
        self._least_wait_ms = finish.debounce_ms
        if finish.model and finish.model != self._model:
            self._forget_model()
            self._model = finish.model

    def _landed(
        self, answer: Answer, flight: Flight, document: Document, offset: int, watch: StopWatch
    ) -> Answer | None:
        """What a whole answer says at `offset`; None where all of it has been typed by now. That another text had none
        says nothing of this one."""
        outcome = flight.outcome
        watch.lap("postprocess")
        answer = _measured(answer, flight, watch)
        answer.trace.asked = flight.request.request_id
        is_its_own = (flight.document.text, flight.offset) == (document.text, offset)
        if isinstance(outcome, Insertion):
            suggestion = suggestion_at(flight.document, flight.offset, outcome, flight.request.request_id)
            left = outcome if is_its_own else remaining(suggestion, document, offset)
            if left is None:
                return None
            self._recent.give(document.uri, suggestion)
            self._follow_ups.shown(document, offset, left, offset - flight.offset)
            return replace(answer, insertion=left)
        if not is_its_own:
            return None
        if flight.finish is not None and flight.finish.finish is Finish.DEADLINE:
            return replace(answer, reason=NoSuggestion.DEADLINE, detail=outcome.value)
        answer = replace(answer, reason=NoSuggestion.WITHHELD, detail=outcome.value)
        self._barren = document, offset, answer
        return answer

    def _has_time(self) -> bool:
        """Whether the service may be asked ahead: it has nothing else to do, and is well."""
        flights = (known.flight for known in self._documents.values())
        if not self._settings.warm_ahead or self._least_wait_ms or any(one and one.is_under_way for one in flights):
            return False
        try:
            self._admit(Trigger.AUTOMATIC, Mode.LINE)
        except Paused:
            return False
        return True

    @property
    def _mood(self) -> Mood:
        seen = self._outcomes
        return Mood(seen.num_rejected, seen.has_accepted, self._answer_ms, self._least_wait_ms, seen.rejected_at)


def _refused(answer: Answer, refusal: Refusal) -> Answer:
    return replace(answer, reason=refusal.reason, detail=refusal.detail)


def _measured(answer: Answer, flight: Flight, watch: StopWatch) -> Answer:
    """With what the flight took."""
    finish = flight.finish
    timing = finish.timing_ms if finish else Timing()
    service = {"queue": timing.queue, "prefill": timing.prefill, "decode": timing.decode}
    laps = {**watch.laps, "first_text": round(flight.first_text_ms, 2), **service}
    usage, flight.unclaimed = flight.unclaimed, Usage()
    return replace(answer, model=finish.model if finish else "", usage=usage, timing_ms=laps)
