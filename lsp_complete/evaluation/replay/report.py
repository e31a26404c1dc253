"""What a replay felt like, in figures. Pure functions of its log; several logs are added up first."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from lsp_complete.evaluation.quantiles import quantile
from lsp_complete.evaluation.replay.log import Log, Outcome
from lsp_complete.protocol.events import Accepted, Rung, Shown

_ACCEPTED = (Outcome.WHOLE, Outcome.PART)


@dataclass(frozen=True, slots=True)
class Quantiles:
    num: int
    p50: float
    p90: float
    p99: float


@dataclass(frozen=True, slots=True)
class Report:
    """Shares are of one. `local_share` is that of answers with a suggestion that cost no question to the service;
    `local_ms` is how long they took, without those that waited for an answer under way. `felt` is from the last
    key to ghost text where the user stopped, `warm` and `cold` by what the service had to compute. Of all generated
    tokens `wasted_share` is of requests that were cancelled, or asked ahead for nobody (`wasted_ahead_share` of it);
    `unshown_share` is of whole answers of which nothing was drawn: kept back by a filter, or overtaken."""

    num_keys: int
    hours: float
    requests_per_100_keys: float
    shown_per_100_keys: float
    asked_service_per_100_keys: float
    accepted: int
    accepted_share: float
    saved_keystrokes_share: float
    rungs: dict[str, float]
    local_share: float
    local_ms: Quantiles
    felt_ms: Quantiles
    felt_warm_ms: Quantiles
    felt_cold_ms: Quantiles
    drawn_ms: Quantiles
    flicker: int
    wrong_joins: int
    cached_share: float
    cold_share: float
    wasted_share: float
    wasted_ahead_share: float
    unshown_share: float
    generated_tokens: int
    precision: float
    recall: float


def report(log: Log) -> Report:
    shown = [record.event for record in log.records if isinstance(record.event, Shown)]
    rungs = Counter(event.rung for event in shown)
    rung_of = {str(event.request): event.rung for event in shown}
    at_once = [one for one in log.answered if rung_of.get(one.request_id) not in (Rung.NETWORK, Rung.IN_FLIGHT, None)]
    num_new = sum(one.is_new for one in log.drawn)
    told, accepted = acceptances(log)
    felt_cold = [one.felt_ms for one in log.pauses if one.request_id in log.cold]
    return Report(
        num_keys=log.num_keys,
        hours=round(log.typed_s / 3600, 2),
        requests_per_100_keys=_ratio(100 * log.num_requests, log.num_keys, 1),
        shown_per_100_keys=_ratio(100 * num_new, log.num_keys, 1),
        asked_service_per_100_keys=_ratio(100 * log.num_prompts, log.num_keys, 1),
        accepted=len(accepted),
        accepted_share=_ratio(len(accepted), num_new),
        saved_keystrokes_share=_ratio(log.num_saved, log.num_keys + log.num_saved),
        rungs={rung.value: _ratio(number, rungs.total()) for rung, number in rungs.most_common()},
        local_share=_ratio(rungs.total() - rungs[Rung.NETWORK], rungs.total()),
        local_ms=quantiles([one.took_ms for one in at_once]),
        felt_ms=quantiles([one.felt_ms for one in log.pauses]),
        felt_warm_ms=quantiles([one.felt_ms for one in log.pauses if one.request_id not in log.cold]),
        felt_cold_ms=quantiles(felt_cold),
        drawn_ms=quantiles([one.since_key_ms for one in log.drawn]),
        flicker=log.num_flickers,
        wrong_joins=len(log.wrong_joins),
        cached_share=_ratio(log.cached_tokens, log.prompt_tokens),
        cold_share=_ratio(log.num_cold, log.num_prompts),
        wasted_share=_ratio(log.wasted_tokens, log.generated_tokens),
        wasted_ahead_share=_ratio(log.wasted_ahead_tokens, log.generated_tokens),
        unshown_share=_ratio(log.unshown_tokens, log.generated_tokens),
        generated_tokens=log.generated_tokens,
        precision=_ratio(len(told & accepted), len(told), 4, 1.0),
        recall=_ratio(len(told & accepted), len(accepted), 4, 1.0),
    )


def acceptances(log: Log) -> tuple[set[str], set[str]]:
    """What was accepted as the server has it, and as the user does. What goes on from an earlier suggestion counts as
    that one."""
    first: dict[str, str] = {}
    told, last = set[str](), ""
    for record in log.records:
        if isinstance(event := record.event, Shown):
            last = event.request if event.is_new else last
            first[event.request] = last
        elif isinstance(event, Accepted):
            told.add(event.request)
    return told, {first.get(one, one) for one, outcome in log.outcomes.items() if outcome in _ACCEPTED}


@dataclass(frozen=True, slots=True)
class Warmth:
    """Of answers from the service: the cached share of the prompts of those that are not the first one in a file, and
    milliseconds to the first text of those that are the first after a change of file."""

    cached_share: float
    first_ms: Quantiles
    later_ms: Quantiles


def warmth(log: Log) -> Warmth:
    events = {str(one.event.request): one.event for one in log.records if isinstance(one.event, Shown)}
    visits, first, later = set[int](), list[Shown](), list[Shown]()
    for answered in log.answered:
        event = events.get(answered.request_id)
        if event is not None and event.tokens.prompt:
            (later if answered.visit in visits else first).append(event)
            visits.add(answered.visit)
    prompt, cached = (sum(getattr(event.tokens, name) for event in later) for name in ("prompt", "cached"))
    times = ([event.timings.first_text for event in events] for events in (first, later))
    return Warmth(_ratio(cached, prompt), *map(quantiles, times))


def headline(report: Report) -> dict[str, float]:
    """The figures that the project's goals are set in."""
    return {
        "local_share": report.local_share,
        "flicker": report.flicker,
        "wrong_joins": report.wrong_joins,
        "accepted": report.accepted,
        "wasted_share": report.wasted_share,
        "local_p99_ms": report.local_ms.p99,
        "felt_p50_ms": report.felt_ms.p50,
        "felt_p99_ms": report.felt_ms.p99,
        "saved_keystrokes_share": report.saved_keystrokes_share,
    }


def rows(report: Report) -> Iterable[tuple[str, str]]:
    """Name and value, as a table has them."""
    for name, value in asdict(report).items():
        if isinstance(value, dict):
            yield name.replace("_", " "), ", ".join(f"{key} {one:g}" for key, one in value.items())
        else:
            yield name.replace("_", " "), f"{value:g}"


def quantiles(values: Sequence[float]) -> Quantiles:
    return Quantiles(len(values), *(round(quantile(values, share), 2) for share in (0.5, 0.9, 0.99)))


def _ratio(number: float, whole: float, num_digits: int = 3, default: float = 0.0) -> float:
    return round(number / whole, num_digits) if whole else default
