import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.backend.admission import Admission, Mean, Ticket, Tier
from lsp_complete.protocol.errors import CompletionError, DeadlinePassed, QueueFull, Superseded, TooLate


class Played:
    """An admission with one slot, taken; tells who gets it, in order."""

    def __init__(self, queue_length=8):
        self.admission = Admission(1, queue_length)
        self.order: list[object] = []
        self.leave = asyncio.Event()
        self.first = asyncio.create_task(self._hold())

    async def _hold(self):
        async with self.admission.enter():
            await self.leave.wait()

    async def queue(self, name, ticket):
        async def enter():
            async with self.admission.enter(ticket):
                self.order.append(name)

        task = asyncio.create_task(enter())
        await asyncio.sleep(0)
        return task

    async def end(self, *tasks):
        self.leave.set()
        return await asyncio.gather(self.first, *tasks, return_exceptions=True)


async def played(queue_length=8):
    made = Played(queue_length)
    await asyncio.sleep(0)
    return made


def ticket(tier=Tier.AUTOMATIC, deadline=math.inf, session=None, min_work_s=0.0):
    return Ticket(tier, deadline, session and ("", session), min_work_s)


def soon(seconds):
    return asyncio.get_running_loop().time() + seconds


async def test_the_better_tier_goes_first_then_the_earlier_deadline_then_who_came_first():
    it = await played()
    tasks = [
        await it.queue("warming", ticket(Tier.WARMING, soon(1))),
        await it.queue("first", ticket()),
        await it.queue("second", ticket()),
        await it.queue("late", ticket(deadline=soon(900))),
        await it.queue("soon", ticket(deadline=soon(800))),
        await it.queue("invoked", ticket(Tier.INVOKED)),
    ]
    await it.end(*tasks)
    assert it.order == ["invoked", "soon", "late", "first", "second", "warming"]


async def test_who_finds_the_queue_full_is_turned_away_at_once_and_a_better_one_takes_the_place_of_the_last():
    it = await played(queue_length=1)
    waiting = await it.queue("automatic", ticket())
    with pytest.raises(QueueFull) as refused:
        await (await it.queue("too many", ticket()))
    assert refused.value.retry_after_s == 1
    better = await it.queue("invoked", ticket(Tier.INVOKED))
    assert isinstance((await it.end(waiting, better))[1], QueueFull)
    assert it.order == ["invoked"]
    assert (it.admission.num_running, it.admission.num_waiting) == (0, 0)


async def test_only_the_newest_question_of_a_session_waits():
    it = await played()
    tasks = [await it.queue(n, ticket(session=s)) for n, s in (("old", "a"), ("other", "b"), ("new", "a"))]
    results = await it.end(*tasks)
    assert isinstance(results[1], Superseded)
    assert it.order == ["other", "new"]


async def test_warming_up_replaces_no_question():
    it = await played()
    tasks = [await it.queue("asked", ticket(session="a")), await it.queue("warm", ticket(Tier.WARMING, session="a"))]
    await it.end(*tasks)
    assert it.order == ["asked", "warm"]


async def test_who_leaves_the_queue_gives_up_the_place():
    it = await played(queue_length=1)
    task = await it.queue("left", ticket())
    task.cancel()
    await asyncio.wait([task])
    assert it.admission.num_waiting == 0
    await it.end(await it.queue("next", ticket()))
    assert it.order == ["next"]


async def test_nobody_waits_beyond_the_deadline():
    it = await played()
    with pytest.raises(DeadlinePassed) as passed:
        await (await it.queue("late", ticket(deadline=soon(0.01))))
    assert not isinstance(passed.value, TooLate)
    assert it.admission.num_waiting == 0
    await it.end()


async def test_what_cannot_be_in_time_is_refused_before_it_waits():
    it = await played()
    it.admission._held_s.note(10.0)
    for late in (ticket(deadline=soon(4)), ticket(deadline=soon(8), min_work_s=5)):
        with pytest.raises(TooLate) as refused:
            await (await it.queue("late", late))
        assert (refused.value.retry_after_s or 0) >= 5
    await it.end(await it.queue("in time", ticket(deadline=soon(100), min_work_s=5)))
    assert it.order == ["in time"]


async def test_who_waits_in_vain_is_told_when_a_slot_is_free_and_not_at_the_deadline():
    it = await played()
    tasks = [await it.queue("in time", ticket(Tier.INVOKED)), await it.queue("late", ticket(deadline=soon(400)))]
    it.admission._held_s.note(1000.0)
    results = await it.end(*tasks)
    assert isinstance(results[-1], TooLate)
    assert it.order == ["in time"]


async def test_one_that_holds_its_slot_for_long_costs_nobody_a_place_while_the_other_slots_come_free():
    admission, leave = Admission(4, 8), asyncio.Event()

    async def hold():
        async with admission.enter():
            await leave.wait()

    holding = [asyncio.create_task(hold()) for _ in range(4)]
    await asyncio.sleep(0)
    admission._held_s.note(0.5)
    admission._since[0] -= 100.0
    assert admission.expected_wait_s(ticket()) < 0.2
    admission._since[1:] = [since - 100.0 for since in admission._since[1:]]
    assert admission.expected_wait_s(ticket()) > 10
    for task in holding:
        task.cancel()
    admission._since.clear()


async def test_where_a_slot_is_free_nobody_is_refused():
    admission = Admission(1, 0)
    admission._held_s.note(1000.0)
    async with admission.enter(ticket(deadline=soon(0.001), min_work_s=1000)):
        assert admission.num_running == 1


async def test_a_slot_granted_to_one_who_leaves_at_that_moment_is_handed_on():
    admission, order = Admission(1, 8), []

    async def enter(name):
        async with admission.enter():
            order.append(name)

    async with admission.enter():
        leaving, staying = asyncio.create_task(enter("leaving")), asyncio.create_task(enter("staying"))
        await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.wait([leaving, staying])
    assert order == ["staying"]
    assert admission.num_running == 0


@given(st.lists(st.tuples(st.sampled_from(Tier), st.sampled_from(["", "a", "b"]), st.booleans()), max_size=30))
async def test_whatever_comes_and_goes_no_slot_is_lost(arrivals):
    admission = Admission(2, 4)

    async def visit(tier, session):
        async with admission.enter(ticket(tier, session=session)):
            assert admission.num_running <= 2
            await asyncio.sleep(0)

    tasks = []
    for tier, session, leaves in arrivals:
        tasks.append(asyncio.create_task(visit(tier, session)))
        await asyncio.sleep(0)
        if leaves:
            tasks[len(tasks) // 2].cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(r, CompletionError | asyncio.CancelledError | None) for r in results)
    assert (admission.num_running, admission.num_waiting) == (0, 0)


def test_a_mean_follows_what_is_new():
    mean = Mean()
    mean.note(10)
    assert mean.value == 10
    for _ in range(50):
        mean.note(20)
    assert 19 < mean.value <= 20
