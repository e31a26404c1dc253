import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from lsp_complete.cli.index import app


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a small tree, with a place for databases beside it."""
    root = tmp_path / "my proj"
    root.mkdir()
    (root / "rates.py").write_text("import math\n\n\ndef old_rate(years):\n    return math.exp(years)\n")
    (root / ".env").write_text("KEY=1\n")
    monkeypatch.setenv("LSP_COMPLETE_INDEXES", str(tmp_path / "indexes"))
    monkeypatch.chdir(root)
    return root


def run(*arguments: str, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == exit_code, result.output
    return result


def run_json(*arguments: str, exit_code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", exit_code=exit_code).stdout)


def test_a_rebuilt_index_says_what_it_holds_and_what_not(root: Path) -> None:
    status = run_json("rebuild")
    assert (status["root"], status["state"]) == (str(root), "ready")
    assert (status["num_files"], status["num_definitions"]) == (1, 1)
    assert status["skipped"] == {"a secret file by its name": 1}
    assert run_json("status", str(root))["num_files"] == 1


def test_a_look_at_an_index_makes_none(root: Path) -> None:
    assert run_json("status")["state"] == "empty"
    assert run_json("query", "old_rate", exit_code=1)["definitions"] == []
    assert not (root.parent / "indexes").exists()


def test_progress_goes_to_stderr_in_plain_lines_where_there_is_no_terminal() -> None:
    result = run("rebuild")
    assert "indexed: 1 of 1 files" in result.stderr
    assert "1 files, 1 definitions" in result.stdout
    assert "1  a secret file by its name" in result.stdout


def test_a_rebuild_forgets_what_was_there(root: Path) -> None:
    run("rebuild")
    assert run_json("rebuild")["num_definitions"] == 1
    assert run_json("query", "old_rate")["definitions"][0]["line"] == 4


def test_a_query_prints_definitions_and_the_places_of_a_name(root: Path) -> None:
    run("rebuild")
    found = run_json("query", "old_rate", "--root", str(root))
    assert found["definitions"][0] | {"doc": ""} == {
        "path": "rates.py",
        "line": 4,
        "kind": "function",
        "language": "python",
        "signature": found["definitions"][0]["signature"],
        "doc": "",
        "parent": "",
    }
    assert found["references"] == [{"path": "rates.py", "line": 4}]
    assert run("query", "old_rate").stdout.splitlines()[-1] == "rates.py:4"


def test_a_name_that_stands_nowhere_fails() -> None:
    run("rebuild")
    assert run_json("query", "nowhere", exit_code=1) == {"definitions": [], "references": []}


def test_an_index_that_cannot_be_kept_fails_with_the_reason(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_COMPLETE_INDEXES", str(root / "rates.py" / "x"))
    status = run_json("rebuild", exit_code=1)
    assert status["state"] == "off"
    assert len(status["warnings"]) == 1
