"""The real engine with the real model: text, reuse, cancellation within a step. Skipped where the model is not here."""

import asyncio
import contextlib
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_complete.backend.engines.base import Job
from lsp_complete.backend.engines.llamacpp import PREFILL_STEP_TOKENS, LlamaCppEngine
from lsp_complete.backend.fim import Template, detect_family
from lsp_complete.protocol.completion import Finish
from lsp_complete.protocol.errors import EngineFailed
from tests.fakes import QWEN, request

pytestmark = pytest.mark.model

PREFIX = "def fibonacci(n):\n    if n < 2:\n        return n\n    return "


@pytest.fixture(scope="module")
def loaded(model_path):
    return LlamaCppEngine.load(model_path, model="q", context_tokens=1024, num_slots=2, threads=0)


@pytest.fixture
async def engine(loaded):
    """The engine of the module, fitted to the loop of the test, with cold slots."""
    loaded._freed = asyncio.Event()
    for slot in loaded._slots:
        slot.tokens = ()
    return loaded


def job_for(engine, prefix, suffix="\n\nprint(fibonacci(10))\n", max_tokens=12):
    template = Template(QWEN, engine.tokenizer)
    prompt = template.render(request(prefix, suffix), engine.context_tokens - max_tokens)
    return Job(prompt.tokens, max_tokens, "s", template.stop_tokens)


async def run(engine, job):
    chunks = [chunk async for chunk in engine.generate(job)]
    return "".join(chunk.text for chunk in chunks), chunks[-1]


async def test_it_knows_fibonacci(engine):
    text, last = await run(engine, job_for(engine, PREFIX))
    assert text.startswith(" fibonacci(n")
    assert last.usage.completion_tokens > 5
    assert last.timing_ms.prefill > 0
    assert last.timing_ms.decode > 0


async def test_reuse_changes_nothing_but_the_work(engine):
    await run(engine, job_for(engine, PREFIX[:-3]))
    warm, last_warm = await run(engine, job_for(engine, PREFIX))
    for slot in engine._slots:
        slot.tokens = ()
    cold, last_cold = await run(engine, job_for(engine, PREFIX))
    assert warm == cold
    assert last_warm.usage.cached_tokens >= 0.8 * last_warm.usage.prompt_tokens
    assert last_warm.usage.prompt_tokens == last_cold.usage.prompt_tokens


async def test_two_sessions_at_once_do_not_disturb_each_other(engine):
    other = PREFIX.replace("fibonacci", "factorial").replace("n < 2", "n == 0").replace("return n", "return 1")
    jobs = [job_for(engine, PREFIX), job_for(engine, other, "\n\nprint(factorial(5))\n")]
    alone = [(await run(engine, job))[0] for job in jobs]
    together = [text for text, _ in await asyncio.gather(*(run(engine, job) for job in jobs))]
    assert together == alone


async def test_what_two_slots_write_at_once_is_one_pass(engine):
    jobs = [job_for(engine, PREFIX), job_for(engine, "import os\n" + PREFIX)]
    alone = [(await run(engine, job))[0] for job in jobs]
    rounds, steps = engine._rounds.num_rounds, engine.stats().steps
    together = [text for text, _ in await asyncio.gather(*(run(engine, job) for job in jobs))]
    assert together == alone
    assert engine._rounds.num_rounds - rounds < 0.8 * (engine.stats().steps - steps)


async def test_a_stop_token_ends_the_text_and_is_not_in_it(engine):
    job = job_for(engine, PREFIX)
    _, last = await run(engine, Job(job.prompt, 12, "s", frozenset(range(200_000))))
    assert (last.finish, last.usage.completion_tokens) == (Finish.STOP, 0)


async def test_a_character_split_over_tokens_comes_whole(engine):
    prefix = "# repeat: 🦜 漢字 🦜 漢字 🦜 漢字\nBIRD = '🦜 漢字 🦜 漢字 🦜 漢字"
    text, _ = await run(engine, job_for(engine, prefix, "'\n", 24))
    assert "🦜" in text
    assert "\ufffd" not in text


async def test_closing_between_steps_leaves_the_engine_idle(engine):
    async with contextlib.aclosing(engine.generate(job_for(engine, PREFIX))) as chunks:
        while not (await anext(chunks)).text:
            pass
        steps = engine.stats().steps
    assert engine.stats().busy == 0
    assert engine.stats().steps == steps


async def test_a_cancel_in_a_long_prefill_waits_for_one_batch_and_its_work_is_kept(engine):
    long = "".join(f"value_{i} = compute({i}, {i + 1})\n" for i in range(12)) + PREFIX
    job = job_for(engine, long)
    task = asyncio.create_task(run(engine, job))
    before = engine.stats().steps
    while engine.stats().steps < before + 3:
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert engine.stats().steps == before + 3
    _, last = await run(engine, job)
    assert last.usage.cached_tokens >= 2 * PREFILL_STEP_TOKENS


async def test_prefill_only_warms_the_cache(engine):
    job = job_for(engine, PREFIX)
    text, _ = await run(engine, replace(job, max_tokens=0))
    assert text == ""
    _, last = await run(engine, job)
    assert last.usage.cached_tokens == last.usage.prompt_tokens - 1


async def test_files_that_are_only_looked_into_take_no_slot_from_one_that_is_edited(engine):
    edited, *looked_into = [job_for(engine, f"{name} = 1\n" * 4, "\n" + name * 9) for name in ("a", "bc", "xyz", "def")]
    await run(engine, edited)
    for job in looked_into:
        await run(engine, replace(job, max_tokens=0))
    _, last = await run(engine, edited)
    assert last.usage.cached_tokens == last.usage.prompt_tokens - 1


async def test_markers_are_control_tokens_and_text_is_not(engine):
    tokenizer = engine.tokenizer
    assert detect_family(tokenizer) is QWEN
    assert tokenizer.marker("def") is None
    assert tokenizer.marker(QWEN.middle) not in tokenizer.encode(f"x = '{QWEN.middle}'")


@given(
    st.lists(st.sampled_from(["def f(x):\n", "    return x", "\n", "\n\n", "\t", " ", "é", "1", ")", "'s", "\u2028"]))
)
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_text_encoded_by_pieces_has_the_same_tokens(loaded, pieces):
    text, tokenizer = "".join(pieces), loaded.tokenizer
    assert tokenizer._is_cut
    by_pieces = [token for piece in tokenizer._pieces(text, 1) for token in tokenizer._ask(piece, False)]
    assert by_pieces == list(tokenizer._ask(text, False) if text else ())


def test_a_file_that_is_no_model_is_refused_with_its_name(tmp_path):
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(EngineFailed, match=r"broken\.gguf"):
        LlamaCppEngine.load(path, model="x", context_tokens=512, num_slots=1, threads=1)
