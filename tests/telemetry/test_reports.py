"""Figures are what the events say, and nothing is counted twice."""

import json
import re
import time

import pytest
from typer.testing import CliRunner

from lsp_complete.cli.main import app
from lsp_complete.config.paths import state_folder
from lsp_complete.protocol.completion import Mode, Trigger
from lsp_complete.protocol.events import (
    Accepted,
    After,
    Cancelled,
    Hex,
    How,
    Language,
    Part,
    Record,
    Rejected,
    Rejection,
    Requested,
    Retained,
    Rung,
    Shown,
    Stage,
    Timings,
    Tokens,
    TypedThrough,
    hashed,
)
from lsp_complete.telemetry.page import page
from lsp_complete.telemetry.reports import By, figures, report
from lsp_complete.telemetry.store import FILE, EventStore
from tests.telemetry.season import MODELS, season

A, B, C = Hex("aa"), Hex("bb"), Hex("cc")


def shown(request, rung=Rung.NETWORK, total=100.0, cached=90, **fields):
    return Shown(request, rung, 10, timings=Timings(total=total), tokens=Tokens(100, cached, 5, 0), **fields)


def test_the_funnel_counts_suggestions_and_not_keystrokes():
    found = figures(
        [
            shown(A),
            shown(B, is_new=False),
            Accepted(A, Part.WORD, How.INFERRED, 4),
            Accepted(A, Part.WORD, How.INFERRED, 7),
            shown(C),
            Accepted(C, Part.WORD, How.INFERRED, 4),
            Accepted(C, Part.WHOLE, How.COMMAND, 10),
            Rejected(C, Rejection.UNDONE),
            TypedThrough(B, 10),
        ]
    )
    counts = (found.num_shown, found.num_in_part, found.num_whole, found.num_undone, found.num_typed_through)
    assert counts == (2, 1, 1, 1, 1)
    assert (found.num_offered, found.num_accepted, found.acceptance) == (20, 17, 0.5)
    assert found.rejected == {}


def test_what_is_kept_is_taken_from_the_last_look():
    accepted = [Accepted(one, Part.WHOLE, How.INFERRED, 10) for one in (A, B)]
    looks = [
        Retained(A, After.S15, 1.0, 10),
        Retained(A, After.S300, 0.5, 10),
        Retained(A, After.SAVE, 0.0, 10),
        Retained(B, After.S15, 1.0, 10),
    ]
    found = figures([shown(A), shown(B), shown(C), *accepted, *looks])
    assert found.retained_per_accepted == 0.75
    assert found.retained_per_offered == 0.5
    assert found.retained == {After.S15: 1.0, After.S300: 0.5, After.SAVE: 0.0}


def test_latency_is_told_apart_warm_cold_and_local():
    answers = [shown(Hex(f"{n:x}"), total=float(n)) for n in range(1, 101)]
    found = figures([*answers, shown(A, total=900.0, cached=0), shown(B, Rung.CACHED, 1.0)]).latency
    assert {name: (one.num, one.p50_ms, one.p90_ms, one.p99_ms) for name, one in found.items()} == {
        "local": (1, 1.0, 1.0, 1.0),
        "warm": (100, 50.0, 90.0, 99.0),
        "cold": (1, 900.0, 900.0, 900.0),
    }


def test_the_share_without_the_network_and_the_waste_are_of_all_answers():
    found = figures(
        [shown(A), shown(B, Rung.TYPED_THROUGH, is_new=False), Cancelled(C, Stage.STREAMING, 1.0, Tokens(9, 0, 10, 10))]
    )
    assert found.rungs == {"network": 1, "typed-through": 1}
    assert found.local_share == 0.5
    assert found.wasted_share == 0.5


def test_events_go_to_the_group_of_their_question():
    events = [
        Requested(A, Language.PYTHON, Mode.LINE, Trigger.AUTOMATIC),
        shown(A, model=hashed("m")),
        Accepted(A, Part.WHOLE, How.INFERRED, 10),
        Requested(B, Language.GO, Mode.BLOCK, Trigger.AUTOMATIC),
        shown(C),
    ]
    records = [Record(Hex(), event, 0.0) for event in events]
    for by, names in (
        (By.LANGUAGE, ["python", "go", "unknown"]),
        (By.MODE, ["line", "block", "unknown"]),
        (By.MODEL, [hashed("m"), "unknown"]),
    ):
        found = report(records, by)
        assert sorted(found) == sorted(names)
        assert found[names[0]].num_whole == 1
    assert list(report(records)) == ["all"]


def test_of_no_events_there_is_no_report():
    assert report([]) == {}
    assert figures([]).acceptance == 0.0


def test_the_page_stands_alone():
    found = report(season(time.time()), By.LANGUAGE)
    html = page(found, "Suggestions", "since 7d")
    assert not re.search(r"https?:|src=|<script|url\(|@import", html)
    assert "prefers-color-scheme: dark" in html
    assert html.count("<h2>") == 2
    assert html.count("<div") == html.count("</div>")
    assert html.count("<table") == html.count("</table>")


def test_nothing_in_a_name_becomes_markup():
    assert "<b>" not in page({"<b>": figures([shown(A)])}, "<b>", "<b>").replace('<div class="card tile"><b>', "")


@pytest.fixture
def stats(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        result = CliRunner().invoke(app, ["stats", *arguments])
        return result.exit_code, result.output

    return run


@pytest.fixture
def _season():
    with EventStore(state_folder() / FILE) as store:
        store.add(season(time.time()))


def test_with_nothing_to_tell_the_command_says_how_to_change_that(stats):
    code, output = stats()
    assert code == 0
    assert "telemetry" in output
    assert stats("--json") == (0, "{}\n")
    assert not state_folder().exists()


@pytest.mark.usefixtures("_season")
def test_the_command_draws_tables(stats):
    code, output = stats()
    assert code == 0
    for words in ("suggestions accepted", "typed through", "██", "p99", "cold", "kept of what was accepted"):
        assert words in output
    assert max(map(len, output.splitlines())) <= 100


@pytest.mark.usefixtures("_season")
def test_the_command_names_the_models_that_the_catalogue_knows(stats):
    found = json.loads(stats("--by", "model", "--json")[1])
    assert set(MODELS) <= set(found)


@pytest.mark.usefixtures("_season")
def test_the_command_writes_a_page_and_looks_back_as_far_as_it_is_told(stats, tmp_path):
    assert stats("--html", str(tmp_path / "a.html"))[0] == 0
    assert "<table>" in (tmp_path / "a.html").read_text("utf-8")
    assert json.loads(stats("--since", "2999-01-01", "--json")[1]) == {}
    assert stats("--since", "yesterday")[0] == 2
