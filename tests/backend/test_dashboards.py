"""What operators import reads what the service has: every name, every label value, in expressions that parse."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import promql_parser
import pytest
import yaml

import lsp_complete.backend
from lsp_complete.backend.metrics import Metrics
from lsp_complete.protocol import errors

FOLDER = Path(lsp_complete.backend.__file__).parent / "dashboards"
DASHBOARD = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
RULES = yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))["groups"]
ALERTS = [rule for group in RULES for rule in group["rules"]]


def expressions() -> Iterator[str]:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$__rate_interval", "1m").replace("$instance", ".*")
    yield from (rule["expr"] for rule in ALERTS)


def samples() -> dict[str, set[str]]:
    """The label names of each sample the service exposes."""
    metrics, known = Metrics(), {}
    labelled = {one._name: set(one._labelnames) for one in vars(metrics).values() if hasattr(one, "_labelnames")}
    for family in metrics.registry.collect():
        suffixes = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}[family.type]
        known.update({family.name + suffix: {"le"} | labelled.get(family.name, set()) for suffix in suffixes})
    return known


@pytest.mark.parametrize("expression", list(expressions()))
def test_every_expression_parses_and_names_what_there_is(expression):
    promql_parser.parse(expression)
    known = samples()
    for name, matchers in re.findall(r"(lsp_complete_\w+)(?:\{([^}]*)\})?", expression):
        assert name in known
        assert set(re.findall(r"(\w+)=", matchers)) <= known[name] | {"instance", "job"}


def test_outcomes_in_alerts_are_types_of_errors():
    types = {error.type for error in vars(errors).values() if isinstance(error, type) and hasattr(error, "type")}
    for rule in ALERTS:
        for outcomes in re.findall(r'outcome=~"([^"]*)"', rule["expr"]):
            assert set(outcomes.split("|")) <= types


def test_every_alert_says_what_is_wrong_and_where_to_look():
    for rule in ALERTS:
        assert rule["annotations"].keys() == {"summary", "description"}
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["for"]


def test_every_metric_has_a_place_on_the_dashboard():
    shown = {name for expression in expressions() for name in re.findall(r"lsp_complete_\w+", expression)}
    for family in Metrics().registry.collect():
        is_shown = any(name.startswith(family.name) for name in shown)
        assert is_shown or family.name == "lsp_complete_start_time_seconds"


def test_panels_lie_beside_each_other():
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]]
    assert len(set(places)) == len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
