"""What becomes of one request: kept while it runs, then counted and logged. Numbers and fixed words only."""

import logging
import time
from dataclasses import dataclass, field, replace

from lsp_complete.backend.engines.base import EngineChunk
from lsp_complete.backend.metrics import Metrics
from lsp_complete.protocol.completion import Timing, Usage

_log = logging.getLogger(__name__)

CANCELLED = "cancelled"
# A prompt of which so much was in the prefix cache is a warm one.
_WARM_SHARE = 0.5


@dataclass(slots=True)
class Record:
    request_id: str
    started: float = field(default_factory=time.monotonic)
    stage: str = "queue"
    outcome: str = CANCELLED
    queue_ms: float = 0.0
    first_text_ms: float | None = None
    is_known_session: bool = False
    is_ahead: bool = False
    usage: Usage = field(default_factory=Usage)
    timing: Timing = field(default_factory=Timing)

    def elapsed_ms(self) -> float:
        return round((time.monotonic() - self.started) * 1000, 2)

    @property
    def is_warm(self) -> bool:
        return self.usage.cached_tokens >= _WARM_SHARE * self.usage.prompt_tokens

    def note(self, step: EngineChunk) -> None:
        self.usage, self.timing = step.usage, replace(step.timing_ms, queue=self.queue_ms)
        if step.usage.completion_tokens:
            self.stage = "decode"

    def has_slot(self, metrics: Metrics) -> None:
        self.queue_ms, self.stage = self.elapsed_ms(), "prefill"
        if not self.is_ahead:
            metrics.queue.observe(self.queue_ms / 1000)

    def has_text(self, metrics: Metrics) -> None:
        if self.first_text_ms is None:
            self.first_text_ms = self.elapsed_ms()
            if not self.is_ahead:
                metrics.first_text.labels("warm" if self.is_warm else "cold").observe(self.first_text_ms / 1000)

    def account(self, metrics: Metrics) -> None:
        metrics.requests.labels(self.outcome).inc()
        if self.outcome == CANCELLED:
            metrics.cancelled.labels(self.stage).inc()
        if self.is_ahead:
            self._count_ahead(metrics)
        else:
            self._count_tokens(metrics)
        self._log()

    def _count_ahead(self, metrics: Metrics) -> None:
        """Apart, or the share of prompts that are reused would look worse than those who wait have it."""
        usage = self.usage
        metrics.ahead_tokens.labels("prompt").inc(max(0, usage.prompt_tokens - usage.cached_tokens))
        metrics.ahead_tokens.labels("generated").inc(usage.completion_tokens)

    def _count_tokens(self, metrics: Metrics) -> None:
        usage, use = self.usage, "wasted" if self.outcome == CANCELLED else "answered"
        metrics.prompt_tokens.inc(usage.prompt_tokens)
        metrics.cached_tokens.inc(usage.cached_tokens)
        metrics.generated_tokens.labels(use).inc(usage.completion_tokens)
        metrics.draft_tokens.labels("accepted").inc(usage.accepted_draft_tokens)
        metrics.draft_tokens.labels("rejected").inc(max(0, usage.draft_tokens - usage.accepted_draft_tokens))
        if self.is_known_session and usage.prompt_tokens:
            metrics.affinity.labels("hit" if self.is_warm else "miss").inc()
        if usage.completion_tokens > 1 and self.timing.decode > 0:
            # The first token comes with the prefill.
            metrics.decode.observe((usage.completion_tokens - 1) * 1000 / self.timing.decode)

    def _log(self) -> None:
        _log.info(
            "request id=%s outcome=%s stage=%s total_ms=%s first_text_ms=%s queue_ms=%s prefill_ms=%s decode_ms=%s "
            "prompt_tokens=%d cached_tokens=%d completion_tokens=%d",
            _safe_id(self.request_id), self.outcome, self.stage, self.elapsed_ms(), self.first_text_ms,
            self.queue_ms, self.timing.prefill, self.timing.decode,
            self.usage.prompt_tokens, self.usage.cached_tokens, self.usage.completion_tokens,
        )  # fmt: skip


def _safe_id(request_id: str) -> str:
    """The id as it may stand in a log line, whatever a client sent."""
    return "".join(char for char in request_id[:64] if char.isalnum() or char in "-_.")
