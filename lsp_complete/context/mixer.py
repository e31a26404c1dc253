"""Asks all retrievers at once, under one deadline, and makes one ranking of theirs. Late ones are dropped and counted.

Reciprocal rank fusion: a snippet's score is the sum, over the retrievers that found it, of weight / (60 + rank). The
constant is that of the paper (Cormack, Clarke, Büttcher 2009); ranks of different retrievers compare, scores do not.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace

from lsp_complete.context.index import Index
from lsp_complete.context.retrievers import Retriever
from lsp_complete.context.retrievers.definitions import definitions
from lsp_complete.context.retrievers.edits import edits
from lsp_complete.context.retrievers.members import members
from lsp_complete.context.retrievers.modules import modules
from lsp_complete.context.retrievers.siblings import siblings
from lsp_complete.context.retrievers.similar import similar
from lsp_complete.context.snippets import Question, Snippet

DEADLINE_S = 0.02
_RANK_CONSTANT = 60
RETRIEVERS: dict[str, Retriever] = {
    "definitions": definitions,
    "members": members,
    "modules": modules,
    "similar": similar,
    "edits": edits,
    "siblings": siblings,
}
# What a name means is nearly always of use, what an imported file offers often, what looks alike now and then.
# What was just changed elsewhere is often the reason for what is typed here; a sibling says what this file is about.
WEIGHTS = {"definitions": 1.0, "members": 1.0, "modules": 0.95, "similar": 0.98, "edits": 0.97, "siblings": 0.93}

# These give lists of headers, in which each line stands for itself.
_HEADER_SOURCES = {"definitions", "members", "modules"}
# The line above the members of a class says of which one they are, as often as needed.
_HEADING = re.compile(r"[\w.]+:|\s*")
# Shorter lines, of brackets and the like, are the same everywhere.
_LEAST_LINE = 6


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
    """One ranking of several, no line of a file twice. Of snippets with one key the first retriever's is kept."""
    scores: dict[str, float] = {}
    snippets: dict[str, Snippet] = {}
    for name, ranking in found.items():
        for rank, snippet in enumerate(ranking, start=1):
            scores[snippet.key] = scores.get(snippet.key, 0.0) + WEIGHTS.get(name, 1.0) / (_RANK_CONSTANT + rank)
            snippets.setdefault(snippet.key, snippet)
    best = sorted(snippets.values(), key=lambda snippet: -scores[snippet.key])
    return Mix(tuple(_each_line_once(best)), scores, late)


def _each_line_once(snippets: Iterable[Snippet]) -> Iterator[Snippet]:
    """Without lines that a better snippet of the same file has: any header, and those at both ends of code."""
    said: dict[str, set[str]] = {}
    for snippet in snippets:
        before = said.setdefault(snippet.path, set())
        lines = snippet.text.split("\n")
        fresh = [line not in before or _HEADING.fullmatch(line) is not None for line in lines]
        if snippet.source in _HEADER_SOURCES:
            kept = [line for line, is_fresh in zip(lines, fresh, strict=True) if is_fresh]
        else:
            kept = lines[fresh.index(True) : len(fresh) - fresh[::-1].index(True)] if any(fresh) else []
        before.update(line for line in lines if len(line) >= _LEAST_LINE)
        if any(not _HEADING.fullmatch(line) for line in kept):
            yield replace(snippet, text="\n".join(kept))


def _result(future: "asyncio.Future[list[Snippet]]") -> list[Snippet]:
    return [] if future.cancelled() or future.exception() else future.result()


def _forget(future: "asyncio.Future[list[Snippet]]") -> None:
    if not future.cancelled():
        future.exception()
