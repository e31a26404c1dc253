"""One replay, from its beginning to its log: a copy of the tree, a server, an editor, a user, and what they knew.

Nothing of the user's is read or left: settings, index, events and the copy lie in a folder of its own.
"""

import asyncio
import random
import shutil
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from lsp_complete.evaluation.replay import accounts, clock, link, sources
from lsp_complete.evaluation.replay.editor import Editor
from lsp_complete.evaluation.replay.link import Link
from lsp_complete.evaluation.replay.log import Log
from lsp_complete.evaluation.replay.oracle import KNOWN_TO_BETTER, SIMULATED, Latency, Oracle, Truth
from lsp_complete.evaluation.replay.profiles import VS_CODE, Profile
from lsp_complete.evaluation.replay.sources import Task
from lsp_complete.evaluation.replay.typist import Typist
from lsp_complete.evaluation.replay.user import ELSEWHERE, User
from lsp_complete.evaluation.trees import TreeError
from lsp_complete.protocol.completion import Completer
from lsp_complete.telemetry.store import FILE, EventStore

# Suggestions and pop-ups write some of it, and not every place is finished.
_CHARACTERS_PER_KEY = 2.5
# The server indexes the tree first, which a virtual clock leaps over once it is done; a person begins sooner.
_VIRTUAL_START_S, _REAL_START_S = 60.0, 3.0
# What was accepted last is known a moment later.
_END_S = 3.0

Progress = Callable[[int, int], None]
"""Hears how many keys of how many were pressed."""
Connect = Callable[[Path], AbstractAsyncContextManager[Link]]
"""Starts a server that leaves what it writes in a folder."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`elsewhere` is the share of line ends at which the user turns to another file; an answer is waited for before the
    next key, for `patience_s` at most; one who `is_eager` stops at nearly every word and sign to see what is suggested,
    by a better model, so that much is accepted; `settings` go to the server as initializationOptions."""

    tree: Path
    seed: int = 7
    num_keys: int = 3000
    profile: Profile = VS_CODE
    latency: Latency = SIMULATED
    _: KW_ONLY
    elsewhere: float = ELSEWHERE
    patience_s: float = 0.0
    is_eager: bool = False
    is_virtual: bool = True
    settings: dict[str, Any] = field(default_factory=dict)


def replay(plan: Plan, progress: Progress = lambda done, total: None, connect: Connect | None = None) -> Log:
    """Against the simulated service, or whatever the server is connected with by `connect`. Raises TreeError where
    there is nothing to type."""
    with tempfile.TemporaryDirectory(prefix="lsp-complete-replay-") as folder:
        return clock.run(_replay(plan, Path(folder), progress, connect), is_virtual=plan.is_virtual)


def in_process(completer: Completer) -> Connect:
    return lambda folder: link.within(folder, completer)


async def _replay(plan: Plan, folder: Path, progress: Progress, connect: Connect | None) -> Log:
    rng = random.Random(plan.seed)
    tasks = sources.tasks(plan.tree, rng, int(plan.num_keys * _CHARACTERS_PER_KEY))
    if not tasks:
        sizes = f"{sources.LEAST_CHARACTERS:,} to {sources.MOST_CHARACTERS:,}"
        raise TreeError(f"nothing to type in {plan.tree}: no source file there has {sizes} characters")
    root = _copied(plan.tree, folder / plan.tree.resolve().name, tasks)
    log, truth = Log(), Truth()
    oracle = Oracle(truth, plan.seed, plan.latency, *([KNOWN_TO_BETTER] if plan.is_eager else []))
    connect = connect or (in_process(oracle) if plan.is_virtual else over_http(oracle))
    async with connect(folder) as server:
        editor = Editor(server, plan.profile, root, log)
        editor.on_drawn = lambda ghost: accounts.mark_used(oracle.served, editor.buffer, ghost)
        await editor.start({"telemetry": "local", **plan.settings})
        await asyncio.sleep(_VIRTUAL_START_S if plan.is_virtual else _REAL_START_S)
        started_s = asyncio.get_running_loop().time()
        is_over = _end(log, plan.num_keys, progress)
        user = User(editor, Typist(rng), truth, rng, log, is_over, plan.elsewhere, plan.patience_s, plan.is_eager)
        await user.work(tasks)
        log.typed_s = asyncio.get_running_loop().time() - started_s
        await asyncio.sleep(_END_S)
        await editor.exit()
    with EventStore(folder / "state" / FILE) as store:
        log.records = store.since(0)
    accounts.settle(log, oracle.served)
    return log


def over_http(completer: Completer) -> Connect:
    """A server as editors start it, and the service on a port of this machine."""

    def connect(folder: Path) -> AbstractAsyncContextManager[Link]:
        from lsp_complete.evaluation.replay.service import serving

        return link.over_pipes(folder, serving(completer))

    return connect


def _end(log: Log, num_keys: int, progress: Progress) -> Callable[[], bool]:
    def is_over() -> bool:
        progress(min(log.num_keys, num_keys), num_keys)
        return log.num_keys >= num_keys

    return is_over


def _copied(tree: Path, root: Path, tasks: list[Task]) -> Path:
    """The tree as it is before anything is typed."""
    shutil.copytree(tree, root, ignore=shutil.ignore_patterns(".git"))
    for task in tasks:
        (root / task.path).write_text(task.before, "utf-8", newline="")
    return root
