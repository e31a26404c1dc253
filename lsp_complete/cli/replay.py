"""`lsp-complete replay`: type real code back through the language server, and say what it felt like."""

import json
import os
import sys
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from lsp_complete.cli.failure import failing_with

if TYPE_CHECKING:
    from lsp_complete.evaluation.replay.log import WrongJoin
    from lsp_complete.evaluation.replay.run import Connect

PROFILES = ("vscode", "vscode-notices", "neovim", "emacs", "lsp4ij")


class Clock(StrEnum):
    VIRTUAL = "virtual"
    REAL = "real"


class Service(StrEnum):
    """The simulated one, or that of the settings: a URL's, or the server's own."""

    SIMULATED = "simulated"
    OWN = "own"


def run(
    tree: Annotated[str, typer.Argument(help="A folder, or the name of a tree that is known and fetched.")],
    keys: Annotated[int, typer.Option(min=1, help="Keys to press.")] = 3000,
    seed: Annotated[int, typer.Option(help="What is typed, and how.")] = 7,
    editor: Annotated[str, typer.Option(help=f"One of: {', '.join(PROFILES)}.")] = PROFILES[0],
    clock: Annotated[Clock, typer.Option(help="Leap over waits, or wait.")] = Clock.VIRTUAL,
    service: Annotated[Service, typer.Option(help="Who answers; `own` is that of the settings.")] = Service.SIMULATED,
    url: Annotated[str, typer.Option(help="Ask this service instead.")] = "",
    warm_ms: Annotated[float, typer.Option(min=0, help="Of the simulated service, to the first token.")] = 120.0,
    cold_ms: Annotated[float, typer.Option(min=0, help="The same where little of the prompt is cached.")] = 600.0,
    joins: Annotated[bool, typer.Option(help="Show wrong joins and flicker, with their code.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON line.")] = False,
) -> None:
    """Type code of a tree back, and say what that felt like. Slips, pauses and suggestions included."""
    from lsp_complete.cli.progress import shown
    from lsp_complete.cli.tables import print_measures
    from lsp_complete.config.paths import tree_folder
    from lsp_complete.evaluation.replay.oracle import Latency
    from lsp_complete.evaluation.replay.profiles import PROFILES
    from lsp_complete.evaluation.replay.report import report, rows
    from lsp_complete.evaluation.replay.run import Plan, replay
    from lsp_complete.evaluation.trees import TreeError, root_of

    if editor not in PROFILES:
        raise typer.BadParameter(f"not one of: {', '.join(PROFILES)}", param_hint="--editor")
    is_real = bool(url) or service is Service.OWN
    is_virtual = clock is Clock.VIRTUAL and not is_real  # what another process does cannot be leapt over
    with failing_with(TreeError):
        name, root = root_of(tree, tree_folder(), partial(print, file=sys.stderr))
        plan = Plan(root, seed, keys, PROFILES[editor], Latency(warm_ms, cold_ms), is_virtual=is_virtual)
        with shown("keys") as draw:
            log = replay(plan, partial(draw, name), _connect(url) if is_real else None)
    result = report(log)
    if as_json:
        print(json.dumps(asdict(result)))
        return
    print_measures(rows(result))
    if joins:
        _print_faults(log.wrong_joins, log.flickers)


def _connect(url: str) -> "Connect":
    from lsp_complete.evaluation.replay.link import over_pipes

    if url:
        os.environ["LSP_COMPLETE_URL"] = url
    return over_pipes


def _print_faults(joins: "list[WrongJoin]", flickers: list[tuple[str, str]]) -> None:
    for join in joins:
        print(f"== {join.path}: {join.shown!r}\n-- meant\n{join.meant}\n-- got\n{join.got}")
    for before, after in flickers:
        print(f"== flicker: {before!r} -> {after!r}")
