"""A model of the Hugging Face hub, run with transformers: the reference engine for GPUs. On a CPU it is for tests;
llama.cpp is four times faster there.

Who is alone is served by a pass at a time, with drafts (transformers_lane.py); who is not, by the library's batches
(transformers_batches.py). Each keeps a prefix cache of its own, so a session that comes to another for company computes
its prompt once more: a GPU takes some milliseconds for it.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from lsp_complete.backend.engines.base import EngineChunk, EngineStats, Isolation, Job
from lsp_complete.backend.engines.steps import Step
from lsp_complete.backend.engines.transformers_batches import Batches
from lsp_complete.backend.engines.transformers_lane import Lane
from lsp_complete.backend.engines.transformers_model import LoadedModel, load_model
from lsp_complete.backend.engines.transformers_tokens import Reader
from lsp_complete.protocol.completion import Finish, Timing, Usage
from lsp_complete.protocol.errors import EngineFailed


@dataclass(slots=True)
class _Progress:
    """What one job has cost so far. Times are of `time.perf_counter`, 0 before they are."""

    num_prompt: int
    num_cached: int = 0
    num_generated: int = 0
    num_drafted: int = 0
    num_accepted: int = 0
    started: float = 0.0
    first: float = 0.0
    last: float = 0.0
    finish: Finish = Finish.LENGTH

    def note(self, step: Step) -> None:
        self.last = time.perf_counter()
        self.first = self.first or (self.last if step.tokens else 0.0)
        self.num_cached = step.num_cached
        self.num_drafted += step.num_drafted
        self.num_accepted += step.num_accepted

    def usage(self) -> Usage:
        return Usage(self.num_prompt, self.num_cached, self.num_generated, self.num_drafted, self.num_accepted)

    def timing(self) -> Timing:
        first = self.first or self.last
        return Timing(prefill=round((first - self.started) * 1000, 2), decode=round((self.last - first) * 1000, 2))


class TransformersEngine:
    """An `Engine`. `load` blocks for as long as it takes to read the model, `over` for a moment."""

    isolation = Isolation.SALT

    def __init__(self, loaded: LoadedModel, model: str, num_slots: int, lane: Lane | None, batches: Batches) -> None:
        self.model = model
        self.context_tokens = loaded.context_tokens
        self.num_slots = num_slots
        self.tokenizer = loaded.tokenizer
        self._ends = loaded.ends
        self._lane, self._batches = lane, batches
        self._slots = asyncio.Semaphore(num_slots)
        self._num_open = self._generated = 0

    @classmethod
    def load(
        cls, source: str, *, model: str, context_tokens: int, num_slots: int, threads: int, compile_level: int = 0
    ) -> "TransformersEngine":
        """Load a folder, or a repository of the hub. Raises EngineFailed with a readable reason."""
        loaded = load_model(source, context_tokens, threads)
        return cls.over(loaded, model=model, num_slots=num_slots, compile_level=compile_level)

    @classmethod
    def over(
        cls,
        loaded: LoadedModel,
        *,
        model: str,
        num_slots: int,
        compile_level: int = 0,
        may_be_alone: bool = True,
        may_draft: bool = True,
        may_reuse: bool = True,
    ) -> "TransformersEngine":
        """Over a model that is loaded. What it may not do costs time and changes no text."""
        try:
            batches = Batches(loaded, num_slots, compile_level, may_reuse=may_reuse)
        except Exception as error:
            raise EngineFailed(
                f"no room for {num_slots} slots of {loaded.context_tokens} tokens, or the model cannot be batched "
                f"({type(error).__name__}): fewer `slots` or `context_tokens` take less"
            ) from error
        options = {"may_draft": may_draft, "may_reuse": may_reuse}
        lane = Lane(loaded, num_slots, batches.paused, **options) if may_be_alone else None
        return cls(loaded, model, num_slots, lane, batches)

    async def generate(self, job: Job) -> AsyncGenerator[EngineChunk, None]:
        progress = _Progress(len(job.prompt))
        async with self._slots:
            yield EngineChunk(usage=progress.usage())
            progress.started = time.perf_counter()
            self._num_open += 1
            try:
                async with contextlib.aclosing(self._texts(job, progress)) as texts:
                    async for text in texts:
                        yield EngineChunk(text, None, progress.usage(), progress.timing())
            finally:
                self._num_open -= 1
        yield EngineChunk("", progress.finish, progress.usage(), progress.timing())

    def stats(self) -> EngineStats:
        batches, lane, kept = self._batches, self._lane, self._batches.kept
        if lane is None:
            held = kept.num_tokens(), kept.evictions, kept.evicted_age_s
            return EngineStats(batches.num_busy, batches.num_steps, batches.prefilled, self._generated, *held)
        return EngineStats(
            batches.num_busy + lane.is_busy,
            batches.num_steps + lane.num_steps,
            batches.prefilled + lane.prefilled,
            self._generated,
            kept.num_tokens() + lane.num_tokens(),
            kept.evictions + lane.evictions,
            kept.evicted_age_s + lane.evicted_age_s,
        )

    async def close(self) -> None:
        if self._lane is not None:
            await self._lane.close()
        await self._batches.close()

    async def _texts(self, job: Job, progress: _Progress) -> AsyncGenerator[str, None]:
        ends, reader = job.stop_tokens | self._ends, self.tokenizer.reader()
        async with contextlib.aclosing(self._steps(job, ends)) as steps:
            async for step in steps:
                progress.note(step)
                self._generated += len(step.tokens)
                yield _read(step, reader, ends, progress)
                if progress.finish is Finish.STOP:
                    return

    def _steps(self, job: Job, ends: frozenset[int]) -> AsyncGenerator[Step, None]:
        """Where steps are replayed as graphs, they are faster than passes, unless most of the text is drafted."""
        is_alone = self._num_open == 1 and self._lane is not None and not self._lane.is_taken
        if is_alone and self._lane is not None and (job.draft or not self._batches.has_graphs):
            return self._lane.steps(job, ends)
        return self._batches.steps(job, ends)


def _read(step: Step, reader: Reader, ends: frozenset[int], progress: _Progress) -> str:
    """The step's text, up to a token that ends it."""
    text = ""
    for token in step.tokens:
        if token in ends:
            progress.finish = Finish.STOP
            break
        progress.num_generated += 1
        text += reader.read(token)
    return text
