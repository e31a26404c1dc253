"""What does it feel like? Code of three trees is typed back through the language server, in each editor's manner.

The service is simulated: 120 ms to the first token of a warm prompt, 600 ms of a cold one, the mistakes of a small
model. The clock is virtual: waits are leapt over, and work takes the time of the processor that it takes. The goals are
those of `--json`'s last line.

With `--embedded` the embedded model answers, on a real clock, with warming and without: how much of the prompts of a
file was cached, and how soon the first answer after a change of file begins.
"""

import argparse
import json
import multiprocessing
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

from lsp_complete.cli.connection import connected
from lsp_complete.config.paths import tree_folder
from lsp_complete.config.settings import Settings
from lsp_complete.evaluation.replay import link, report
from lsp_complete.evaluation.replay.log import Log
from lsp_complete.evaluation.replay.profiles import PROFILES
from lsp_complete.evaluation.replay.run import Plan, replay
from lsp_complete.evaluation.trees import TYPED, TreeError, root_of
from lsp_complete.protocol.completion import (
    Completer,
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
)

NUM_KEYS = 30_000
_NUM_PROCESSES = 2
# A piece of work for one process: some minutes of typing, and little beside the start of a server.
_KEYS_A_JOB = 3000
# With the embedded model: two replays with many changes of file, by somebody who leaves a slow processor the time to
# answer.
_KEYS_EMBEDDED, _ELSEWHERE, _PATIENCE_S = 400, 0.3, 60.0
# The service of a replay goes this long after it.
_IDLE_S = 60
# How many of eight jobs are for an editor: most for VS Code, which asks the most.
_TURNS = ("vscode", "neovim", "vscode", "lsp4ij", "vscode", "emacs", "vscode", "vscode-notices")


def plans(num_keys: int, seed: int, *, is_eager: bool = False) -> list[Plan]:
    say = partial(print, file=sys.stderr)
    roots = [root_of(tree.name, tree_folder(), say)[1] for tree in TYPED]
    num_jobs = max(len(roots), -(-num_keys // _KEYS_A_JOB))
    editors = [PROFILES[_TURNS[(number + number // len(_TURNS)) % len(_TURNS)]] for number in range(num_jobs)]
    return [
        Plan(roots[number % len(roots)], seed + number, -(-num_keys // num_jobs), editor, is_eager=is_eager)
        for number, editor in enumerate(editors)
    ]


def measure(jobs: list[Plan]) -> list[tuple[Plan, Log]]:
    """Two at a time, each in a process of its own."""
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(_NUM_PROCESSES, mp_context=spawned, max_tasks_per_child=1) as pool:
        running = {pool.submit(replay, plan): plan for plan in jobs}
        logs = []
        for done in as_completed(running):
            logs.append((running[done], done.result()))
            print(f"\r{len(logs)} of {len(jobs)} replays", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return logs


def embedded(num_keys: int, seed: int, *, is_warmed: bool) -> Log:
    """One replay with the model on this machine, in a service of its own."""
    root = root_of(TYPED[0].name, tree_folder(), partial(print, file=sys.stderr))[1]
    plan = Plan(root, seed, num_keys, is_virtual=False, elsewhere=_ELSEWHERE, patience_s=_PATIENCE_S)
    return replay(plan, connect=partial(_connected, is_warmed))


@asynccontextmanager
async def _connected(is_warmed: bool, folder: Path) -> AsyncIterator[link.Link]:
    with link.places_in(folder):
        async with (
            connected(Settings(session_idle_s=_IDLE_S)) as service,
            link.within(folder, service if is_warmed else _Unwarmed(service)) as server,
        ):
            yield server


class _Unwarmed:
    """The same service, which computes nothing ahead."""

    def __init__(self, completer: Completer) -> None:
        self._completer = completer

    async def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        if request.prefill_only or request.ahead:
            yield FinishChunk(Finish.STOP)
            return
        async with aclosing(self._completer.complete(request)) as chunks:
            async for chunk in chunks:
                yield chunk


def run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench replay", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--keys", type=int, help="keys to press, all together")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--joins", action="store_true", help="show wrong joins and flicker, with their code")
    parser.add_argument("--eager", action="store_true", help="by somebody who stops to see all that is suggested")
    parser.add_argument("--embedded", action="store_true", help="with the embedded model, on a real clock")
    options = parser.parse_args(arguments)
    try:
        if options.embedded:
            _run_embedded(options.keys or _KEYS_EMBEDDED, options.seed, as_json=options.json)
            return
        logs = measure(plans(options.keys or NUM_KEYS, options.seed, is_eager=options.eager))
    except TreeError as error:
        sys.exit(str(error))
    whole = Log()
    for _, log in logs:
        whole.add(log)
    _print_all(whole, logs)
    if options.joins:
        _print_faults(whole)
    if options.json:
        print(json.dumps(report.headline(report.report(whole))))


def _run_embedded(num_keys: int, seed: int, *, as_json: bool) -> None:
    warmed, not_warmed = (report.warmth(embedded(num_keys, seed, is_warmed=is_warmed)) for is_warmed in (True, False))
    for name, one in (("with warming", warmed), ("without", not_warmed)):
        print(f"{name:14} cached within a file {one.cached_share:.3f}", end="")
        print(f", first answer in a file p50 {one.first_ms.p50:g} ms of {one.first_ms.num}", end="")
        print(f", later ones {one.later_ms.p50:g} ms of {one.later_ms.num}")
    if as_json:
        times = {"first_warmed_ms": warmed.first_ms.p50, "first_not_warmed_ms": not_warmed.first_ms.p50}
        print(json.dumps({"cached_share": warmed.cached_share, **times}))


def _print_all(whole: Log, logs: list[tuple[Plan, Log]]) -> None:
    for name, value in report.rows(report.report(whole)):
        print(f"{name:28} {value}")
    for name in PROFILES:
        own = Log()
        for plan, log in logs:
            if plan.profile.name == name:
                own.add(log)
        if own.num_keys:
            one = asdict(report.report(own))
            figures = ("accepted", "precision", "recall", "flicker", "wrong_joins", "local_share", "wasted_share")
            print(f"{name:28} " + ", ".join(f"{figure} {one[figure]:g}" for figure in figures))


def _print_faults(log: Log) -> None:
    for join in log.wrong_joins:
        print(f"== {join.path}: {join.shown!r}\n-- meant\n{join.meant}\n-- got\n{join.got}")
    for before, after in log.flickers:
        print(f"== flicker: {before!r} -> {after!r}")
