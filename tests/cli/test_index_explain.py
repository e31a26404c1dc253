import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lsp_complete.cli.main import app
from tests.context.trees import write_tree

TREE = {
    ".git/": "",
    ".gitignore": "hidden.py\n",
    "rates.py": 'def old_rate(years, of_cents):\n    """What it was."""\n    api_key = "' + "9f8a7b6c" + '5d4e3f2a"\n',
    "hidden.py": "def hidden_rate(years): ...\n",
    "data.bin": "\0",
    "app.py": "from rates import old_rate\nfrom hidden import hidden_rate\n\n\ndef run():\n    return old_rate()\n",
}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = write_tree(tmp_path / "my proj", TREE)
    monkeypatch.chdir(root)
    run("rebuild")
    return root


def run(*arguments: str, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(app, ["index", *arguments])
    assert result.exit_code == exit_code, result.output
    return result


def explained(*arguments: str, exit_code: int = 0) -> Any:
    return json.loads(run("explain", *arguments, "--json", exit_code=exit_code).stdout)


def test_it_says_what_the_model_would_see_and_why() -> None:
    report = explained("app.py:6:21")
    (snippet, *_) = [one for one in report["snippets"] if one["path"] == "rates.py"]
    assert snippet["packed"] == 1
    assert snippet["rank"]["definitions"] == 1
    assert "def old_rate(years, of_cents)" in snippet["text"]
    assert report["prompt"]["prefix"].endswith("return old_rate(")
    assert report["prompt"]["prefix_tokens"] > 0
    assert (report["path"], report["mode"], report["index"]) == ("app.py", "line", "ready")
    assert report["retrievers"]["definitions"]["num_found"] >= 1


def test_nothing_that_may_not_leave_is_in_it(root: Path) -> None:
    (root / "app.py").write_text(TREE["app.py"] + 'token = "' + "9f8a7b6c" + '5d4e3f2a"\n')
    shown = run("explain", "app.py:6:21", "--json").stdout
    assert "9f8a7b6c" not in shown
    assert "hidden_rate(years)" not in shown
    assert json.loads(shown)["prompt"]["num_redacted"] >= 1


def test_for_people_it_is_a_table() -> None:
    shown = run("explain", "app.py:6:21").stdout
    assert all(word in shown for word in ("definitions 1", "rates.py", "prompt, about, in tokens"))


@pytest.mark.parametrize(
    ("name", "reason"), [("hidden.py", "ignored by .gitignore"), (".env", "a secret file by its name")]
)
def test_for_a_file_that_may_not_leave_it_says_why(root: Path, name: str, reason: str) -> None:
    (root / name).write_text("x = 1\n")
    assert reason in run("explain", f"{name}:1:1", exit_code=1).stderr
    assert explained(f"{name}:1:1", exit_code=1)["denied"] == reason


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("app.py", "not FILE:LINE:COL"),
        ("app.py:0:1", "not FILE:LINE:COL"),
        ("app.py:99:1", "app.py has 7 lines"),
        ("none.py:1:1", "No such file"),
        ("[/]:1:1", "[/]: No such file"),
        (".:1:1", "Is a directory"),
        ("data.bin:1:1", "data.bin is binary"),
    ],
)
def test_a_place_that_is_none_is_refused(place: str, says: str) -> None:
    assert says in run("explain", place, exit_code=2).stderr


def test_a_file_outside_of_the_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 1\n")
    assert "does not lie in" in run("explain", "../other.py:1:1", "--root", ".", exit_code=2).stderr


def test_an_empty_index_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_COMPLETE_INDEXES", str(tmp_path / "none"))
    assert "lsp-complete index rebuild" in run("explain", "app.py:6:21").stdout
