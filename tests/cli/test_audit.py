import json
import time
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lsp_complete.cli.main import app
from lsp_complete.client.audit_file import Entry, SentSnippet, append
from lsp_complete.config.paths import audit_file

SNIPPETS = (SentSnippet("rates.py", "definitions", 40), SentSnippet("rates.py", "similar", 90))


def run(*arguments: str, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["audit", *arguments])
    assert result.exit_code == exit_code, result.output
    return result


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)["requests"]


def entry(number: int, age_s: float = 0.0, text: str = "") -> Entry:
    at_s = time.time() - age_s
    return Entry(
        at_s, "https://models.example:443", f"r{number}", path="app.py", num_bytes=1200, snippets=SNIPPETS, text=text
    )


def test_without_a_record_it_says_so() -> None:
    assert run().stdout == "nothing is recorded\n"
    assert run_json() == []


def test_it_shows_what_left_and_to_where() -> None:
    append(audit_file(), [entry(1)])
    shown = run().stdout
    assert all(word in shown for word in ("app.py", "rates.py", "1,200"))
    assert "1 requests, 1,200 bytes, to https://models.example:443" in shown
    (row,) = run_json()
    assert (row["path"], row["snippets"][0]["path"], row["num_bytes"]) == ("app.py", "rates.py", 1200)
    assert "request" not in row


def test_text_that_was_kept_is_in_the_json_alone() -> None:
    append(audit_file(), [entry(1, text='{"prefix": "seldom_word"}')])
    assert "seldom_word" not in run().stdout
    assert run_json()[0]["request"] == {"prefix": "seldom_word"}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), ["r1", "r2", "r3"]),
        (("--last", "2"), ["r2", "r3"]),
        (("--since", "1h"), ["r2", "r3"]),
        (("--since", "5m"), ["r3"]),
        (("--since", "2d", "--last", "1"), ["r3"]),
        (("--since", "2000-01-31"), ["r1", "r2", "r3"]),
        (("--since", "2999-01-31T12:00+00:00"), []),
    ],
)
def test_one_asks_for_the_last_or_for_a_time(arguments: tuple[str, ...], expected: list[str]) -> None:
    append(audit_file(), [entry(1, 7200), entry(2, 1800), entry(3)])
    assert [row["request_id"] for row in run_json(*arguments)] == expected


def test_all_since_a_time_are_shown_and_of_too_many_the_count_is_said() -> None:
    append(audit_file(), [entry(number) for number in range(30)])
    assert len(run_json("--since", "1d")) == 30
    assert "20 of 30 requests" in run().stdout


@pytest.mark.parametrize("since", ["soon", "-1h", "99999999999h", "2026-13-01"])
def test_a_time_that_is_none_is_refused(since: str) -> None:
    assert "--since" in run("--since", since, exit_code=2).stderr


def test_it_can_be_cleared() -> None:
    append(audit_file(), [entry(1)])
    run("--clear")
    assert run_json() == []


def test_what_cannot_be_read_is_said_without_a_traceback() -> None:
    append(audit_file(), [entry(1)])
    with audit_file().open("a") as file:
        file.write("no json\n")
    assert "1 lines of" in run().stderr
    audit_file().unlink()
    audit_file().mkdir()
    assert "audit.jsonl" in run(exit_code=1).stderr


@pytest.mark.parametrize("path", ["[/]", "a[red]b.py", "x\x1b[31m.py"])
def test_a_path_is_shown_as_it_is(path: str) -> None:
    append(audit_file(), [Entry(time.time(), "this machine", path=path)])
    assert path.replace("\x1b", "") in run().stdout.replace("\x1b", "")
