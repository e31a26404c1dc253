"""The completion service itself: a `Completer` over an engine. Knows nothing of HTTP.

The story of a request: may it come in at all, is its answer known, wait for a slot, render the prompt, generate, stop
where enough has come, keep back what may not leave, say what it took. Whoever closes the generator closes the engine's,
and that is cancellation.
"""

import asyncio
import contextlib
import logging
import math
from collections import OrderedDict
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass

from lsp_complete.backend.admission import Admission, Mean, Ticket, Tier
from lsp_complete.backend.degradation import Degradation
from lsp_complete.backend.engines.base import Engine, EngineLost, Job
from lsp_complete.backend.exits import Exit, Exits
from lsp_complete.backend.fim import Family, Template, all_markers
from lsp_complete.backend.metrics import Metrics
from lsp_complete.backend.rate_limits import RateLimits
from lsp_complete.backend.record import Record
from lsp_complete.backend.response_cache import Answer, ResponseCache, key_of
from lsp_complete.backend.stops import MarkerStop, Stop, feed_all, rest_of_all, stops_for
from lsp_complete.protocol.completion import (
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
    TextChunk,
    Trigger,
)
from lsp_complete.protocol.errors import CompletionError, DeadlinePassed, EngineFailed, InvalidRequest, Superseded

_log = logging.getLogger(__name__)

# Least characters a model token stands for in source code, for clients that budget without a tokenizer. Measured with
# Qwen2.5-Coder on Python's standard library: 4.4 on the mean of files.
CHARS_PER_TOKEN = 3.6
# Sessions that are remembered as having asked; of the others a prompt is taken to be cold.
_NUM_SESSIONS = 1024


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, and who sends it. `stop` are texts that end the answer, in place of the end of the line or of the
    block; `may_wait_beside` says that a newer request does not replace it in the queue."""

    request: CompletionRequest
    tenant: str = ""
    stop: tuple[str, ...] | None = None
    may_wait_beside: bool = False

    @property
    def tier(self) -> Tier:
        if self.request.nobody_waits:
            return Tier.WARMING
        return Tier.INVOKED if self.request.trigger is Trigger.INVOKED else Tier.AUTOMATIC

    @property
    def session(self) -> tuple[str, str]:
        return self.tenant, self.request.session_id


class CompletionService:
    """Raises EngineFailed when made with an engine whose model is not of the family. `lost` is set once the engine has
    to be loaded anew."""

    def __init__(
        self,
        engine: Engine,
        family: Family,
        queue_length: int,
        metrics: Metrics,
        *,
        exits: Exits = Exits(),  # noqa: B008 - has no state
        cache_s: float = 0.0,
        requests_per_s: float = 0.0,
    ) -> None:
        self.engine = engine
        self.lost = asyncio.Event()
        self.admission = Admission(engine.num_slots, queue_length)
        self._degradation = Degradation(lambda: self.admission.waiting_per_slot, 0.0)
        self._limits = RateLimits(requests_per_s)
        self._cache = ResponseCache(cache_s)
        self._exits = exits
        self._template = Template(family, engine.tokenizer)
        self._markers = all_markers(family)
        self._sessions: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._prefill_s = Mean()
        self._metrics = metrics
        metrics.engine_stats = engine.stats
        metrics.waiting.set_function(lambda: self.admission.num_waiting)
        metrics.sessions.set_function(lambda: len(self._sessions))

    def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        return self.answer(Asked(request))

    async def answer(self, asked: Asked) -> AsyncGenerator[CompletionChunk, None]:
        """As `Completer.complete` has it."""
        with self._recorded(asked) as record:
            self._limits.take(asked.tenant, _now())
            key = key_of(asked.request, self.engine.model, asked.tenant, asked.stop or ())
            if known := self._known(asked, key, record):
                for chunk in known:
                    yield chunk
                return
            self.level()
            self._degradation.check(asked.tier, asked.request.mode, _now())
            async with contextlib.aclosing(self._admitted(asked, key, record)) as chunks:
                async for chunk in chunks:
                    yield chunk

    def level(self) -> int:
        """Of degradation, now."""
        level = self._degradation.level(_now())
        self._metrics.degradation.set(level)
        return level

    def debounce_ms(self) -> int:
        return self._degradation.debounce_ms(_now())

    def _known(self, asked: Asked, key: bytes, record: Record) -> list[CompletionChunk]:
        if asked.request.prefill_only:
            return []
        answer = self._cache.get(key, _now())
        self._metrics.response_cache.labels("hit" if answer else "miss").inc()
        if answer is None:
            return []
        record.stage, record.outcome = "cache", answer.finish.value
        finish = FinishChunk(answer.finish, self.engine.model, debounce_ms=self.debounce_ms(), level=self.level())
        return [TextChunk(answer.text), finish] if answer.text else [finish]

    async def _admitted(self, asked: Asked, key: bytes, record: Record) -> AsyncGenerator[CompletionChunk, None]:
        deadline, text = _deadline(asked.request), ""
        async with self.admission.enter(self._ticket(asked, deadline)):
            record.has_slot(self._metrics)
            job, healed = await self._job(asked, deadline)
            stops = self._stops(asked, healed)
            exits = self._exits.of(asked.request.prefix)
            async with contextlib.aclosing(self._generate(job, stops, exits, record, deadline)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, TextChunk):
                        text += chunk.text
                    elif job.max_tokens:
                        self._cache.put(key, Answer(text, chunk.finish), _now())
                    yield chunk

    def _ticket(self, asked: Asked, deadline: float | None) -> Ticket:
        """Of a session that has asked before the prompt is taken to be in the cache: that is the least it can take."""
        request = asked.request
        characters = len(request.prefix) + len(request.suffix) + sum(len(s.text) for s in request.snippets)
        num_tokens = min(characters / CHARS_PER_TOKEN, self.engine.context_tokens)
        cold_s = 0.0 if asked.session in self._sessions else num_tokens * self._prefill_s.value
        self._remember(asked)
        return Ticket(
            asked.tier,
            math.inf if deadline is None else deadline,
            None if asked.may_wait_beside or not request.session_id else asked.session,
            cold_s,
        )

    def _remember(self, asked: Asked) -> None:
        if asked.request.session_id:
            self._sessions[asked.session] = None
            self._sessions.move_to_end(asked.session)
        if len(self._sessions) > _NUM_SESSIONS:
            self._sessions.popitem(last=False)

    def _stops(self, asked: Asked, healed: str) -> list[Stop]:
        end = None if asked.stop is None else MarkerStop(asked.stop)
        return stops_for(asked.request, self._markers, healed, end)

    async def _job(self, asked: Asked, deadline: float | None) -> tuple[Job, str]:
        """The engine's job, and the blank that the template left for the model to write."""
        request = asked.request
        room = self.engine.context_tokens - request.max_tokens
        if room < 1 or request.max_tokens < 1:
            raise InvalidRequest("max_tokens: out of range")
        try:
            async with asyncio.timeout_at(deadline):
                prompt = await asyncio.to_thread(self._template.render, request, room)
        except TimeoutError:
            raise DeadlinePassed("the deadline passed while the prompt was rendered") from None
        max_tokens = 0 if request.prefill_only else request.max_tokens
        stop_tokens, draft = self._template.stop_tokens, prompt.draft
        return Job(prompt.tokens, max_tokens, request.session_id, stop_tokens, asked.tenant, draft), prompt.healed

    async def _generate(
        self, job: Job, stops: Sequence[Stop], exits: Sequence[Exit], record: Record, deadline: float | None
    ) -> AsyncGenerator[CompletionChunk, None]:
        """The text, through stops and exits, then how it ended."""
        all_stops, finish = [*stops, *exits], None
        async with contextlib.aclosing(self.engine.generate(job)) as steps:
            while finish is None:
                try:
                    async with asyncio.timeout_at(deadline):
                        step = await anext(steps)
                except TimeoutError:
                    finish = Finish.DEADLINE
                    break
                record.note(step)
                if record.is_ahead and self.admission.is_wanted:
                    raise Superseded("somebody waits for the slot")  # what is computed stays in the cache
                if text := feed_all(all_stops, step.text):
                    yield self._text(text, record)
                finish = step.finish or _stopped(all_stops)
        if text := rest_of_all(exits, "" if _stopped(stops) else rest_of_all(stops)):
            yield self._text(text, record)
        self._note_rates(record)
        yield self._finished(_stopped(exits) or _stopped(stops) or finish, job, exits, record)

    def _text(self, text: str, record: Record) -> TextChunk:
        record.has_text(self._metrics)
        return TextChunk(text)

    def _finished(self, finish: Finish, job: Job, exits: Sequence[Exit], record: Record) -> FinishChunk:
        for stopped in [exit_ for exit_ in exits if exit_.stopped]:
            self._metrics.filtered.labels(stopped.reason).inc()
        if job.max_tokens and record.first_text_ms is None and not _stopped(exits):
            self._metrics.filtered.labels("empty").inc()
        finish = finish if job.max_tokens or finish is Finish.DEADLINE else Finish.STOP
        record.outcome = finish.value
        load = self.debounce_ms(), self.level()
        return FinishChunk(finish, self.engine.model, record.usage, record.timing, *load)

    def _note_rates(self, record: Record) -> None:
        num_computed = record.usage.prompt_tokens - record.usage.cached_tokens
        if num_computed > 0 and record.timing.prefill > 0:
            self._prefill_s.note(record.timing.prefill / 1000 / num_computed)

    @contextlib.contextmanager
    def _recorded(self, asked: Asked) -> Generator[Record, None, None]:
        is_known, is_ahead = asked.session in self._sessions, asked.request.nobody_waits
        record = Record(asked.request.request_id, is_known_session=is_known, is_ahead=is_ahead)
        self._metrics.in_flight.inc()
        try:
            yield record
        except CompletionError as error:
            record.outcome = error.type
            if isinstance(error, EngineLost):
                self.lost.set()
            raise
        except Exception as error:
            record.outcome = EngineFailed.type
            _log.exception("request failed")
            raise EngineFailed(type(error).__name__) from error
        finally:
            self._metrics.in_flight.dec()
            record.account(self._metrics)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _deadline(request: CompletionRequest) -> float | None:
    """On the event loop's clock; None for none."""
    return _now() + request.deadline_ms / 1000 if request.deadline_ms else None


def _stopped(stops: Sequence[Stop]) -> Finish | None:
    return next((stop.finish for stop in stops if stop.stopped), None)
