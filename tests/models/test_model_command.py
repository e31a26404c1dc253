import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lsp_complete.cli.model import app
from lsp_complete.models.catalogue import CATALOGUE, QWEN_0_5B


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSP_COMPLETE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def _put_here(models: Path) -> Path:
    """A file that was found right earlier: its size and its stamp say so. It takes no room on the disk."""
    models.mkdir()
    path = models / QWEN_0_5B.file_name
    with path.open("wb") as file:
        file.truncate(QWEN_0_5B.num_bytes)
    stamp = f"{QWEN_0_5B.sha256} {QWEN_0_5B.num_bytes} {path.stat().st_mtime_ns}\n"
    (models / f".{QWEN_0_5B.file_name}.verified").write_text(stamp)
    return path


def test_list_shows_every_model_and_which_are_here(models: Path) -> None:
    _put_here(models)
    result = CliRunner().invoke(app, ["list"])
    assert result.exit_code == 0
    lines = {line.split()[0]: line.split() for line in result.stdout.splitlines()}
    assert all(entry.name in lines for entry in CATALOGUE)
    assert lines["qwen2.5-coder-0.5b"][1:] == ["491", "MB", "Apache-2.0", "qwen2.5-coder", "llamacpp", "yes"]
    assert lines["qwen2.5-coder-1.5b"][-1] == "no"
    assert lines["starcoder2-3b"][-3:] == ["transformers", "(GPU)", "no"]


def test_list_as_json_is_for_programs(models: Path) -> None:
    path = _put_here(models)
    rows = json.loads(CliRunner().invoke(app, ["list", "--json"]).stdout)
    assert [row["name"] for row in rows] == [entry.name for entry in CATALOGUE]
    assert rows[0]["path"] == str(path)
    assert rows[1]["path"] is None


def test_path_prints_the_path_and_nothing_else(models: Path) -> None:
    path = _put_here(models)
    result = CliRunner().invoke(app, ["path", "qwen2.5-coder-0.5b"])
    assert (result.exit_code, result.stdout, result.stderr) == (0, f"{path}\n", "")


@pytest.mark.usefixtures("models")
def test_path_of_an_absent_model_fails_with_a_hint_on_stderr() -> None:
    result = CliRunner().invoke(app, ["path", "qwen2.5-coder-0.5b"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "lsp-complete model pull qwen2.5-coder-0.5b" in result.stderr


@pytest.mark.parametrize("command", ["path", "pull"])
def test_an_unknown_name_is_answered_with_the_names_on_stderr(command: str) -> None:
    result = CliRunner().invoke(app, [command, "gpt"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "qwen2.5-coder-1.5b" in result.stderr


def test_pull_of_a_model_that_is_here_prints_its_path(models: Path) -> None:
    path = _put_here(models)
    result = CliRunner().invoke(app, ["pull", "qwen2.5-coder-0.5b"])
    assert (result.exit_code, result.stdout) == (0, f"{path}\n")


def test_a_file_of_the_users_own_needs_no_pull(tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF")
    assert CliRunner().invoke(app, ["pull", str(file)]).stdout == f"{file}\n"
