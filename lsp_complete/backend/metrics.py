"""What the service counts, as Prometheus metrics. Numbers and fixed words only: no code, no paths, no session ids."""

import time
from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from lsp_complete.backend.engines.base import EngineStats

_NAME = "lsp_complete_"
# The budget is 50 to 120 ms warm; a cold prompt on a slow CPU takes ten seconds.
_SECONDS = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 5, 10, 20)
# From a 1.5B on two slow cores to a small model on a GPU.
_TOKENS_PER_S = (2, 5, 10, 20, 35, 50, 75, 100, 150, 250, 500)


class Metrics:
    """One set of metrics, in a registry of its own. `engine_stats` is asked whenever somebody reads them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.engine_stats: Callable[[], EngineStats] = EngineStats
        self.registry.register(_OfEngine(lambda: self.engine_stats()))
        self.in_flight = self._gauge("in_flight", "Requests being answered now")
        self.waiting = self._gauge("waiting", "Requests waiting for a slot")
        self.sessions = self._gauge("sessions", "Sessions that have asked of late")
        self._gauge("start_time_seconds", "When the service was started, in Unix time").set(time.time())
        self.degradation = self._gauge("degradation_level", "What is left out under load, 0 to 3")
        self.requests = self._counter("requests", "Requests by how they ended", "outcome")
        self.cancelled = self._counter("cancelled", "Cancelled requests by where they were", "stage")
        self.prompt_tokens = self._counter("prompt_tokens", "Tokens of prompts")
        self.cached_tokens = self._counter("cached_tokens", "Tokens of prompts taken from the prefix cache")
        self.generated_tokens = self._counter("generated_tokens", "Tokens by whether somebody got them", "use")
        self.ahead_tokens = self._counter("ahead_tokens", "Tokens computed before anybody asked for them", "kind")
        self.draft_tokens = self._counter("draft_tokens", "Drafted tokens by what became of them", "result")
        self.affinity = self._counter("affinity", "Requests of known sessions by their prefix being here", "result")
        self.response_cache = self._counter("response_cache", "Requests by whether the answer was known", "result")
        self.filtered = self._counter("filtered", "Answers kept back, by reason", "reason")
        self.first_text = self._histogram("first_text_seconds", "From the request to its first text", _SECONDS, "cache")
        self.queue = self._histogram("queue_seconds", "From the request to its slot", _SECONDS)
        self.decode = self._histogram("decode_tokens_per_second", "Rate of decoding in a request", _TOKENS_PER_S)

    def exposition(self) -> bytes:
        """The metrics in Prometheus's text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(_NAME + name, what, labels, registry=self.registry)

    def _gauge(self, name: str, what: str) -> Gauge:
        return Gauge(_NAME + name, what, registry=self.registry)

    def _histogram(self, name: str, what: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(_NAME + name, what, labels, registry=self.registry, buckets=buckets)


class _OfEngine(Collector):
    """What the engine counts itself, steps that were finished for nobody included."""

    def __init__(self, stats: Callable[[], EngineStats]) -> None:
        self._stats = stats

    def collect(self) -> Iterator[Metric]:
        stats = self._stats()
        yield GaugeMetricFamily(_NAME + "held_tokens", "Tokens that the prefix cache holds", stats.held_tokens)
        for name, what, value in (
            ("engine_prefilled_tokens", "Tokens of prompts that were computed", stats.prefilled_tokens),
            ("engine_generated_tokens", "Tokens that were generated", stats.generated_tokens),
            ("evictions", "Prompts that lost their prefix cache to others", stats.evictions),
            ("evicted_age_seconds", "For how long those had been unused, together", stats.evicted_age_s),
        ):
            yield CounterMetricFamily(_NAME + name, what, value)
