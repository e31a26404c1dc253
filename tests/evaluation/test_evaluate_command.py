import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lsp_complete.cli import evaluate as command
from lsp_complete.evaluation.infilling import Suggest
from lsp_complete.text.document import Document

_ROW = {
    "task_id": "double",
    "entry_point": "double",
    "prompt": "def double(number):\n",
    "suffix": "    return result\n",
    "canonical_solution": "    result = 2 * number\n",
    "test": "def check(candidate):\n    assert candidate(4) == 8\n",
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two rows, and a suggester that is right, in other words than the data, each time."""

    async def suggest(_document: Document, _offset: int) -> str:
        return "    result = number + number"

    @asynccontextmanager
    async def suggester() -> AsyncIterator[Suggest]:
        yield suggest

    monkeypatch.setattr(command, "_suggester", suggester)
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(_ROW) + "\n" + json.dumps(_ROW) + "\n")
    return path


def test_the_last_line_is_json_for_programs(data: Path) -> None:
    result = CliRunner().invoke(command.app, ["infilling", str(data), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout.splitlines()[-1]) == {"pass_at_1": 1.0, "exact_match": 0.0, "num": 2}


def test_people_get_a_table(data: Path) -> None:
    result = CliRunner().invoke(command.app, ["infilling", str(data), "--limit", "1"])
    assert [line.split() for line in result.stdout.splitlines()[1:]] == [
        ["pass@1", "100.0%"],
        ["exact", "match", "0.0%"],
        ["rows", "1"],
    ]


def test_absent_data_is_told_on_stderr(tmp_path: Path) -> None:
    result = CliRunner().invoke(command.app, ["infilling", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no such data" in result.stderr
