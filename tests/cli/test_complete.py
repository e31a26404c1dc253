"""`lsp-complete complete`: what is not asked needs no service, and a service that is not there is told of."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from lsp_complete.cli.main import app


@pytest.fixture(autouse=True)
def _no_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no place where one could be found or started."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LSP_COMPLETE_RUNTIME", str(tmp_path / "file" / "run"))


def complete(file: Path, text: str) -> Result:
    file.write_text(text)
    return CliRunner().invoke(app, ["complete", f"{file}:1:1"])


@pytest.mark.parametrize(("name", "text", "reason"), [("a.py", "", "empty-file"), (".env", "x = 1\n", "excluded")])
def test_where_nothing_is_asked_no_service_is_looked_for(tmp_path: Path, name: str, text: str, reason: str) -> None:
    result = complete(tmp_path / name, text)
    assert (result.exit_code, f"no suggestion ({reason})" in result.stderr) == (0, True)


def test_a_service_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    result = complete(tmp_path / "a.py", "x = 1\n")
    assert (result.exit_code, "no folder for the local service" in result.stderr) == (1, True)


def test_explain_knows_it_as_it_knows_an_editor_s_questions(tmp_path: Path) -> None:
    complete(tmp_path / "a.py", "x = 1\n")
    (row,) = json.loads(CliRunner().invoke(app, ["explain", "last", "--json"]).stdout)["records"]
    assert (row["path"], row["trigger"], row["reason"]) == ("a.py", "invoked", "service")
