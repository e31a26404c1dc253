"""`lsp-complete stats` where there is nothing to show: it says why, and what to do."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lsp_complete.cli.main import app
from lsp_complete.telemetry.store import FILE, EventStore
from tests.telemetry.samples import records


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LSP_COMPLETE_STATE", str(tmp_path))
    monkeypatch.setenv("LSP_COMPLETE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    return tmp_path


def stats(*arguments: str, exit_code: int = 0, telemetry: str = "local") -> str:
    result = CliRunner().invoke(app, ["stats", *arguments], env={"LSP_COMPLETE_TELEMETRY": telemetry})
    assert result.exit_code == exit_code, result.output
    return result.output


def test_where_it_is_off_it_says_how_to_switch_it_on(state: Path) -> None:
    assert f'telemetry = "local" into {state / "config.toml"}' in stats(telemetry="off")


def test_where_it_is_on_it_says_where_records_would_be(state: Path) -> None:
    said = stats()
    assert "`telemetry` is `local`" in said
    assert str(state / FILE) in said


def test_records_that_are_too_old_are_none_since_then(state: Path) -> None:
    with EventStore(state / FILE, max_age_s=float("inf")) as store:
        store.add(records())
    assert "since 1m" in stats("--since", "1m")


def test_a_file_that_cannot_be_opened_is_told_of(state: Path) -> None:
    (state / FILE).mkdir()
    assert "lsp-complete: " in stats(exit_code=1)
