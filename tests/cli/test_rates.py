"""What `top` reads out of two looks at a service's metrics."""

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.backend.metrics import Metrics
from lsp_complete.cli.rates import Look, Rates, rates, read


def look(metrics: Metrics, at_s: float) -> Look:
    return read(metrics.exposition().decode(), at_s)


def test_nothing_that_has_not_happened_has_a_figure():
    metrics = Metrics()
    found = asdict(rates(look(metrics, 0), look(metrics, 60)))
    figures = {name: value for name, value in found.items() if value not in (None, {})}
    assert figures == {"requests_per_s": 0, "evictions_per_min": 0}


def test_only_what_lies_between_two_looks_counts():
    metrics = Metrics()
    metrics.prompt_tokens.inc(1000)
    metrics.requests.labels("stop").inc(5)
    before = look(metrics, 100)
    metrics.prompt_tokens.inc(200)
    metrics.cached_tokens.inc(190)
    metrics.requests.labels("stop").inc(2)
    metrics.requests.labels("cancelled").inc()
    metrics.cancelled.labels("prefill").inc()
    metrics.generated_tokens.labels("answered").inc(30)
    metrics.generated_tokens.labels("wasted").inc(10)
    found = rates(before, look(metrics, 110))
    assert found.reuse_share == pytest.approx(0.95)
    assert found.outcomes == {"cancelled": 1, "stop": 2}
    assert found.cancelled == {"prefill": 1}
    assert found.requests_per_s == pytest.approx(0.3)
    assert found.wasted_share == pytest.approx(0.25)


def test_warm_and_cold_are_told_apart():
    metrics = Metrics()
    for seconds in (0.05, 0.06, 0.07):
        metrics.first_text.labels("warm").observe(seconds)
    metrics.first_text.labels("cold").observe(1.5)
    found = rates(Look(), look(metrics, 1))
    assert 50 <= (found.warm_first_text_ms or 0) <= 75
    assert 1000 <= (found.cold_first_text_ms or 0) <= 2000


def test_a_service_that_was_started_anew_counts_from_its_start():
    old, new = Metrics(), Metrics()
    old.requests.labels("stop").inc(100)
    new.requests.labels("stop").inc(3)
    assert rates(look(old, 0), look(new, 10)).outcomes == {"stop": 3}


@given(st.lists(st.floats(0, 30), min_size=1, max_size=50))
def test_a_percentile_lies_between_the_borders_of_what_was_observed(seconds):
    metrics = Metrics()
    for one in seconds:
        metrics.queue.observe(one)
    late = rates(Look(), look(metrics, 1)).late_queue_ms
    assert late is not None
    assert 0 <= late <= 20_000


def test_what_is_no_exposition_is_a_value_error():
    with pytest.raises(ValueError):
        read('lsp_complete_requests_total{outcome="stop 1', 0)


def test_every_figure_has_a_row():
    from lsp_complete.cli import top

    empty = rates(Look(), Look())
    assert isinstance(empty, Rates)
    assert all(isinstance(cell(empty), str) for cell in top._ROWS.values())
