"""The service over an engine that recites: what comes out, what it counts, and that closing stops the engine."""

import asyncio
import contextlib
import logging
import threading

import pytest

from lsp_complete.backend.exits import Exits
from lsp_complete.backend.metrics import Metrics
from lsp_complete.backend.service import Asked, CompletionService
from lsp_complete.protocol.completion import Finish, FinishChunk, Mode, TextChunk, Usage
from lsp_complete.protocol.errors import CompletionError, DeadlinePassed, InvalidRequest, RateLimited, Superseded
from tests.fakes import QWEN, CharacterTokenizer, RecitingEngine, request


def service_over(engine, queue_length=4):
    return CompletionService(engine, QWEN, queue_length, Metrics())


async def collect(service, asked):
    chunks = [chunk async for chunk in service.complete(asked)]
    assert isinstance(chunks[-1], FinishChunk)
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk)), chunks[-1]


async def test_text_comes_with_what_it_took():
    text, finish = await collect(service_over(RecitingEngine("x + 1")), request(max_tokens=50))
    assert text == "x + 1"
    assert finish.finish is Finish.STOP
    assert finish.model == "reciting"
    assert (finish.usage.prompt_tokens, finish.usage.completion_tokens) == (5, 5)


async def test_a_line_ends_the_engine_at_its_end():
    engine = RecitingEngine("return x\nmore and more")
    text, finish = await collect(service_over(engine), request(mode=Mode.LINE))
    assert (text, finish.finish) == ("return x", Finish.STOP)
    assert finish.usage.completion_tokens == len("return x\n")
    assert engine.num_open == 0


async def test_max_tokens_ends_the_text():
    text, finish = await collect(service_over(RecitingEngine("abcdef")), request(max_tokens=3))
    assert (text, finish.finish) == ("abc", Finish.LENGTH)


async def test_markers_spelled_out_end_the_text():
    text, finish = await collect(service_over(RecitingEngine("return x<|endoftext|>junk")), request())
    assert (text, finish.finish) == ("return x", Finish.STOP)


async def test_the_deadline_ends_the_text_with_what_there_is():
    engine = RecitingEngine("abc")
    engine.gate = asyncio.Semaphore(2)
    text, finish = await collect(service_over(engine), request(deadline_ms=200))
    assert (text, finish.finish) == ("ab", Finish.DEADLINE)
    assert engine.num_open == 0


async def test_prefill_only_generates_nothing():
    engine = RecitingEngine("abc")
    text, finish = await collect(service_over(engine), request(prefill_only=True))
    assert (text, finish.usage.completion_tokens) == ("", 0)


async def test_reused_tokens_are_reported():
    service = service_over(RecitingEngine("abc"))
    await collect(service, request("def f"))
    _, finish = await collect(service, request("def fo"))
    assert finish.usage.cached_tokens == finish.usage.prompt_tokens - 1


@pytest.mark.parametrize("num_steps", [0, 1, 2])
async def test_closing_the_stream_stops_the_engine_before_its_next_step(num_steps):
    engine = RecitingEngine("abcdef")
    engine.gate = asyncio.Semaphore(num_steps)
    service = service_over(engine)
    task = asyncio.create_task(collect(service, request()))
    async with engine.stepped:
        await engine.stepped.wait_for(lambda: engine.stats().steps >= num_steps or engine.stats().busy)
    await _settle()
    task.cancel()
    await asyncio.wait([task])
    for _ in range(5):
        engine.gate.release()
    await _settle()
    assert engine.stats().steps == num_steps
    assert engine.num_open == 0
    assert (service.admission.num_running, service.admission.num_waiting) == (0, 0)


async def test_a_cancel_in_the_queue_never_reaches_the_engine():
    engine = RecitingEngine("abc", num_slots=1)
    engine.gate = asyncio.Semaphore(0)
    service = service_over(engine)
    running, queued = (asyncio.create_task(collect(service, request())) for _ in range(2))
    while service.admission.num_waiting == 0:
        await asyncio.sleep(0)
    queued.cancel()
    await asyncio.wait([queued])
    running.cancel()
    await asyncio.wait([running])
    assert len(engine.jobs) == 1


async def test_who_comes_too_many_is_refused():
    engine = RecitingEngine("abc", num_slots=1)
    engine.gate = asyncio.Semaphore(0)
    service = service_over(engine, queue_length=0)
    running = asyncio.create_task(collect(service, request()))
    while not engine.jobs:
        await asyncio.sleep(0)
    with pytest.raises(RateLimited):
        await collect(service, request())
    running.cancel()
    await asyncio.wait([running])


async def test_a_prompt_without_room_in_the_context_is_refused():
    with pytest.raises(InvalidRequest):
        await collect(service_over(RecitingEngine("abc", context_tokens=64)), request(max_tokens=64))


async def test_every_request_is_counted_by_how_it_ended_and_logged_without_its_code(caplog):
    caplog.set_level(logging.INFO, "lsp_complete")
    metrics = Metrics()
    engine = RecitingEngine("abcdef", fails_after=8)
    service = CompletionService(engine, QWEN, 4, metrics)
    await collect(service, request("secret_word = ", max_tokens=3))
    async with contextlib.aclosing(service.complete(request("secret_word = "))) as chunks:
        await anext(chunks)
    with contextlib.suppress(CompletionError):
        await collect(service, request("secret_word = "))
    counted = {o: metrics.registry.get_sample_value("lsp_complete_requests_total", {"outcome": o}) for o in
               ("length", "cancelled", "engine-failed")}  # fmt: skip
    assert counted == {"length": 1, "cancelled": 1, "engine-failed": 1}
    assert metrics.registry.get_sample_value("lsp_complete_in_flight") == 0
    assert metrics.registry.get_sample_value("lsp_complete_generated_tokens_total", {"use": "wasted"}) == 1
    assert "secret_word" not in caplog.text
    assert caplog.text.count("request id=r1") == 3


async def test_the_same_question_again_costs_nothing_and_counts_apart():
    engine, metrics = RecitingEngine("abc"), Metrics()
    service = CompletionService(engine, QWEN, 4, metrics, cache_s=30)
    first, _ = await collect(service, request())
    again, finish = await collect(service, request(request_id="r2"))
    assert (again, first) == ("abc", "abc")
    assert len(engine.jobs) == 1
    assert (finish.finish, finish.usage, finish.model) == (Finish.STOP, Usage(), "reciting")
    value = metrics.registry.get_sample_value
    assert value("lsp_complete_response_cache_total", {"result": "hit"}) == 1
    assert value("lsp_complete_prompt_tokens_total") == 5
    other = [c async for c in service.answer(Asked(request(), "another tenant"))]
    assert len(other) == 4
    assert len(engine.jobs) == 2


async def test_a_credential_is_kept_back_and_counted_by_its_reason():
    metrics = Metrics()
    engine = RecitingEngine("key = 'AKIAIOSFODNN7ABCDEFG'")
    service = CompletionService(engine, QWEN, 4, metrics, exits=Exits(is_on=True), cache_s=30)
    text, finish = await collect(service, request())
    assert (text, finish.finish) == ("key = ", Finish.FILTERED)
    assert metrics.registry.get_sample_value("lsp_complete_filtered_total", {"reason": "credential"}) == 1
    engine.text = " \n "
    assert (await collect(service, request()))[0] == ""
    assert metrics.registry.get_sample_value("lsp_complete_filtered_total", {"reason": "empty"}) == 1


async def test_what_was_computed_for_a_client_that_left_is_counted():
    engine, metrics = RecitingEngine("abcdef"), Metrics()
    engine.gate = asyncio.Semaphore(0)
    service = CompletionService(engine, QWEN, 4, metrics)
    task = asyncio.create_task(collect(service, request()))
    while not engine.stats().busy:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    value = metrics.registry.get_sample_value
    assert value("lsp_complete_prompt_tokens_total") == 5
    assert value("lsp_complete_cancelled_total", {"stage": "prefill"}) == 1


async def test_the_first_text_is_measured_apart_for_warm_and_cold_prompts_and_affinity_for_known_sessions():
    metrics = Metrics()
    service = CompletionService(RecitingEngine("abc"), QWEN, 4, metrics)
    for _ in range(3):
        await collect(service, request("def function"))
    await collect(service, request("something else", "entirely"))
    value = metrics.registry.get_sample_value
    counts = [value("lsp_complete_first_text_seconds_count", {"cache": cache}) for cache in ("warm", "cold")]
    assert counts == [2, 2]
    assert [value("lsp_complete_affinity_total", {"result": result}) for result in ("hit", "miss")] == [2, 1]


async def test_a_newer_question_of_a_session_takes_the_place_of_its_waiting_one():
    engine = RecitingEngine("abc", num_slots=1)
    engine.gate = asyncio.Semaphore(0)
    service = service_over(engine)
    running = asyncio.create_task(collect(service, request(session_id="other")))
    while not engine.jobs:
        await asyncio.sleep(0)
    older = asyncio.create_task(collect(service, request("a", session_id="mine")))
    while not service.admission.num_waiting:
        await asyncio.sleep(0)
    newer = asyncio.create_task(collect(service, request("ab", session_id="mine")))
    with pytest.raises(Superseded):
        await older
    assert service.admission.num_waiting == 1
    engine.gate = None
    running.cancel()
    assert (await newer)[0] == "abc"


async def test_the_deadline_holds_for_the_prompt_too():
    class SlowTokenizer(CharacterTokenizer):
        def encode(self, text):
            held.wait(10)
            return super().encode(text)

    held = threading.Event()
    engine = RecitingEngine("abc")
    engine.tokenizer = SlowTokenizer()
    with pytest.raises(DeadlinePassed):
        await collect(service_over(engine), request(deadline_ms=10))
    held.set()
    assert engine.jobs == []


async def _settle():
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("fields", [{"prefill_only": True}, {"ahead": True}])
async def test_what_nobody_waits_for_leaves_its_slot_to_whoever_waits(fields):
    engine = RecitingEngine("abcdef", num_slots=1)
    engine.gate = asyncio.Semaphore(0)
    service = service_over(engine)
    ahead = asyncio.create_task(collect(service, request("a", request_id="r1", **fields)))
    while not engine.stats().busy:
        await asyncio.sleep(0)
    asked = asyncio.create_task(collect(service, request("b", request_id="r2")))
    while not service.admission.num_waiting:
        await asyncio.sleep(0)
    for _ in range(10):
        engine.gate.release()
    with pytest.raises(Superseded):
        await ahead
    assert (await asked)[0] == "abcdef"


async def test_what_was_computed_before_anybody_asked_counts_apart():
    metrics = Metrics()
    service = CompletionService(RecitingEngine("abc"), QWEN, 4, metrics)
    value = metrics.registry.get_sample_value
    await collect(service, request("def f", prefill_only=True))
    _, finish = await collect(service, request("def fo", ahead=True))
    computed = 2 * finish.usage.prompt_tokens - 1 - finish.usage.cached_tokens
    assert value("lsp_complete_ahead_tokens_total", {"kind": "prompt"}) == computed
    assert value("lsp_complete_ahead_tokens_total", {"kind": "generated"}) == 3
    assert value("lsp_complete_prompt_tokens_total") == 0
    await collect(service, request("def foo"))
    assert value("lsp_complete_prompt_tokens_total") == finish.usage.prompt_tokens + 1
    assert value("lsp_complete_generated_tokens_total", {"use": "answered"}) == 3
    assert value("lsp_complete_queue_seconds_count") == 1
