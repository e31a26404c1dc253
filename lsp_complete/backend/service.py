"""The completion service itself: a `Completer` over an engine. Knows nothing of HTTP.

The story of a request: render the prompt, wait for a slot, generate, stop where enough has come, say what it took.
Whoever closes the generator closes the engine's, and that is cancellation.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass, field, replace

from lsp_complete.backend.admission import Admission
from lsp_complete.backend.engines.base import Engine, EngineChunk, Job
from lsp_complete.backend.fim import Family, Template, all_markers
from lsp_complete.backend.metrics import Metrics
from lsp_complete.backend.stops import Stop, feed_all, rest_of_all, stops_for
from lsp_complete.protocol.completion import (
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
    TextChunk,
    Timing,
    Usage,
)
from lsp_complete.protocol.errors import CompletionError, EngineFailed, InvalidRequest

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Record:
    """What has become of one request so far. Numbers and fixed words only: it goes into the log."""

    request_id: str
    started: float = field(default_factory=time.monotonic)
    stage: str = "render"
    outcome: str = "cancelled"
    queue_ms: float = 0.0
    first_text_ms: float | None = None
    usage: Usage = field(default_factory=Usage)
    timing: Timing = field(default_factory=Timing)

    def elapsed_ms(self) -> float:
        return round((time.monotonic() - self.started) * 1000, 2)


class CompletionService:
    """Raises EngineFailed when made with an engine whose model is not of the family."""

    def __init__(self, engine: Engine, family: Family, queue_length: int, metrics: Metrics) -> None:
        self.engine = engine
        self.admission = Admission(engine.num_slots, queue_length)
        self._metrics = metrics
        self._template = Template(family, engine.tokenizer)
        self._markers = all_markers(family)
        metrics.waiting.set_function(lambda: self.admission.num_waiting)

    async def complete(
        self, request: CompletionRequest, end: Stop | None = None
    ) -> AsyncGenerator[CompletionChunk, None]:
        """As `Completer` has it. `end`: where the text ends, instead of at the end of the line or the block."""
        deadline = _deadline(request)
        with self._recorded(request) as record:
            job, healed = await self._job(request)
            stops = stops_for(request, self._markers, healed, end)
            record.stage = "queue"
            async with self.admission.enter(deadline):
                record.queue_ms = record.elapsed_ms()
                record.stage = "prefill"
                if request.prefill_only:
                    yield await self._prefill(job, record)
                    return
                async with contextlib.aclosing(self._generate(job, stops, record, deadline)) as chunks:
                    async for chunk in chunks:
                        yield chunk

    async def _job(self, request: CompletionRequest) -> tuple[Job, str]:
        """The engine's job, and the blank that the template left for the model to write."""
        room = self.engine.context_tokens - request.max_tokens
        if room < 1 or request.max_tokens < 1:
            raise InvalidRequest("max_tokens: out of range")
        prompt = await asyncio.to_thread(self._template.render, request, room)
        job = Job(prompt.tokens, request.max_tokens, request.session_id, self._template.stop_tokens)
        return job, prompt.healed

    async def _prefill(self, job: Job, record: _Record) -> FinishChunk:
        return self._finished(Finish.STOP, await self.engine.prefill(job), record)

    async def _generate(
        self, job: Job, stops: Sequence[Stop], record: _Record, deadline: float | None
    ) -> AsyncGenerator[CompletionChunk, None]:
        step = EngineChunk(usage=Usage(prompt_tokens=len(job.prompt)))
        async with contextlib.aclosing(self.engine.generate(job)) as steps:
            while (finish := step.finish or _stopped(stops)) is None:
                try:
                    async with asyncio.timeout_at(deadline):
                        step = await anext(steps)
                except TimeoutError:
                    finish = Finish.DEADLINE
                    break
                self._note(step, record)
                if step.usage.completion_tokens:
                    record.stage = "decode"
                if text := feed_all(stops, step.text):
                    yield self._text(text, record)
        if _stopped(stops) is None and (text := rest_of_all(stops)):
            yield self._text(text, record)
        yield self._finished(_stopped(stops) or finish, step, record)

    def _note(self, step: EngineChunk, record: _Record) -> None:
        record.usage, record.timing = step.usage, replace(step.timing_ms, queue=record.queue_ms)

    def _text(self, text: str, record: _Record) -> TextChunk:
        if record.first_text_ms is None:
            record.first_text_ms = record.elapsed_ms()
            self._metrics.first_text.observe(record.first_text_ms / 1000)
        return TextChunk(text)

    def _finished(self, finish: Finish, step: EngineChunk, record: _Record) -> FinishChunk:
        self._note(step, record)
        record.outcome = finish.value
        return FinishChunk(finish, self.engine.model, record.usage, record.timing)

    @contextlib.contextmanager
    def _recorded(self, request: CompletionRequest) -> Generator[_Record, None, None]:
        record = _Record(request.request_id)
        self._metrics.in_flight.inc()
        try:
            yield record
        except CompletionError as error:
            record.outcome = error.type
            raise
        except Exception as error:
            record.outcome = EngineFailed.type
            _log.exception("request failed")
            raise EngineFailed(type(error).__name__) from error
        finally:
            self._metrics.in_flight.dec()
            self._account(record)

    def _account(self, record: _Record) -> None:
        use = "wasted" if record.outcome == "cancelled" else "answered"
        self._metrics.requests.labels(record.outcome).inc()
        self._metrics.prompt_tokens.inc(record.usage.prompt_tokens)
        self._metrics.cached_tokens.inc(record.usage.cached_tokens)
        self._metrics.generated_tokens.labels(use).inc(record.usage.completion_tokens)
        _log.info(
            "request id=%s outcome=%s stage=%s total_ms=%s first_text_ms=%s queue_ms=%s prefill_ms=%s decode_ms=%s "
            "prompt_tokens=%d cached_tokens=%d completion_tokens=%d",
            _safe_id(record.request_id), record.outcome, record.stage, record.elapsed_ms(), record.first_text_ms,
            record.queue_ms, record.timing.prefill, record.timing.decode,
            record.usage.prompt_tokens, record.usage.cached_tokens, record.usage.completion_tokens,
        )  # fmt: skip


def _deadline(request: CompletionRequest) -> float | None:
    """On the event loop's clock; None for none."""
    return asyncio.get_running_loop().time() + request.deadline_ms / 1000 if request.deadline_ms else None


def _stopped(stops: Sequence[Stop]) -> Finish | None:
    return next((stop.finish for stop in stops if stop.stopped), None)


def _safe_id(request_id: str) -> str:
    """The id as it may stand in a log line, whatever a client sent."""
    return "".join(char for char in request_id[:64] if char.isalnum() or char in "-_.")
