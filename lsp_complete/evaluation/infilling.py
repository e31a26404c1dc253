"""HumanEval-Infilling: how often is the middle of a program filled in right?

The data is that of openai/human-eval-infilling: rows of `prompt`, `suffix` and a `canonical_solution` between them, and
tests. Does not know how a suggestion is made: it is given a function that makes one.
"""

import asyncio
import gzip
import json
import random
import zlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from lsp_complete.evaluation.sandbox import Outcome, run
from lsp_complete.text.document import Document

Suggest = Callable[[Document, int], Awaitable[str]]
"""A document and an offset in it -> the text to insert there; empty for no suggestion."""

# The file of a folder that is used: one missing line is what a suggestion is most often asked for.
_DEFAULT_FILE = "HumanEval-SingleLineInfilling.jsonl"


class EvaluationError(Exception):
    """The data is not there, or is not what it should be."""


@dataclass(frozen=True, slots=True)
class Row:
    """One hole: `prompt`, then what is to be found, then `suffix`. `test` defines `check(candidate)`."""

    task_id: str
    entry_point: str
    prompt: str
    suffix: str
    canonical_solution: str
    test: str

    @property
    def document(self) -> Document:
        return Document(f"untitled:{self.task_id}", self.prompt + self.suffix, language="python")

    @property
    def num_chars(self) -> int:
        return len(self.prompt) + len(self.suffix)


@dataclass(frozen=True, slots=True)
class Score:
    task_id: str
    answer: str
    exact_match: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Report:
    """Shares of `num` rows, from 0 to 1."""

    pass_at_1: float
    exact_match: float
    num: int


def load_rows(data: Path) -> list[Row]:
    """The rows of a jsonl or jsonl.gz file, or of the single-line file in a folder. Raises EvaluationError."""
    path = _data_file(data)
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            return [_row(path, number, line) for number, line in enumerate(file, start=1) if line.strip()]
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise EvaluationError(f"{path} cannot be read: {error}") from error


def select_rows(rows: Iterable[Row], limit: int, seed: int, max_chars: int) -> list[Row]:
    """The same rows for the same numbers: all rows, in file order, are shuffled by `random.Random(seed).shuffle`; then
    those with `max_chars` characters or more of prompt and suffix are left out; then the first `limit` are taken.

    Shuffling comes first: the other way round, another `max_chars` would give other rows altogether.
    """
    shuffled = list(rows)
    random.Random(seed).shuffle(shuffled)
    return [row for row in shuffled if row.num_chars < max_chars][:limit]


async def evaluate(rows: Sequence[Row], suggest: Suggest, on_score: Callable[[Score], None] = lambda _: None) -> Report:
    """Ask for a suggestion in each row, one after the other. `on_score` is called after each."""
    scores = []
    for row in rows:
        answer = await suggest(row.document, len(row.prompt))
        outcome = await asyncio.to_thread(run, program(row, answer))
        scores.append(Score(row.task_id, answer, is_exact(row, answer), outcome))
        on_score(scores[-1])
    return report(scores)


def report(scores: Sequence[Score]) -> Report:
    """All zeros for no scores."""
    num = len(scores)
    num_passed = sum(score.outcome is Outcome.PASSED for score in scores)
    num_exact = sum(score.exact_match for score in scores)
    return Report(num_passed / max(1, num), num_exact / max(1, num), num)


def is_exact(row: Row, answer: str) -> bool:
    """Whether the first lines are equal, indentation included. Space at the end of a line does not count."""
    return _first_line(answer).rstrip() == _first_line(row.canonical_solution).rstrip()


def program(row: Row, answer: str) -> str:
    """What is run: as the data's own scorer has it, with the answer in the hole."""
    return f"{row.prompt}{completion(row, answer)}{row.suffix}\n{row.test}\ncheck({row.entry_point})\n"


def completion(row: Row, answer: str) -> str:
    """What fills the hole. Where one line is missing, that is the first line of the answer; and a suggestion has no
    line end of its own, so where the hole has one, it is added."""
    hole = row.canonical_solution
    text = _first_line(answer) if hole.endswith("\n") and hole.count("\n") == 1 else answer
    return text + "\n" if hole.endswith("\n") and not text.endswith("\n") else text


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0].removesuffix("\r")


def _data_file(data: Path) -> Path:
    candidates = [data / _DEFAULT_FILE, data / f"{_DEFAULT_FILE}.gz"] if data.is_dir() else [data]
    for path in candidates:
        if path.is_file():
            return path
    raise EvaluationError(
        f"{data}: no such data; give the folder or a jsonl file of github.com/openai/human-eval-infilling"
        f" ({_DEFAULT_FILE}.gz)"
    )


def _row(path: Path, number: int, line: str) -> Row:
    try:
        data: dict[str, Any] = json.loads(line)
        return Row(**{field.name: _text(data[field.name]) for field in fields(Row)})
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise EvaluationError(f"{path}, line {number}: not a row of HumanEval-Infilling ({error!r})") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value
