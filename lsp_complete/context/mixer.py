"""Asks all retrievers under one deadline and makes one ranking of theirs. Late ones are dropped and counted.

They run in one thread, one after the other: all share the interpreter's lock, and in threads of their own, where each
waits for it again after every look into the database, they took several times as long. So the cheap and the useful come
first, and a slow one costs those behind it.

Reciprocal rank fusion: a snippet's score is the sum, over the retrievers that found it, of weight / (60 + rank). The
constant is that of the paper (Cormack, Clarke, Büttcher 2009); ranks of different retrievers compare, scores do not.
"""

import asyncio
import logging
import re
import threading
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

_log = logging.getLogger(__name__)

DEADLINE_S = 0.02
_RANK_CONSTANT = 60
RETRIEVERS: dict[str, Retriever] = {
    "definitions": definitions,
    "members": members,
    "modules": modules,
    "edits": edits,
    "siblings": siblings,
    "similar": similar,
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
    """Best snippets first, with their scores by key. `late` names the retrievers that missed the deadline; `denied` has
    path and source of what was found and may not leave."""

    snippets: tuple[Snippet, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    late: tuple[str, ...] = ()
    denied: tuple[tuple[str, str], ...] = ()


async def gather(question: Question, index: Index, executor: Executor, patience_s: float = 0.0) -> Mix:
    """What is found within `DEADLINE_S`, or `patience_s` if that is longer; when it has passed no further retriever
    begins. Never raises but for cancellation: a retriever that fails has found nothing."""
    found: dict[str, list[Snippet]] = {}
    is_over = threading.Event()

    def ask_all() -> None:
        for name, retriever in RETRIEVERS.items():
            if not is_over.is_set():
                found[name] = _found(retriever, question, index)

    running = asyncio.get_running_loop().run_in_executor(executor, ask_all)
    try:
        await asyncio.wait([running], timeout=max(DEADLINE_S, patience_s))
    finally:
        is_over.set()
    in_time = dict(found)
    return fuse(in_time, tuple(name for name in RETRIEVERS if name not in in_time))


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


def _found(retriever: Retriever, question: Question, index: Index) -> list[Snippet]:
    try:
        return retriever(question, index)
    except Exception as error:
        _log.warning("a retriever failed: %s", type(error).__name__)
        return []
