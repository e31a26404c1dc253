"""Right answers pass: the missing lines of HumanEval-Infilling (MIT) come through the filters as they are.

The data is not part of the repository; it is looked for beside it, or in LSP_COMPLETE_EVALDATA.
"""

import gzip
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from lsp_complete.completion.postprocess import Insertion, accept, enough, judge
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document

_BESIDE = Path(__file__).resolve().parents[2].parent / "shared" / "evaldata"
FOLDER = Path(os.environ.get("LSP_COMPLETE_EVALDATA") or _BESIDE)
FILE = FOLDER / "human-eval-infilling" / "HumanEval-SingleLineInfilling.jsonl.gz"
LEAST_SHARE = 0.995

pytestmark = pytest.mark.skipif(
    not FILE.is_file(), reason=f"HumanEval-Infilling is not at {FILE}; LSP_COMPLETE_EVALDATA says where it is"
)


@cache
def rows() -> list[dict[str, str]]:
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def lines(text: str) -> list[str]:
    """Blanks at line ends, and line ends at the end of the text, are no part of an answer."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


def is_kept(row: dict[str, str], raw: str, mode: Mode) -> bool:
    """Is the accepted buffer the original? The line end of the answer may be the one the suffix starts with."""
    prompt, answer, suffix = row["prompt"], row["canonical_solution"], row["suffix"]
    document = Document("file:///a.py", prompt + suffix, "a.py", "python")
    outcome = judge(document, len(prompt), mode, raw)
    if not isinstance(outcome, Insertion):
        return False
    wanted = [prompt + answer + suffix]
    if not suffix.partition("\n")[0].strip():
        wanted.append(prompt + answer.removesuffix("\n") + suffix)
    return lines(accept(document, len(prompt), outcome)) in [lines(text) for text in wanted]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize(
    "written",
    [
        lambda answer, suffix: answer,
        lambda answer, suffix: answer.removesuffix("\n"),
        lambda answer, suffix: answer + suffix,
        lambda answer, suffix: answer + "\n" + suffix,
        lambda answer, suffix: answer + suffix[: len(suffix) // 2],
    ],
    ids=["answer", "answer-without-line-end", "runs-on", "runs-on-after-a-blank-line", "runs-on-and-breaks-off"],
)
def test_the_missing_line_passes(mode: Mode, written: Callable[[str, str], str]) -> None:
    kept = sum(is_kept(row, written(row["canonical_solution"], row["suffix"]), mode) for row in rows())
    assert kept / len(rows()) >= LEAST_SHARE


def test_a_line_is_enough_at_its_line_end() -> None:
    for row in rows():
        prompt, answer, suffix = row["prompt"], row["canonical_solution"], row["suffix"]
        document = Document("file:///a.py", prompt + suffix, "a.py", "python")
        assert enough(document, len(prompt), Mode.LINE, answer)
        assert not enough(document, len(prompt), Mode.LINE, answer.rstrip())
