import gzip
import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pytest

from lsp_complete.evaluation.infilling import (
    EvaluationError,
    Report,
    Row,
    Score,
    completion,
    evaluate,
    is_exact,
    load_rows,
    program,
    select_rows,
)
from lsp_complete.evaluation.sandbox import Outcome, run
from lsp_complete.text.document import Document

_REPOSITORY = Path(__file__).parents[2]
_DATA = Path(os.environ.get("LSP_COMPLETE_EVALDATA") or _REPOSITORY.parent / "shared" / "evaldata")
_HUMAN_EVAL = _DATA / "human-eval-infilling"

needs_data = pytest.mark.skipif(
    not _HUMAN_EVAL.is_dir(),
    reason="no HumanEval-Infilling here; set LSP_COMPLETE_EVALDATA to the folder that holds it",
)

_DOUBLE = Row(
    task_id="double",
    entry_point="double",
    prompt="def double(number):\n",
    suffix="    return result\n",
    canonical_solution="    result = 2 * number\n",
    test="def check(candidate):\n    assert candidate(4) == 8\n",
)


def _row(name: str, num_chars: int = 10) -> Row:
    return Row(name, "f", "x" * (num_chars - 3), "yyy", "    pass\n", "")


def _write(path: Path, rows: Iterable[Row]) -> Path:
    text = "".join(json.dumps(asdict(row)) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_rows_are_read_from_a_file_packed_or_not(tmp_path: Path, name: str) -> None:
    assert load_rows(_write(tmp_path / name, [_DOUBLE, _row("b")])) == [_DOUBLE, _row("b")]


def test_of_a_folder_the_single_line_file_is_read(tmp_path: Path) -> None:
    _write(tmp_path / "HumanEval-MultiLineInfilling.jsonl.gz", [_row("multi")])
    _write(tmp_path / "HumanEval-SingleLineInfilling.jsonl.gz", [_row("single")])
    assert load_rows(tmp_path) == [_row("single")]


@pytest.mark.parametrize("name", ["", "none.jsonl"])
def test_absent_data_is_told_with_where_to_get_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(EvaluationError, match=r"no such data.*openai/human-eval-infilling"):
        load_rows(tmp_path / name)


@pytest.mark.parametrize("line", ["{", "[]", '{"task_id": "a"}', json.dumps(asdict(_DOUBLE) | {"prompt": 1})])
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(asdict(_DOUBLE)) + "\n\n" + line + "\n")
    with pytest.raises(EvaluationError, match=r"rows\.jsonl, line 3: not a row"):
        load_rows(path)


def test_a_damaged_file_is_a_readable_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(b"not packed at all")
    with pytest.raises(EvaluationError, match="cannot be read"):
        load_rows(path)


def test_the_same_numbers_select_the_same_rows() -> None:
    rows = [_row(f"r{number}") for number in range(8)]
    assert [row.task_id for row in select_rows(rows, 3, 7, 100)] == ["r6", "r7", "r2"]
    assert select_rows(rows, 3, 7, 100) != select_rows(rows, 3, 8, 100)
    assert select_rows(rows, 99, 7, 100)[:3] == select_rows(rows, 3, 7, 100)


def test_long_rows_are_left_out_after_the_shuffle() -> None:
    rows = [_row(f"r{number}", 20 if number == 7 else 10) for number in range(8)]
    assert [row.task_id for row in select_rows(rows, 2, 7, 20)] == ["r6", "r2"]
    assert [row.task_id for row in select_rows(rows, 2, 7, 21)] == ["r6", "r7"]


@pytest.mark.parametrize(
    ("answer", "exact"),
    [
        ("    result = 2 * number\n", True),
        ("    result = 2 * number", True),
        ("    result = 2 * number  \n    print(result)", True),
        ("    result = 2 * number\r\n", True),
        ("result = 2 * number", False),
        ("    result = number * 2", False),
        ("\n    result = 2 * number", False),
        ("", False),
    ],
)
def test_an_answer_is_exact_when_its_first_line_is(answer: str, exact: bool) -> None:
    assert is_exact(_DOUBLE, answer) is exact


@pytest.mark.parametrize(
    ("hole", "answer", "expected"),
    [
        ("    a\n", "    b", "    b\n"),
        ("    a\n", "    b\n    c\n", "    b\n"),
        ("    a\n", "", "\n"),
        ("    a\n    b\n", "    c\n    d", "    c\n    d\n"),
        ("    a\n    b\n", "    c\n    d\n", "    c\n    d\n"),
        ("a < ", "b < ", "b < "),
        ("a:\n  b", "c:\n  d", "c:\n  d"),
    ],
)
def test_the_answer_fills_the_hole_as_a_suggestion_would(hole: str, answer: str, expected: str) -> None:
    row = Row("r", "f", "", "", hole, "")
    assert completion(row, answer) == expected


async def test_the_suggester_sees_the_document_and_the_place_of_the_hole() -> None:
    seen: list[tuple[str, str, str]] = []

    async def suggest(document: Document, offset: int) -> str:
        seen.append((document.text[:offset], document.text[offset:], document.language))
        return ""

    await evaluate([_DOUBLE], suggest)
    assert seen == [(_DOUBLE.prompt, _DOUBLE.suffix, "python")]


async def test_the_report_has_the_shares_of_what_passed_and_what_is_exact() -> None:
    answers = iter(["    result = 2 * number", "    result = number + number", "    result = 8.0 +", ""])
    scores: list[Score] = []

    async def suggest(_document: Document, _offset: int) -> str:
        return next(answers)

    assert await evaluate([_DOUBLE] * 4, suggest, scores.append) == Report(pass_at_1=0.5, exact_match=0.25, num=4)
    assert [(score.exact_match, score.outcome is Outcome.PASSED) for score in scores] == [
        (True, True),
        (False, True),
        (False, False),
        (False, False),
    ]


async def test_no_rows_make_a_report_of_zeros() -> None:
    async def suggest(_document: Document, _offset: int) -> str:
        raise AssertionError

    assert await evaluate([], suggest) == Report(0.0, 0.0, 0)


@needs_data
def test_canonical_solutions_pass_and_are_exact() -> None:
    for row in select_rows(load_rows(_HUMAN_EVAL), 6, 7, 1400):
        answer = row.canonical_solution.removesuffix("\n")
        assert is_exact(row, answer)
        assert run(program(row, answer)) is Outcome.PASSED


@needs_data
@pytest.mark.parametrize("kind", ["MultiLine", "RandomSpan"])
def test_the_other_files_of_the_data_can_be_scored_too(kind: str) -> None:
    for row in select_rows(load_rows(_HUMAN_EVAL / f"HumanEval-{kind}Infilling.jsonl.gz"), 2, 7, 1400):
        assert run(program(row, row.canonical_solution)) is Outcome.PASSED


@needs_data
def test_the_published_numbers_are_of_these_rows() -> None:
    rows = select_rows(load_rows(_HUMAN_EVAL), 80, 7, 1400)
    assert len(rows) == 80
    assert [row.task_id.removeprefix("SingleLineInfilling/HumanEval/") for row in rows[:3]] == [
        "95/L7",
        "75/L6",
        "99/L12",
    ]
