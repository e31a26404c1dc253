"""What is shown of a right answer, and what of a hostile one?

Holes are cut into files of the standard library and into one file of each language that we have a grammar of, or into
those of a folder. The answers are the truth, and nineteen ways to get it wrong: running on, closing twice, repeating,
indenting otherwise, another file's code. Counts how often the truth is withheld, and after how many acceptances a
buffer parses worse, says a line twice, or has other nesting; and takes the time of a judgement.
"""

import argparse
import json
import random
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles

from bench._joins import Fault, Hole, faults, holes, hostile
from lsp_complete.completion.postprocess import Insertion, Withheld, judge
from lsp_complete.text.languages import PLAIN, language_of

SAMPLES = Path(__file__).resolve().parents[1] / "tests" / "text" / "samples"
_LEAST_CHARACTERS, _MOST_CHARACTERS = 400, 15_000
_PER_FILE = 20
_PERCENT = 100
# A judgement is most of what the editor's side does itself for an answer; a key must not be felt to wait for it.
_GOALS = {"truth_p99_ms": 5.0, "hostile_p99_ms": 5.0}


@dataclass(frozen=True, slots=True)
class Result:
    """`truth_withheld_share`: of right answers of which nothing is shown because they would break the syntax;
    `truth_cut_share`: of those that are shown otherwise than they are. Faults are a share of what is shown.
    Times are of a judgement of either."""

    num_holes: int
    num_hostile: int
    truth_withheld_share: float
    truth_cut_share: float
    hostile_shown_share: float
    fault_shares: dict[str, float]
    truth_p50_ms: float
    truth_p99_ms: float
    hostile_p50_ms: float
    hostile_p99_ms: float


def run(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench joins", description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=Path, help="a folder of sources instead")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = measure(sources(options.tree, options.files, options.seed), options.seed)
    print(json.dumps(asdict(result)) if options.json else _table(result))


def sources(tree: Path | None, num: int, seed: int) -> list[tuple[str, str]]:
    """Names and texts of up to `num` files, besides the samples."""
    root = tree or Path(sysconfig.get_paths()["stdlib"])
    names = sorted(path for path in root.glob("**/*" if tree else "*.py") if language_of(path.name) is not PLAIN)
    random.Random(seed).shuffle(names)
    return list(_texts([*names, *([] if tree else sorted(SAMPLES.iterdir()))], num))


def _texts(paths: list[Path], num: int) -> Iterator[tuple[str, str]]:
    for path in paths:
        if (num <= 0 and path.parent != SAMPLES) or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if _LEAST_CHARACTERS <= len(text) <= _MOST_CHARACTERS and language_of(path.name).grammar_package:
            num -= 1
            yield path.name, text


def measure(files: list[tuple[str, str]], seed: int) -> Result:
    rng, texts = random.Random(seed), [text for _, text in files]
    seen: Counter[str] = Counter()
    wrong: Counter[Fault] = Counter()
    of_truths, of_hostile = list[float](), list[float]()
    for path, text in files:
        for hole in holes(path, text, rng, _PER_FILE):
            seen["holes"] += 1
            seen += _of_truth(hole, of_truths)
            for _, raw in hostile(hole, texts, rng):
                outcome = _timed(hole, raw, of_hostile)
                seen["hostile"] += 1
                seen["shown"] += isinstance(outcome, Insertion)
                wrong += Counter(faults(hole, outcome) if isinstance(outcome, Insertion) else ())
    return Result(
        seen["holes"],
        seen["hostile"],
        seen["withheld"] / max(1, seen["truths"]),
        seen["cut"] / max(1, seen["truths"]),
        seen["shown"] / max(1, seen["hostile"]),
        {fault.value: wrong[fault] / max(1, seen["shown"]) for fault in Fault},
        *_percentiles(of_truths),
        *_percentiles(of_hostile),
    )


def _percentiles(times: list[float]) -> tuple[float, float]:
    """The median and the 99th."""
    cuts = quantiles(times, n=_PERCENT)
    return round(cuts[_PERCENT // 2 - 1], 3), round(cuts[-1], 3)


def _of_truth(hole: Hole, times: list[float]) -> "Counter[str]":
    if not hole.truth.strip():
        return Counter()
    outcome = _timed(hole, hole.truth, times)
    is_cut = isinstance(outcome, Insertion) and _letters(outcome.text) != _letters(hole.truth)
    return Counter(truths=1, withheld=outcome is Withheld.BREAKS_SYNTAX, cut=is_cut)


def _letters(text: str) -> str:
    return "".join(text.split())


def _timed(hole: Hole, raw: str, times: list[float]) -> Insertion | Withheld:
    """Time of this thread alone: others may use the machine."""
    mode = hole.mode
    start = time.thread_time()
    outcome = judge(hole.document, hole.offset, mode, raw)
    times.append((time.thread_time() - start) * 1000)
    return outcome


def _table(result: Result) -> str:
    rows = {**asdict(result), **{f"fault: {name}": share for name, share in result.fault_shares.items()}}
    del rows["fault_shares"]
    return "\n".join(f"{name:24} {_shown(value)}{_goal(name)}" for name, value in rows.items())


def _shown(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def _goal(name: str) -> str:
    return f"  (goal: below {_GOALS[name]:g})" if name in _GOALS else ""
