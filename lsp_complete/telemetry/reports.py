"""What the events say: how often suggestions come, how fast, what is made of them and what is left of it.

Pure functions of records. Knows neither where they are kept nor how figures are drawn (page.py, cli/stats.py).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from lsp_complete.protocol.events import (
    Accepted,
    After,
    Cancelled,
    Error,
    Event,
    Hex,
    Part,
    Record,
    Rejected,
    Rejection,
    Requested,
    Retained,
    Rung,
    Shown,
    Suppressed,
    Tokens,
    TypedThrough,
)

UNKNOWN = "unknown"
_PERCENTS = (50, 90, 99)
# A prompt of which less was cached was computed, not read.
_WARM_SHARE = 0.5
# The later a look, the truer; those at save and at close come at any time.
_LOOKS = (After.S600, After.S300, After.S120, After.S30, After.S15, After.CLOSE)


class By(StrEnum):
    LANGUAGE = "language"
    MODE = "mode"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds from the question to its answer."""

    num: int
    p50_ms: float
    p90_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of suggestions, but for `num_asked` and `rungs`, which count questions and answers. `retained` has the
    kept share of accepted characters at each look."""

    num_asked: int = 0
    num_shown: int = 0
    num_typed_through: int = 0
    num_in_part: int = 0
    num_whole: int = 0
    num_undone: int = 0
    num_offered: int = 0
    num_accepted: int = 0
    retained_per_offered: float = 0.0
    retained_per_accepted: float = 0.0
    retained: dict[str, float] = field(default_factory=dict)
    latency: dict[str, Latency] = field(default_factory=dict)
    rungs: dict[str, int] = field(default_factory=dict)
    local_share: float = 0.0
    tokens: Tokens = field(default_factory=Tokens)
    wasted_share: float = 0.0
    suppressed: dict[str, int] = field(default_factory=dict)
    rejected: dict[str, int] = field(default_factory=dict)
    cancelled: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)

    @property
    def acceptance(self) -> float:
        """Of what was shown, what was accepted, wholly or in part, and not undone."""
        return _ratio(self.num_in_part + self.num_whole - self.num_undone, self.num_shown)


def report(records: Sequence[Record], by: By | None = None) -> dict[str, Figures]:
    """Figures of each group, the largest first; of all under the name "all" where they are not grouped."""
    events = [record.event for record in records]
    group = _grouping(events, by)
    groups: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        groups[group(event)].append(event)
    return {name: figures(groups[name]) for name in sorted(groups, key=lambda name: (-len(groups[name]), name))}


def figures(events: Iterable[Event]) -> Figures:
    kinds: dict[type, list[Event]] = defaultdict(list)
    for event in events:
        kinds[type(event)].append(event)
    shown = [event for event in kinds[Shown] if isinstance(event, Shown)]
    new = [event for event in shown if event.is_new]
    accepted, whole = _accepted(kinds[Accepted])
    rejected = Counter(event.reason for event in kinds[Rejected] if isinstance(event, Rejected))
    num_undone = rejected.pop(Rejection.UNDONE, 0)
    looks = _looks(kinds[Retained])
    num_offered = sum(event.num_characters for event in new)
    num_accepted = sum(accepted.values())
    kept, looked_at = _last_looks(looks)
    tokens = _tokens(events for name in (Shown, Suppressed, Cancelled) for events in kinds[name])
    rungs = Counter(event.rung.value for event in shown)
    return Figures(
        num_asked=len(kinds[Requested]),
        num_shown=len(new),
        num_typed_through=len(kinds[TypedThrough]),
        num_in_part=len(accepted.keys() - whole),
        num_whole=len(whole),
        num_undone=num_undone,
        num_offered=num_offered,
        num_accepted=num_accepted,
        retained_per_offered=_ratio(_ratio(kept, looked_at) * num_accepted, num_offered),
        retained_per_accepted=_ratio(kept, looked_at),
        retained={after: share for after in After if (share := _share(looks, after)) is not None},
        latency=_latencies(shown),
        rungs=dict(rungs.most_common()),
        local_share=_ratio(rungs.total() - rungs[Rung.NETWORK], rungs.total()),
        tokens=tokens,
        wasted_share=_ratio(tokens.wasted, tokens.generated),
        suppressed=_counted(event.reason for event in kinds[Suppressed] if isinstance(event, Suppressed)),
        rejected=_counted(rejected.elements()),
        cancelled=_counted(event.stage for event in kinds[Cancelled] if isinstance(event, Cancelled)),
        errors=_counted(event.failure for event in kinds[Error] if isinstance(event, Error)),
    )


def _grouping(events: Iterable[Event], by: By | None) -> Callable[[Event], str]:
    """Which group an event is in, by what is known of its request."""
    if by is None:
        return lambda event: "all"
    names: dict[Hex, str] = {}
    for event in events:
        if by is By.MODEL and isinstance(event, Shown | Suppressed):
            names[event.request] = getattr(event, "model", "") or names.get(event.request, "")
        elif isinstance(event, Requested) and by is not By.MODEL:
            names[event.request] = (event.language if by is By.LANGUAGE else event.mode).value
    return lambda event: names.get(event.request) or UNKNOWN


def _accepted(events: Iterable[Event]) -> tuple[dict[Hex, int], set[Hex]]:
    """Characters accepted of each suggestion, and those that were accepted whole."""
    accepted: dict[Hex, int] = defaultdict(int)
    whole = set()
    for event in events:
        if isinstance(event, Accepted):
            accepted[event.request] = max(accepted[event.request], event.num_characters)
            if event.part is Part.WHOLE:
                whole.add(event.request)
    return accepted, whole


def _looks(events: Iterable[Event]) -> dict[Hex, dict[After, Retained]]:
    looks: dict[Hex, dict[After, Retained]] = defaultdict(dict)
    for event in events:
        if isinstance(event, Retained):
            looks[event.request][event.after] = event
    return looks


def _last_looks(looks: dict[Hex, dict[After, Retained]]) -> tuple[float, int]:
    """Characters that were there at the last look at each text, and those that had been accepted."""
    last = [next((found[after] for after in _LOOKS if after in found), None) for found in looks.values()]
    seen = [one for one in last if one is not None]
    return sum(one.share * one.num_characters for one in seen), sum(one.num_characters for one in seen)


def _share(looks: dict[Hex, dict[After, Retained]], after: After) -> float | None:
    seen = [found[after] for found in looks.values() if after in found]
    kept = sum(one.share * one.num_characters for one in seen)
    return _ratio(kept, sum(one.num_characters for one in seen)) if seen else None


def _latencies(shown: Iterable[Shown]) -> dict[str, Latency]:
    totals: dict[str, list[float]] = {"local": [], "warm": [], "cold": []}
    for event in shown:
        is_warm = event.tokens.cached >= _WARM_SHARE * event.tokens.prompt
        name = "local" if event.rung is not Rung.NETWORK else "warm" if is_warm else "cold"
        totals[name].append(event.timings.total)
    return {name: _latency(values) for name, values in totals.items() if values}


def _latency(values: list[float]) -> Latency:
    """Percentiles by the nearest rank."""
    ordered = sorted(values)
    return Latency(len(ordered), *(ordered[math.ceil(len(ordered) * percent / 100) - 1] for percent in _PERCENTS))


def _tokens(events: Iterable[Event]) -> Tokens:
    found = [event.tokens for event in events if isinstance(event, Shown | Suppressed | Cancelled)]
    return Tokens(*(sum(getattr(one, name) for one in found) for name in Tokens.__slots__))


def _counted(values: Iterable[StrEnum]) -> dict[str, int]:
    return dict(Counter(value.value for value in values).most_common())


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
