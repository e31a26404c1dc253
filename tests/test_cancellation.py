"""Close the stream, and the engine is idle: over a real connection, with the real service and the real client."""

import asyncio

import pytest

from bench.cancel import measure
from lsp_complete.backend.engines.llamacpp import LlamaCppEngine
from tests.fakes import QWEN, RecitingEngine

NUM_CANCELS = 500
# Each costs up to a step of the real model, a third of a second on two slow cores.
NUM_CANCELS_OF_THE_MODEL = 12


class TurningEngine(RecitingEngine):
    """Recites, and gives the event loop some turns with each step, so that cancels come at every point of it."""

    async def _step(self) -> None:
        self._busy += 1
        try:
            for _ in range(3):
                await asyncio.sleep(0)
        finally:
            self._busy -= 1
        await super()._step()


async def test_500_cancels_lose_nothing():
    result = await measure(TurningEngine("x = 1\n    " * 6, num_slots=2), QWEN, NUM_CANCELS, latest_s=0.01)
    assert result.cancels == NUM_CANCELS
    assert result.connections == 1
    assert result.leaked_streams == 0
    assert result.errors == {}
    assert result.next_is_right
    assert {"at the end", "between tokens", "before the first token"} <= result.stages.keys()


@pytest.mark.model
async def test_the_model_begins_at_most_one_step_after_a_cancel(model_path):
    engine = await asyncio.to_thread(
        LlamaCppEngine.load, model_path, model="q", context_tokens=2048, num_slots=2, threads=0
    )
    try:
        result = await measure(engine, QWEN, NUM_CANCELS_OF_THE_MODEL)
    finally:
        await engine.close()
    assert (result.leaked_streams, result.errors) == (0, {})
    assert result.tokens_after_cancel_max <= 1
    assert result.next_is_right
    assert result.cached_share >= 0.9
