import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lsp_complete.cli.main import app
from lsp_complete.client import private_lines
from lsp_complete.server import records

ROW = {
    "at_s": 1_800_000_000.0,
    "session": "new",
    "request_id": "aaaa1111",
    "trigger": "automatic",
    "path": "src/app.py",
    "language": "python",
    "line": 12,
    "mode": "line",
    "rung": "network",
    "reason": None,
    "detail": "",
    "num_characters": 9,
    "model": "some-model",
    "usage": {"prompt_tokens": 500, "cached_tokens": 498, "completion_tokens": 7},
    "timing_ms": {"debounce": 81.0, "total": 321.0},
    "debounce_ms": 80.0,
    "asked": "aaaa1111",
    "snippets": [
        {"path": "src/rates.py", "source": "definitions", "score": 0.016, "tokens": 40, "cut": ""},
        {"path": "src/old.py", "source": "similar", "score": 0.015, "tokens": 90, "cut": "no room"},
    ],
    "late": ["similar"],
    "num_redacted": 1,
    "filters": ["indentation"],
    "outcome": "shown",
}
UNANSWERED = {"reason": "offline", "detail": "gone", "usage": {}, "outcome": "", "snippets": []}
NONE = ROW | {"request_id": "bbbb2222"} | UNANSWERED


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """What two sessions have left, the last line of it cut off."""
    file = tmp_path / "state" / records.FILE
    private_lines.append(file, [ROW | {"session": "old", "request_id": "cccc3333"}, ROW, NONE], 10**6)
    private_lines.append(file, [{"session": "new", "request_id": "aaaa1111", "outcome": "accepted"}], 10**6)
    with file.open("a") as stream:
        stream.write('{"session": "new", "requ')
    return file


def run(*arguments: str, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["explain", *arguments])
    assert result.exit_code == exit_code, result.output
    return result


def as_json(*arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(*arguments, "--json").stdout)["records"]
    return found


def test_each_question_of_the_last_session_is_a_line(file: Path) -> None:
    head, first, second = run().stdout.splitlines()
    assert head.split() == ["when", "id", "place", "answer", "ms", "reused", "became"]
    assert first.split()[1:] == ["aaaa11", "app.py:12", "network", "321", "100%", "accepted"]
    assert second.split()[1:] == ["bbbb22", "app.py:12", "offline", "321", "gone"]


def test_neighbours_that_asked_nothing_and_became_the_same_are_one_line(file: Path) -> None:
    again = ROW | {"rung": "typed-through", "usage": {}, "outcome": "shown already"}
    rows = [again | {"request_id": f"dddd{num}"} for num in range(14)]
    asked = [ROW | {"request_id": f"eeee{num}"} for num in range(2)]
    private_lines.append(file, [*rows[:9], *asked, *rows[9:]], 10**6)
    *_, first, second, third, fourth = run("--last", "4").stdout.splitlines()
    assert first.split()[-4:] == ["typed-through", "321", "9", "times"]
    assert [line.split()[1] for line in (second, third)] == ["eeee0", "eeee1"]
    assert fourth.split()[-2:] == ["5", "times"]
    assert len(as_json("--last", "4")) == 4


def test_one_is_shown_in_full(file: Path) -> None:
    shown = run("aaaa").stdout
    for word in ("after a pause of 80 ms", "498 of 500 reused", "some-model", "1 credentials", "similar", "indentation",
                 "src/rates.py", "1 of 2 found, 1 left out: no room", "accepted", "321 ms: debounce 81"):  # fmt: skip
        assert word in shown
    assert "none, offline: gone" in run("last").stdout


def test_programs_get_what_became_of_each(file: Path) -> None:
    assert [(row["request_id"], row["outcome"]) for row in as_json()] == [("aaaa1111", "accepted"), ("bbbb2222", "")]
    assert [row["request_id"] for row in as_json("--last", "1")] == ["bbbb2222"]
    assert [row["request_id"] for row in as_json("aaaa1111")] == ["aaaa1111"]


def test_where_nothing_is_recorded_that_is_said() -> None:
    assert "nothing is recorded" in run().stdout
    assert "nothing is recorded" in run("last", exit_code=1).stderr
    assert as_json() == []


def test_an_id_that_nobody_knows_is_told(file: Path) -> None:
    assert "no record of zzzz" in run("zzzz", exit_code=1).stderr
