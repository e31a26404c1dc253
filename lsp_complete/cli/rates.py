"""What a service's counters say of the time between two looks at them. Knows neither HTTP nor terminals."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from prometheus_client.parser import text_string_to_metric_families

_PREFIX = "lsp_complete_"
_Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Look:
    """The samples of one reading, by name and labels. The empty one is what they were before the service started."""

    at_s: float = 0.0
    samples: Mapping[tuple[str, _Labels], float] = field(default_factory=dict)

    def value(self, name: str, **labels: str) -> float:
        return self.samples.get((_PREFIX + name, tuple(sorted(labels.items()))), 0.0)

    def by(self, name: str, label: str) -> dict[str, float]:
        """A sample's values by those of a label that it has alone."""
        return {
            pairs[0][1]: value
            for (found, pairs), value in self.samples.items()
            if found == _PREFIX + name and [key for key, _ in pairs] == [label]
        }


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares are of 1, None where nothing happened; times in milliseconds. `late_…` are 95th percentiles."""

    requests_per_s: float | None
    outcomes: Mapping[str, int]
    cancelled: Mapping[str, int]
    filtered: Mapping[str, int]
    reuse_share: float | None
    affinity_share: float | None
    response_cache_share: float | None
    wasted_share: float | None
    accepted_draft_share: float | None
    warm_first_text_ms: float | None
    late_warm_first_text_ms: float | None
    cold_first_text_ms: float | None
    late_cold_first_text_ms: float | None
    late_queue_ms: float | None
    decode_tokens_per_s: float | None
    evictions_per_min: float | None
    evicted_age_s: float | None


def read(exposition: str, at_s: float) -> Look:
    """Raises ValueError where the text is not Prometheus's."""
    samples = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(exposition)
        for sample in family.samples
    }
    return Look(at_s, samples)


def rates(before: Look, after: Look) -> Rates:
    """`before` may be `Look(start of the service)`. A service that was started anew since then counts from there."""
    if any(after.samples.get(key, 0.0) < value for key, value in before.samples.items() if key[0].endswith("_total")):
        before = Look(before.at_s)
    took_s = after.at_s - before.at_s

    def gained(name: str, label: str) -> dict[str, int]:
        old = before.by(name, label)
        found = {key: round(value - old.get(key, 0.0)) for key, value in after.by(name, label).items()}
        return {key: value for key, value in sorted(found.items()) if value}

    def grown(name: str) -> float:
        return after.value(name) - before.value(name)

    def share(name: str, label: str, part: str) -> float | None:
        found = gained(name, label)
        return _ratio(found.get(part, 0), sum(found.values()))

    def quantile(share: float, name: str, scale: float, **labels: str) -> float | None:
        value = _quantile(share, _buckets(before, name, labels), _buckets(after, name, labels))
        return None if value is None else value * scale

    outcomes = gained("requests_total", "outcome")
    return Rates(
        requests_per_s=_ratio(sum(outcomes.values()), took_s),
        outcomes=outcomes,
        cancelled=gained("cancelled_total", "stage"),
        filtered=gained("filtered_total", "reason"),
        reuse_share=_ratio(grown("cached_tokens_total"), grown("prompt_tokens_total")),
        affinity_share=share("affinity_total", "result", "hit"),
        response_cache_share=share("response_cache_total", "result", "hit"),
        wasted_share=share("generated_tokens_total", "use", "wasted"),
        accepted_draft_share=share("draft_tokens_total", "result", "accepted"),
        warm_first_text_ms=quantile(0.5, "first_text_seconds", 1000, cache="warm"),
        late_warm_first_text_ms=quantile(0.95, "first_text_seconds", 1000, cache="warm"),
        cold_first_text_ms=quantile(0.5, "first_text_seconds", 1000, cache="cold"),
        late_cold_first_text_ms=quantile(0.95, "first_text_seconds", 1000, cache="cold"),
        late_queue_ms=quantile(0.95, "queue_seconds", 1000),
        decode_tokens_per_s=quantile(0.5, "decode_tokens_per_second", 1),
        evictions_per_min=_ratio(grown("evictions_total") * 60, took_s),
        evicted_age_s=_ratio(grown("evicted_age_seconds_total"), grown("evictions_total")),
    )


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _buckets(look: Look, name: str, labels: Mapping[str, str]) -> dict[float, float]:
    wanted = set(labels.items())
    found = {}
    for (sample, pairs), value in look.samples.items():
        if sample == f"{_PREFIX}{name}_bucket" and wanted <= set(pairs):
            found[float(dict(pairs)["le"])] = value
    return found


def _quantile(share: float, before: Mapping[float, float], after: Mapping[float, float]) -> float | None:
    """As Prometheus's `histogram_quantile`: linear within a bucket; beyond the last border, that border."""
    counts = [(border, count - before.get(border, 0.0)) for border, count in sorted(after.items())]
    if not counts or counts[-1][1] <= 0:
        return None
    wanted = share * counts[-1][1]
    for (low, below), (high, upto) in pairwise([(0.0, 0.0), *counts]):
        if upto >= wanted:
            return low if high == float("inf") else low + (high - low) * (wanted - below) / max(upto - below, 1e-9)
    return None
