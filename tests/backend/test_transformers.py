"""The engine over transformers, with random models of every architecture that the catalogue has. Skipped where the
library is not installed."""

import asyncio
import contextlib
from dataclasses import replace
from functools import cache

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from lsp_complete.backend.engines.base import EngineLost, Job
from lsp_complete.backend.engines.transformers import TransformersEngine
from lsp_complete.backend.engines.transformers_tokens import HubTokenizer
from lsp_complete.backend.fim import FAMILIES, Template, detect_family
from lsp_complete.protocol.completion import Finish
from lsp_complete.protocol.errors import EngineFailed
from tests.backend.tiny_models import ARCHITECTURES, Gate, tiny_model, tiny_tokenizer
from tests.fakes import QWEN, request

FAMILY = "qwen2.5-coder"
NUM_TOKENS = 24
# Longer than a step of the prefill, and no whole number of pages.
PROMPT = tuple((i * i + 7 * i) % 251 for i in range(150))


@cache
def generated(family):
    """What the library's own `generate` writes behind PROMPT, one by one and greedily."""
    import torch
    from transformers import GenerationConfig

    config = GenerationConfig(do_sample=False, max_new_tokens=NUM_TOKENS, eos_token_id=None, pad_token_id=0)
    ids = torch.tensor([PROMPT])
    written = tiny_model(family).model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
    return tuple(written[0, len(PROMPT) :].tolist())


def text_of(family, tokens):
    reader = tiny_model(family).tokenizer.reader()
    return "".join(reader.read(token) for token in tokens)


@contextlib.asynccontextmanager
async def engine_over(family=FAMILY, num_slots=2, context_tokens=1024, **options):
    loaded = tiny_model(family, context_tokens)
    engine = TransformersEngine.over(loaded, model="tiny", num_slots=num_slots, **options)
    try:
        yield engine
    finally:
        await engine.close()


async def run(engine, job):
    chunks = [chunk async for chunk in engine.generate(job)]
    return "".join(chunk.text for chunk in chunks), chunks[-1]


JOB = Job(PROMPT, NUM_TOKENS)
WAYS = {
    "alone": {}, "alone-without-drafts": {"may_draft": False}, "alone-without-reuse": {"may_reuse": False},
    "batches": {"may_be_alone": False}, "batches-without-reuse": {"may_be_alone": False, "may_reuse": False},
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", ARCHITECTURES)
async def test_it_writes_what_the_library_does_however_it_comes_to_it(family, way):
    expected = text_of(family, generated(family))
    async with engine_over(family, **WAYS[way]) as engine:
        texts = [(await run(engine, JOB))[0] for _ in range(2)]
        texts += [text for text, _ in await asyncio.gather(run(engine, JOB), run(engine, JOB))]
        texts.append((await run(engine, JOB))[0])
    assert texts == [expected] * 5


@pytest.mark.parametrize("family", ARCHITECTURES)
async def test_no_draft_changes_what_is_written(family):
    expected, tokens = text_of(family, generated(family)), generated(family)
    async with engine_over(family) as engine:
        for draft in (tokens, (*tokens[:5], 0, *tokens[6:]), PROMPT):
            assert (await run(engine, replace(JOB, draft=draft)))[0] == expected


@pytest.mark.parametrize("way", WAYS)
async def test_what_was_computed_is_not_computed_again_unless_told_to(way):
    async with engine_over(**WAYS[way]) as engine:
        _, cold = await run(engine, JOB)
        _, warm = await run(engine, JOB)
    assert cold.usage.cached_tokens == 0
    expected = {"alone": 149, "alone-without-drafts": 149, "batches": 144}
    assert warm.usage.cached_tokens == expected.get(way, 0)


async def test_a_right_draft_saves_passes_and_is_told_of():
    async with engine_over() as engine:
        _, plain = await run(engine, JOB)
        steps = engine.stats().steps
        _, drafted = await run(engine, replace(JOB, draft=generated(FAMILY)))
        assert engine.stats().steps - steps <= 4
    assert plain.usage.draft_tokens < NUM_TOKENS / 2
    assert drafted.usage.completion_tokens == NUM_TOKENS
    assert drafted.usage.accepted_draft_tokens == drafted.usage.draft_tokens >= NUM_TOKENS - 4


@pytest.mark.parametrize("draft", [(), generated])
@pytest.mark.parametrize("alone", [True, False])
async def test_a_stop_token_ends_the_text_within_a_draft_too(alone, draft):
    tokens = generated(FAMILY)
    stop = tokens[7]
    kept = tokens[: tokens.index(stop)]
    job = replace(JOB, stop_tokens=frozenset([stop]), draft=draft and draft(FAMILY))
    async with engine_over(may_be_alone=alone) as engine:
        text, last = await run(engine, job)
    assert text == text_of(FAMILY, kept)
    assert (last.finish, last.usage.completion_tokens) == (Finish.STOP, len(kept))


@pytest.mark.parametrize("alone", [True, False])
async def test_tenants_do_not_see_what_others_have_computed_even_of_the_same_prompt(alone):
    async with engine_over(may_be_alone=alone, num_slots=3) as engine:
        cached = [(await run(engine, replace(JOB, tenant=t)))[1].usage.cached_tokens for t in ("a", "b", "", "a", "b")]
    assert cached[:3] == [0, 0, 0]
    assert min(cached[3:]) >= 144


async def test_a_full_cache_gives_up_what_was_unused_for_longest():
    prompts = [tuple((token + i) % 251 for token in PROMPT) for i in range(12)]
    async with engine_over(may_be_alone=False, num_slots=1, context_tokens=512) as engine:
        for prompt in prompts:
            await run(engine, Job(prompt, 4))
            _, again = await run(engine, Job(prompt, 4))
            assert again.usage.cached_tokens == 144
        _, oldest = await run(engine, Job(prompts[0], 4))
        stats = engine.stats()
    assert oldest.usage.cached_tokens < 144
    assert stats.evictions
    assert 0 < stats.held_tokens <= 1024


async def test_who_is_alone_keeps_a_few_prompts_and_gives_up_the_oldest():
    prompts = [tuple((token + i) % 251 for token in PROMPT) for i in range(3)]
    async with engine_over(num_slots=2) as engine:
        for prompt in prompts:
            await run(engine, Job(prompt, 4))
        cached = [(await run(engine, Job(prompt, 4)))[1].usage.cached_tokens for prompt in reversed(prompts)]
        assert cached == [149, 149, 0]
        assert engine.stats().evictions == 2


@pytest.mark.parametrize("alone", [True, False])
async def test_an_engine_that_fails_again_and_again_is_lost(alone):
    async with engine_over(may_be_alone=alone) as engine:
        gate = Gate(tiny_model(FAMILY, 1024).model)
        try:
            gate.fails = True
            with pytest.raises(EngineFailed) as first:
                await run(engine, JOB)
            with pytest.raises(EngineLost):
                await run(engine, JOB)
            gate.fails = False
            text, _ = await run(engine, JOB)
        finally:
            gate.remove()
    assert not isinstance(first.value, EngineLost)
    assert text == text_of(FAMILY, generated(FAMILY))


async def test_all_whom_a_failure_takes_are_told():
    async with engine_over(may_be_alone=False, num_slots=3) as engine:
        gate = Gate(tiny_model(FAMILY, 1024).model)
        try:
            gate.pause(2)
            jobs = [asyncio.create_task(run(engine, JOB)) for _ in range(3)]
            while engine.stats().busy < 3:
                await asyncio.sleep(0)
            gate.fails = True
            gate.go_on()
            outcomes = await asyncio.gather(*jobs, return_exceptions=True)
        finally:
            gate.remove()
    assert all(isinstance(outcome, EngineFailed) for outcome in outcomes)


async def test_a_model_is_loaded_from_a_folder(tmp_path):
    from transformers import PreTrainedTokenizerFast

    loaded = tiny_model(FAMILY)
    loaded.model.save_pretrained(tmp_path)
    PreTrainedTokenizerFast(tokenizer_object=tiny_tokenizer(QWEN)).save_pretrained(tmp_path)
    engine = TransformersEngine.load(str(tmp_path), model="m", context_tokens=4096, num_slots=1, threads=1)
    try:
        assert engine.context_tokens == 2048  # what the model was made for
        assert detect_family(engine.tokenizer) is QWEN
        assert (await run(engine, JOB))[0] == text_of(FAMILY, generated(FAMILY))
    finally:
        await engine.close()


def test_a_folder_that_is_no_model_is_refused_with_its_name(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(bytes(100))
    with pytest.raises(EngineFailed, match=tmp_path.name):
        TransformersEngine.load(str(tmp_path), model="m", context_tokens=512, num_slots=1, threads=1)


def test_a_cache_that_does_not_fit_into_memory_is_refused_with_a_way_out():
    with pytest.raises(EngineFailed, match="context_tokens"):
        TransformersEngine.over(tiny_model(FAMILY, 1024), model="m", num_slots=10_000_000)


@pytest.mark.parametrize("family", ARCHITECTURES)
def test_a_marker_in_a_text_is_text_and_as_a_marker_one_token(family):
    tokenizer = HubTokenizer(tiny_tokenizer(FAMILIES[family]))
    assert detect_family(tokenizer) is FAMILIES[family]
    middle = FAMILIES[family].middle
    prompt = Template(FAMILIES[family], tokenizer).render(request(f"x = '{middle}'", ""), 500)
    assert [token == tokenizer.marker(middle) for token in prompt.tokens].count(True) == 1
    assert tokenizer.marker("x") is None


def test_a_character_split_over_tokens_comes_whole_and_markers_have_no_text():
    tokenizer = HubTokenizer(tiny_tokenizer(QWEN))
    tokens = [*tokenizer.encode("a🦜b"), tokenizer.marker(QWEN.middle) or 0, *tokenizer.encode("c")]
    reader = tokenizer.reader()
    assert [reader.read(token) for token in tokens] == ["a", "", "", "", "🦜", "b", "", "c"]
