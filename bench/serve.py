"""What does serving cost, and what are its caches, cancellations and limits worth? The embedded model on this machine.

Each part compares two ways in turns within one run, medians of the rounds. A part that is left out is null in `--json`.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from bench import soak
from bench._serve_drafts import drafts
from bench._serve_load import cancelled, crowd
from bench._serve_order import orders
from bench._serve_speed import speed, warmth

# A figure, and what is asked of it: at most, or at least.
_GOALS = {
    "overhead_p50_ms": ("<=", 5.0),
    "throughput_ratio": (">=", 0.97),
    "cold_over_warm": (">=", 20.0),
    "spm_tokens_median": ("<=", 10.0),
    "psm_tokens_median": ("", 0.0),
    "cancel_useful_ratio": (">=", 1.6),
    "draft_speedup": ("", 0.0),
    "late": ("<=", 0.0),
    "growth_share": ("<=", 0.05),
}
Figures = dict[str, float | None]


async def _speed(is_quick: bool) -> Figures:
    found = await speed(is_quick=is_quick)
    print(f"added to llama.cpp's server   {found.added_to_own_ms} ms")
    print(f"throughput by requests        {found.throughput}")
    return {"overhead_p50_ms": found.overhead_p50_ms, "throughput_ratio": found.throughput_ratio}


async def _warm(is_quick: bool) -> Figures:
    found = await warmth(is_quick=is_quick)
    print(f"first text of {found.prompt_tokens} tokens      cold {found.cold_ms} ms", end="")
    print(f", warm {found.warm_ms} ms ({found.num_computed} tokens computed)")
    return {"cold_over_warm": found.cold_over_warm}


async def _order(is_quick: bool) -> Figures:
    found = await orders(is_quick=is_quick)
    for name, score in found.scores.items():
        print(f"{name} on {score.num} rows           exact {score.exact_match:.2f}, pass@1 {score.pass_at_1:.2f}")
    if not found.scores:
        print("HumanEval-Infilling is not here (LSP_COMPLETE_EVALDATA says where): nothing is scored")
    return {f"{name}_tokens_median": tokens for name, tokens in found.tokens.items()}


async def _cancel(is_quick: bool) -> Figures:
    return {"cancel_useful_ratio": await cancelled(is_quick=is_quick)}


async def _drafts(is_quick: bool) -> Figures:
    found = await drafts(is_quick=is_quick)
    print(f"drafted tokens accepted       {found.accepted_share:.0%}, text the same: {found.is_same}")
    return {"draft_speedup": found.speedup}


async def _crowd(is_quick: bool) -> Figures:
    found = await crowd(is_quick=is_quick)
    print(f"32 sessions over 2 slots      {asdict(found)}")
    return {"late": found.late}


_PARTS: dict[str, Callable[[bool], Awaitable[Figures]]] = {
    "overhead": _speed, "warm": _warm, "order": _order, "cancel": _cancel, "drafts": _drafts, "crowd": _crowd,
}  # fmt: skip


def run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench serve", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--quick", action="store_true", help="few rounds: says that it works, not how well")
    parser.add_argument("--only", metavar="PART,…", help=f"of {', '.join([*_PARTS, 'soak'])}")
    parser.add_argument("--soak-minutes", type=float, default=soak.MINUTES, help="0 leaves the soak out")
    options = parser.parse_args(arguments)
    names = options.only.split(",") if options.only else [*_PARTS, "soak"]
    if unknown := set(names) - {*_PARTS, "soak"}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    figures = asyncio.run(_measured(names, options.quick, options.soak_minutes))
    print(*(_line(name, value) for name, value in figures.items() if value is not None), sep="\n")
    if options.json:
        print(json.dumps(figures))
    sys.exit(0 if all(_is_met(name, value) for name, value in figures.items()) else 1)


async def _measured(names: list[str], is_quick: bool, soak_minutes: float) -> Figures:
    figures: Figures = dict.fromkeys(_GOALS)
    for name, measure in _PARTS.items():
        if name in names:
            print(f"{name} …", file=sys.stderr, flush=True)
            figures |= await measure(is_quick)
    if "soak" in names and soak_minutes:
        found = await soak.soak(soak_minutes)
        print(f"soak                          {asdict(found)}")
        figures["growth_share"] = found.growth_share
    return figures


def _line(name: str, value: float | None) -> str:
    kind, goal = _GOALS[name]
    verdict = f"{kind} {goal:g}: {'met' if _is_met(name, value) else 'MISSED'}" if kind else ""
    return f"{name:28}  {value:<10} {verdict}"


def _is_met(name: str, value: float | None) -> bool:
    kind, goal = _GOALS[name]
    return value is None or not kind or (value <= goal if kind == "<=" else value >= goal)
