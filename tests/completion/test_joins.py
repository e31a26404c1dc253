"""Real files, cut at random places, with hostile answers: what is accepted harms nothing. `bench joins` does the same
at length."""

import random
import sysconfig
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from bench._joins import Fault, Hole, faults, holes, hostile
from lsp_complete.completion.postprocess import Insertion, Withheld, judge

SAMPLES = Path(__file__).resolve().parents[1] / "text" / "samples"
STANDARD = ("keyword.py", "colorsys.py", "bisect.py")
MOST_SHARE = 0.01


@cache
def files() -> list[tuple[str, str]]:
    library = Path(sysconfig.get_path("stdlib"))
    samples = [path for path in sorted(SAMPLES.iterdir()) if path.suffix != ".toml"]
    return [
        (path.name, path.read_text(encoding="utf-8")) for path in [*samples, *(library / name for name in STANDARD)]
    ]


def all_holes(rng: random.Random) -> list[Hole]:
    return [hole for path, text in files() for hole in holes(path, text, rng, 3)]


@pytest.mark.parametrize("seed", [1, 2])
def test_an_accepted_answer_says_nothing_twice_moves_nothing_and_parses_as_before(seed: int) -> None:
    rng = random.Random(seed)
    texts = [text for _, text in files()]
    found: Counter[Fault] = Counter()
    num_shown = 0
    for hole in all_holes(rng):
        for _, raw in hostile(hole, texts, rng):
            outcome = judge(hole.document, hole.offset, hole.mode, raw)
            if isinstance(outcome, Insertion):
                num_shown += 1
                found += Counter(faults(hole, outcome))
    assert num_shown
    assert not +found


def test_right_answers_are_not_taken_for_damage() -> None:
    rng = random.Random(3)
    truths = [hole for hole in all_holes(rng) + all_holes(rng) if hole.truth.strip()]
    outcomes = [judge(hole.document, hole.offset, hole.mode, hole.truth) for hole in truths]
    assert outcomes.count(Withheld.BREAKS_SYNTAX) <= MOST_SHARE * len(truths)
