import asyncio

import pytest

from lsp_complete.backend.admission import Admission
from lsp_complete.protocol.errors import DeadlinePassed, RateLimited


async def test_who_finds_the_queue_full_is_turned_away_at_once():
    admission = Admission(num_slots=1, queue_length=1)
    async with admission.enter():
        waiting = asyncio.create_task(_enter(admission))
        await asyncio.sleep(0)
        with pytest.raises(RateLimited) as refused:
            await _enter(admission)
        assert refused.value.retry_after_s == 1
    await waiting
    assert (admission.num_running, admission.num_waiting) == (0, 0)


async def test_who_leaves_the_queue_gives_up_the_place():
    admission = Admission(num_slots=1, queue_length=1)
    async with admission.enter():
        waiting = asyncio.create_task(_enter(admission))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        assert admission.num_waiting == 0
    await _enter(admission)


async def test_nobody_waits_beyond_the_deadline():
    admission = Admission(num_slots=1, queue_length=1)
    async with admission.enter():
        with pytest.raises(DeadlinePassed):
            async with admission.enter(deadline=0.0):
                pass
    assert admission.num_waiting == 0


async def _enter(admission):
    async with admission.enter():
        pass
