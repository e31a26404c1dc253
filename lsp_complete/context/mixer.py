"""Asks all retrievers at once, under one deadline, and makes one ranking of theirs. Late ones are dropped and counted.

Reciprocal rank fusion: a snippet's score is the sum, over the retrievers that found it, of weight / (60 + rank). The
constant is that of the paper (Cormack, Clarke, Büttcher 2009); ranks of different retrievers compare, scores do not.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field

from lsp_complete.context.index import Index
from lsp_complete.context.retrievers import Retriever
from lsp_complete.context.retrievers.definitions import definitions
from lsp_complete.context.retrievers.modules import modules
from lsp_complete.context.retrievers.similar import similar
from lsp_complete.context.snippets import Question, Snippet

DEADLINE_S = 0.02
_RANK_CONSTANT = 60
RETRIEVERS: dict[str, Retriever] = {
    "definitions": definitions,
    "modules": modules,
    "similar": similar,
}
# What a name means is nearly always of use, what an imported file offers often, what looks alike now and then.
WEIGHTS = {"definitions": 1.0, "modules": 0.8, "similar": 0.5}


@dataclass(frozen=True, slots=True)
class Mix:
    """Best snippets first, with their scores by key. `late` names the retrievers that missed the deadline."""

    snippets: tuple[Snippet, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    late: tuple[str, ...] = ()


async def gather(question: Question, index: Index, executor: Executor, deadline_s: float = DEADLINE_S) -> Mix:
    """Never raises but for cancellation: a retriever that fails has found nothing."""
    loop = asyncio.get_running_loop()
    running = {
        name: loop.run_in_executor(executor, retriever, question, index) for name, retriever in RETRIEVERS.items()
    }
    await asyncio.wait(running.values(), timeout=deadline_s)
    late = tuple(name for name, future in running.items() if not future.done())
    found = {name: _result(future) for name, future in running.items() if future.done()}
    for future in running.values():
        future.add_done_callback(_forget)
    return fuse(found, late)


def fuse(found: Mapping[str, Sequence[Snippet]], late: tuple[str, ...] = ()) -> Mix:
    """One ranking of several. Of snippets with one key the first retriever's is kept."""
    scores: dict[str, float] = {}
    snippets: dict[str, Snippet] = {}
    for name, ranking in found.items():
        for rank, snippet in enumerate(ranking, start=1):
            scores[snippet.key] = scores.get(snippet.key, 0.0) + WEIGHTS.get(name, 1.0) / (_RANK_CONSTANT + rank)
            snippets.setdefault(snippet.key, snippet)
    best = sorted(snippets.values(), key=lambda snippet: -scores[snippet.key])
    return Mix(tuple(best), scores, late)


def _result(future: "asyncio.Future[list[Snippet]]") -> list[Snippet]:
    return [] if future.cancelled() or future.exception() else future.result()


def _forget(future: "asyncio.Future[list[Snippet]]") -> None:
    if not future.cancelled():
        future.exception()
