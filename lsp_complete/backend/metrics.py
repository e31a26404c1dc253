"""What the service counts, as Prometheus metrics. Numbers and fixed words only: no code, no paths, no session ids."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

# The budget is 50 to 120 ms warm; a cold prompt on a slow CPU takes ten seconds.
_SECONDS = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 5, 10, 20)


class Metrics:
    """One set of metrics, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        name = "lsp_complete_"
        self.in_flight = Gauge(name + "in_flight", "Requests being answered now", registry=self.registry)
        self.waiting = Gauge(name + "waiting", "Requests waiting for a slot", registry=self.registry)
        self.requests = Counter(name + "requests", "Requests by how they ended", ["outcome"], registry=self.registry)
        self.prompt_tokens = Counter(name + "prompt_tokens", "Tokens of prompts", registry=self.registry)
        self.cached_tokens = Counter(
            name + "cached_tokens", "Tokens of prompts taken from the prefix cache", registry=self.registry
        )
        self.generated_tokens = Counter(
            name + "generated_tokens", "Tokens generated, by whether somebody got them", ["use"], registry=self.registry
        )
        self.first_text = Histogram(
            name + "first_text_seconds", "From the request to its first text", buckets=_SECONDS, registry=self.registry
        )

    def exposition(self) -> bytes:
        """The metrics in Prometheus's text format."""
        return generate_latest(self.registry)
