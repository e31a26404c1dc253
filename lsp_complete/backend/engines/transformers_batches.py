"""Many jobs at once: transformers' continuous batching, its paged cache shared by prompts that begin alike.

The library steps on a thread of its own. A job that is closed is taken out before the next step; a thread that has died
fails the jobs that it had, and the next job starts another.
"""

import asyncio
import contextlib
import itertools
import logging
import threading
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from lsp_complete.backend.engines.base import EngineLost, Job
from lsp_complete.backend.engines.steps import Step
from lsp_complete.backend.engines.transformers_blocks import KeptBlocks, request_id
from lsp_complete.backend.engines.transformers_model import LoadedModel
from lsp_complete.protocol.errors import EngineFailed

_log = logging.getLogger(__name__)

# Tokens of a block. Of a prompt whole blocks are found again: with the library's 256, a keystroke would compute an
# eighth of what an editor sends anew.
PAGE_TOKENS = 16
# The paged cache holds so many times what the slots can be working on. The rest keeps prompts that have been answered.
_ROOM = 2
# With less of it free, the library gives up what no job uses. A step must fit into this (see `describe`).
_FREE_SHARE = 0.25
# How often a job that waits looks whether the thread still lives.
_LOOK_S = 1.0
_STOP_S = 10.0


@dataclass(slots=True, eq=False)
class _Running:
    outputs: "asyncio.Queue[Any]" = field(default_factory=asyncio.Queue)
    num_cached: int = 0


class Batches:
    """`compile_level` is the library's: from 0, nothing, to 3."""

    def __init__(self, loaded: LoadedModel, num_slots: int, compile_level: int = 0, *, may_reuse: bool = True) -> None:
        self._loaded, self._num_slots = loaded, num_slots
        self._compile_level, self._may_reuse = compile_level, may_reuse
        self._running: dict[str, _Running] = {}
        self._numbers = itertools.count()
        self._starting, self._restarting = asyncio.Lock(), threading.Lock()
        self._is_doubtful = False
        self.prefilled = 0
        self._start()

    async def steps(self, job: Job, ends: frozenset[int]) -> AsyncGenerator[Step, None]:
        """Raises EngineFailed."""
        await self._keep_started()
        name = request_id(next(self._numbers), job.tenant)
        running = self._running[name] = _Running()
        try:
            async with contextlib.aclosing(self._outputs(name, job, ends, running)) as outputs:
                num_seen = 0
                async for tokens in outputs:
                    self.prefilled += 0 if num_seen else len(job.prompt) - running.num_cached
                    yield Step(tokens[num_seen:] if job.max_tokens else (), running.num_cached)
                    num_seen = len(tokens)
        finally:
            del self._running[name]

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Between two steps. The library notes in the model what kind of a pass it is in, so of two at once each would
        spoil the other, and all that follow."""
        with self._restarting, self._manager.pause() if self._manager.is_running() else contextlib.nullcontext():
            yield

    @property
    def num_steps(self) -> int:
        return int(getattr(self._manager, "current_batch", 0))

    @property
    def num_busy(self) -> int:
        """Jobs that the thread has, those included that it has not dropped yet."""
        manager = self._manager
        if not manager.is_running():
            return 0
        scheduler = manager.batch_processor.scheduler
        num_waiting: int = manager.input_queue.qsize() + len(scheduler.waiting_requests)
        return num_waiting + len(scheduler.active_requests)

    @property
    def has_graphs(self) -> bool:
        """Whether steps are replayed as CUDA graphs."""
        return any(self._manager.continuous_batching_config.cuda_graph_booleans)

    async def close(self) -> None:
        await asyncio.to_thread(self._stop)

    async def _outputs(
        self, name: str, job: Job, ends: frozenset[int], running: _Running
    ) -> AsyncGenerator[list[int], None]:
        """All tokens of the job after each that is new."""
        manager, is_over = self._manager, False
        manager.register_result_handler(name, running.outputs.put_nowait)
        try:
            most = max(1, job.max_tokens)
            manager.add_request(job.prompt, name, most, streaming=True, eos_token_id=[*ends] or [-1])
            while not is_over:
                output = await self._next(manager, running)
                is_over = output.is_finished()
                if output.error is not None:
                    raise self._failed()
                self._is_doubtful = False
                yield output.generated_tokens
        finally:
            if not is_over:
                manager.cancel_request(name)
                manager.output_router.result_handlers.pop(name, None)

    async def _next(self, manager: Any, running: _Running) -> Any:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    return await running.outputs.get()
            if not manager.is_running():
                raise self._failed()

    def _failed(self) -> EngineFailed:
        """A thread that dies before it has brought a token is not worth a third one."""
        return (EngineLost if self._is_doubtful else EngineFailed)("a step of the model failed")

    async def _keep_started(self) -> None:
        async with self._starting:
            status = self._manager.background_thread_status
            if status.can_accept_new_requests() is None and self._manager.is_running():
                return
            self._is_doubtful = True
            try:
                _log.error("starting again: a step has failed with %s", type(status.fatal_error).__name__)
                await asyncio.to_thread(self._start_again)
            except Exception as error:
                raise EngineLost(f"the engine cannot be started again: {type(error).__name__}") from error

    def _start_again(self) -> None:
        with self._restarting:
            self._stop()
            self._start()

    def _start(self) -> None:
        from transformers import ContinuousBatchingConfig, GenerationConfig

        loaded = self._loaded
        manager = loaded.model.init_continuous_batching(
            GenerationConfig(do_sample=False, eos_token_id=-1),
            ContinuousBatchingConfig(
                page_size=PAGE_TOKENS,
                num_blocks=_ROOM * self._num_slots * ceil(loaded.context_tokens / PAGE_TOKENS),
                max_batch_tokens=max(loaded.step_tokens, 2 * self._num_slots),
                safety_margin=_FREE_SHARE,
                allow_block_sharing=self._may_reuse,
                # With two batches in flight a step would begin before a cancel is known.
                use_async_batching=False,
                # The kernels behind this read pages of 256 tokens.
                max_blocks_per_request=0,
                auto_switch_to_flash=False,
                default_compile_level=self._compile_level,
            ),
        )
        manager.warmup()
        self.kept = KeptBlocks(manager.batch_processor.cache, self._found)
        manager.start()
        self._manager = manager

    def _stop(self) -> None:
        self._manager.stop(block=True, timeout=_STOP_S, hard_stop=True)

    def _found(self, name: str, num_tokens: int) -> None:
        """On the library's thread."""
        if running := self._running.get(name):
            running.num_cached = num_tokens
