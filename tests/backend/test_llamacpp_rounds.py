"""Steps that are asked for together are one pass, and one that has not begun can be withdrawn."""

import asyncio
import threading

import pytest

from lsp_complete.backend.engines.base import Job
from lsp_complete.backend.engines.llamacpp import LlamaCppEngine
from lsp_complete.backend.engines.llamacpp_calls import Answer, Calls, Step
from lsp_complete.backend.engines.llamacpp_folder import PrivateFolder
from lsp_complete.backend.engines.llamacpp_rounds import Rounds
from lsp_complete.protocol.errors import EngineFailed

PATIENCE_S = 60


class HeldCalls(Calls):
    """Takes all steps together; a pass lasts until `go_on`."""

    def __init__(self):
        self.passes: list[list[int]] = []
        self.go_on = threading.Semaphore(0)

    def together(self, steps):
        return list(steps)

    def run(self, steps):
        self.passes.append([step.slot for step in steps])
        assert self.go_on.acquire(timeout=PATIENCE_S)
        return [Answer(step.slot, "x") for step in steps]


async def test_who_asks_during_a_pass_is_in_the_next_one_with_all_others():
    calls = HeldCalls()
    rounds = Rounds(calls, lambda: 3 if calls.passes else 1)
    first = rounds.ask(Step(0, (1,)))
    others = [rounds.ask(Step(slot, (1,))) for slot in (1, 2)]
    calls.go_on.release(2)
    assert (await first).token == 0
    again = rounds.ask(Step(0, (1, 2)))
    async with asyncio.timeout(PATIENCE_S):
        assert [answer.token for answer in await asyncio.gather(*others, again)] == [1, 2, 0]
    assert calls.passes == [[0], [1, 2, 0]]
    assert (rounds.num_rounds, rounds.num_begun) == (2, 4)
    await rounds.close()


async def test_who_never_asks_holds_nobody_up():
    calls = HeldCalls()
    rounds = Rounds(calls, lambda: 2)
    calls.go_on.release()
    async with asyncio.timeout(PATIENCE_S):
        assert (await rounds.ask(Step(0, (1,)))).token == 0
    await rounds.close()


async def test_a_step_that_is_withdrawn_never_begins():
    calls = HeldCalls()
    rounds = Rounds(calls, lambda: 1)
    running, waiting = rounds.ask(Step(0, (1,))), rounds.ask(Step(1, (1,)))
    rounds.withdraw(waiting)
    rounds.withdraw(running)
    calls.go_on.release()
    assert (await running).token == 0
    assert waiting.cancelled()
    assert calls.passes == [[0]]
    await rounds.close()


async def test_nobody_waits_for_a_step_of_an_engine_that_is_closed():
    calls = HeldCalls()
    rounds = Rounds(calls, lambda: 1)
    running, waiting = rounds.ask(Step(0, (1,))), rounds.ask(Step(1, (1,)))
    closing = asyncio.create_task(rounds.close())
    await asyncio.sleep(0)
    calls.go_on.release()
    await closing
    assert (await running).token == 0
    for refused in (waiting, rounds.ask(Step(0, (1, 2)))):
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(EngineFailed):
                await refused
    assert calls.passes == [[0]]


class Server:
    """Answers as llama.cpp does, with the length of each prompt for a token; `fails` once told to."""

    fails = False
    listening_address = ""

    def handle_completions(self, asked, on_answer):
        if self.fails:
            return
        self.asked = asked
        prompt = asked["prompt"]
        prompts = prompt if isinstance(prompt[0], list) else [prompt]
        on_answer({"choices": [self._choice(i, tokens) for i, tokens in enumerate(prompts)]})

    def _choice(self, index, tokens):
        content = [{"id": len(tokens)}]
        return {"index": index, "text": "x", "finish_reason": "length", "logprobs": {"content": content}}


def calls_holding(*held):
    calls = Calls(Server(), len(held), most_tokens=4)
    for slot, tokens in enumerate(held):
        calls.run([Step(slot, tokens)])
    return calls


def together(calls, *steps):
    return [step.slot for step in calls.together([Step(*step) for step in steps])]


def test_steps_of_texts_that_differ_are_one_pass():
    calls = calls_holding((1, 2, 3), (1, 5, 6))
    steps = (0, (1, 2, 3, 4)), (1, (1, 5, 6, 7))
    assert together(calls, *steps) == [0, 1]
    answers = calls.run([Step(*step) for step in steps])
    assert [(a.token, a.num_cached, a.num_computed) for a in answers] == [(4, 3, 1), (4, 3, 1)]


def test_where_another_slot_holds_as_much_of_the_text_each_goes_alone_to_its_own():
    calls = calls_holding((1, 2, 3), (1, 2, 3, 9))
    assert together(calls, (0, (1, 2, 3, 4)), (1, (1, 2, 3, 9, 9))) == [0]


def test_a_step_that_may_not_use_what_its_slot_holds_goes_alone():
    calls = calls_holding((1, 2, 3), (5, 6, 7))
    assert together(calls, (0, (1, 2, 3, 4), False), (1, (5, 6, 7, 8))) == [0]
    assert together(calls, (1, (5, 6, 7, 8)), (0, (1, 2, 3, 4), False)) == [1]


def test_no_more_is_one_pass_than_the_engine_computes_in_one():
    calls = calls_holding((1, 2, 3), (5, 6, 7))
    assert together(calls, (0, (1, 2, 3, 4, 4, 4)), (1, (5, 6, 7, 8))) == [0, 1]
    assert together(calls, (0, (1, 2, 3, 4, 4, 4, 4)), (1, (5, 6, 7, 8))) == [0]


def test_a_slot_after_a_failure_is_trusted_again_when_it_has_answered():
    calls = calls_holding((1, 2, 3), (5, 6, 7))
    steps = (0, (1, 2, 3, 4)), (1, (5, 6, 7, 8))
    calls._server.fails = True
    with pytest.raises(EngineFailed):
        calls.run([Step(*steps[0])])
    calls._server.fails = False
    assert together(calls, *steps) == [0]
    calls.run([Step(0, (1, 2, 3))])
    assert together(calls, *steps) == [0, 1]


async def test_what_a_slot_holds_after_a_failure_is_used_for_nobody():
    server, folder = Server(), PrivateFolder()
    engine = LlamaCppEngine(server, folder, "m", context_tokens=64, num_slots=1, key="")

    async def run(tenant):
        return [chunk async for chunk in engine.generate(Job((1, 2, 3), 1, "s", frozenset(), tenant))]

    await run("one")
    server.fails = True
    with pytest.raises(EngineFailed):
        await run("one")
    server.fails = False
    await run("two")
    assert server.asked["cache_prompt"] is False
    await engine.close()
