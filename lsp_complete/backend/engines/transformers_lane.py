"""One job at a time, over the model's own forward pass: with drafts that are checked in one pass, and a cache that is
cut where a prompt differs.

For whoever is alone. A pass runs on a thread; between two passes nothing runs, so a closed job costs the rest of the
one in progress, and what it has computed is kept.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lsp_complete.backend.engines.base import EngineLost, Job
from lsp_complete.backend.engines.draft import Drafter, num_agreeing
from lsp_complete.backend.engines.steps import Step, num_shared
from lsp_complete.backend.engines.transformers_model import LoadedModel
from lsp_complete.protocol.errors import EngineFailed

_log = logging.getLogger(__name__)

# A cache is used again if it shares so much with the prompt, of what the shorter of the two has.
_MIN_SHARED = 0.5
# Prompts that are kept, however many slots there are: whoever is alone has few files open, and each takes the memory of
# a whole context.
_MOST_KEPT = 4


@dataclass(slots=True, eq=False)
class _Kept:
    """Keys and values, and the tokens that they are of."""

    tenant: str
    cache: Any
    tokens: list[int] = field(default_factory=list)
    last_used: float = 0.0

    def cut(self, length: int) -> None:
        if surplus := len(self.tokens) - length:
            self.cache.crop(-surplus)
            del self.tokens[length:]


class Lane:
    """`exclusive` is held during a pass: nobody else may use the model then."""

    def __init__(
        self,
        loaded: LoadedModel,
        num_slots: int,
        exclusive: Callable[[], AbstractContextManager[None]],
        *,
        may_draft: bool = True,
        may_reuse: bool = True,
    ) -> None:
        self._model, self._step_tokens, self._exclusive = loaded.model, loaded.step_tokens, exclusive
        self._num_kept = min(num_slots, _MOST_KEPT) if may_reuse else 0
        self._may_draft = may_draft
        self._kept: list[_Kept] = []
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="transformers-lane")
        self._pass: asyncio.Future[list[int]] | None = None
        self.is_taken = False
        self.num_steps = self.prefilled = self.evictions = self._num_failed = 0
        self.evicted_age_s = 0.0

    async def steps(self, job: Job, ends: frozenset[int]) -> AsyncGenerator[Step, None]:
        """Raises EngineFailed."""
        self.is_taken = True
        try:
            if self._pass is not None:  # of a closed job: worth waiting for, its cache may be what we want
                await asyncio.wait([self._pass])
            kept = self._kept_for(job)
            num_cached, drafter = len(kept.tokens), Drafter(job.prompt, job.draft)
            todo, num_left = list(job.prompt[num_cached:]), job.max_tokens
            while todo:
                now, todo = todo[: self._step_tokens], todo[self._step_tokens :]
                self.prefilled += len(now) if num_left == job.max_tokens else 0
                if todo or not num_left:
                    await self._run(kept, now, 1)
                    yield Step((), num_cached)
                    continue
                step = await self._write(kept, drafter, now, num_left, num_cached)
                yield step
                todo, num_left = list(step.tokens[-1:]), num_left - len(step.tokens)
                if not num_left or not ends.isdisjoint(step.tokens):
                    return
        finally:
            self.is_taken = False

    @property
    def is_busy(self) -> bool:
        return self._pass is not None

    def num_tokens(self) -> int:
        return sum(len(kept.tokens) for kept in self._kept)

    async def close(self) -> None:
        await asyncio.to_thread(self._thread.shutdown, wait=True)
        self._kept.clear()

    async def _write(self, kept: _Kept, drafter: Drafter, now: list[int], num_left: int, num_cached: int) -> Step:
        """A pass over what is not in the cache yet, the prompt's last tokens or the one that was chosen last, and over
        a draft of what follows."""
        drafted = drafter.propose(num_left - 1) if self._may_draft else []
        chosen = await self._run(kept, now + drafted, len(drafted) + 1)
        num_accepted = num_agreeing(drafted, chosen)
        kept.cut(len(kept.tokens) - len(drafted) + num_accepted)
        tokens = chosen[: num_accepted + 1]
        drafter.wrote(tokens, len(drafted), num_accepted)
        return Step(tokens, num_cached, len(drafted), num_accepted)

    async def _run(self, kept: _Kept, tokens: Sequence[int], num_choices: int) -> list[int]:
        """A pass. A cancelled caller leaves it running."""
        self.num_steps += 1
        call = partial(self._compute, kept, tokens, num_choices)
        self._pass = asyncio.get_running_loop().run_in_executor(self._thread, call)
        self._pass.add_done_callback(partial(self._passed, kept))
        try:
            return await asyncio.shield(self._pass)
        except Exception as error:  # twice in a row, and it is not the job's fault
            raise (EngineLost if self._num_failed > 1 else EngineFailed)("a pass of the model failed") from error

    def _compute(self, kept: _Kept, tokens: Sequence[int], num_choices: int) -> list[int]:
        """Extend the cache by `tokens`, and choose, greedily, what follows each of the last `num_choices` of them.
        Blocks; runs on the thread."""
        import torch

        with self._exclusive(), torch.inference_mode():
            ids = torch.tensor([list(tokens)], device=self._model.device)
            logits = self._model(input_ids=ids, cache=kept.cache, use_cache=True, logits_to_keep=num_choices).logits
            kept.tokens += tokens
            return [int(choice) for choice in logits[0].float().argmax(-1).tolist()]

    def _passed(self, kept: _Kept, done: "asyncio.Future[list[int]]") -> None:
        """Of a cache that a pass has failed over nobody knows what is in it."""
        self._pass = None
        error = None if done.cancelled() else done.exception()
        self._num_failed = self._num_failed + 1 if error else 0
        if error is not None:
            _log.error("a pass has failed with %s", type(error).__name__)
            self._kept = [other for other in self._kept if other is not kept]

    def _kept_for(self, job: Job) -> _Kept:
        """The cache that shares most with the prompt, cut to that; an empty one where none shares enough."""
        mine = [kept for kept in self._kept if kept.tenant == job.tenant]
        best = max(mine, key=lambda kept: num_shared(kept.tokens, job.prompt), default=None)
        if best is None or not _is_worth_keeping(best, job):
            best = self._new(job.tenant)
        best.cut(num_shared(best.tokens, job.prompt))
        best.last_used = time.monotonic()
        return best

    def _new(self, tenant: str) -> _Kept:
        from transformers import DynamicCache

        new = _Kept(tenant, DynamicCache())
        self._kept.append(new)
        while len(self._kept) > self._num_kept:
            oldest = min(self._kept, key=lambda kept: kept.last_used or time.monotonic())
            self._kept.remove(oldest)
            if oldest is not new:
                self.evictions += 1
                self.evicted_age_s += time.monotonic() - oldest.last_used
        return new


def _is_worth_keeping(kept: _Kept, job: Job) -> bool:
    return num_shared(kept.tokens, job.prompt) >= _MIN_SHARED * min(len(kept.tokens), len(job.prompt))
