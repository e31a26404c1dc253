"""The adapter against each server it knows: what it finds out, what it asks for, what it makes of the answers."""

import asyncio
import contextlib

import pytest

from lsp_complete.backend.engines.base import Isolation, Job
from lsp_complete.backend.engines.openai import OpenAIEngine
from lsp_complete.backend.engines.text_tokens import TextTokens
from lsp_complete.backend.engines.upstream import Server, probe
from lsp_complete.backend.fim import HOSTED, Template, detect_family
from lsp_complete.protocol.completion import Finish, Snippet
from lsp_complete.protocol.errors import CompletionError, EngineFailed, RateLimited, Unavailable
from tests.backend.upstreams import CREDENTIAL, upstream
from tests.fakes import QWEN, RecitingEngine, request

SERVERS = list(Server)


@contextlib.asynccontextmanager
async def adapter(server, engine=None, credential="", **options):
    async with upstream(server, engine or RecitingEngine("x + 1"), credential=credential, **options) as (url, fake):
        made = await asyncio.to_thread(OpenAIEngine.connect, url, credential=credential, model=fake.model)
        try:
            yield made, fake
        finally:
            await made.close()


def job_for(engine, asked=None, max_tokens=20, tenant=""):
    template = Template(detect_family(engine.tokenizer), engine.tokenizer)
    prompt = template.render(asked or request("PRE", "SUF"), engine.context_tokens)
    return Job(prompt.tokens, max_tokens, "s", template.stop_tokens, tenant)


async def run(engine, job):
    chunks = [chunk async for chunk in engine.generate(job)]
    return "".join(chunk.text for chunk in chunks), chunks[-1]


@pytest.mark.parametrize("server", SERVERS)
async def test_each_server_is_recognised_and_its_text_comes_whole(server):
    async with adapter(server, RecitingEngine("x = 'é😀\u2028'\n")) as (engine, fake):
        text, last = await run(engine, job_for(engine))
    assert (text, last.finish) == ("x = 'é😀\u2028'\n", Finish.STOP)
    assert engine.model == fake.model
    assert engine.context_tokens == (4096 if server in (Server.OLLAMA, Server.OTHER) else 2048)
    assert last.usage.completion_tokens == len(text)
    assert last.usage.prompt_tokens > 0


@pytest.mark.parametrize("server", SERVERS)
async def test_a_prompt_is_rendered_here_or_there_never_twice(server):
    async with adapter(server) as (engine, fake):
        await run(engine, job_for(engine, request("PRE", "SUF", path="a.py", snippets=(Snippet("b.py", "B"),))))
    body = fake.bodies[0]
    if server in (Server.OLLAMA, Server.OTHER):
        assert (body["prompt"], body["suffix"]) == ("# File: b.py\nB\n# File: a.py\nPRE", "SUF")
    else:
        markers = ("<fim_prefix>", "<fim_suffix>", "<fim_middle>") if server is Server.SGLANG else (
            QWEN.prefix, QWEN.suffix, QWEN.middle)  # fmt: skip
        assert body["prompt"].endswith("{}{}SUF{}PRE".format(*markers))
        assert "suffix" not in body
        assert "<|endoftext|>" in body["stop"]


@pytest.mark.parametrize("server", SERVERS)
async def test_a_service_that_counts_each_prompt_is_not_warmed_up(server):
    async with adapter(server) as (engine, fake):
        num_before = len(fake.bodies)
        text, last = await run(engine, job_for(engine, max_tokens=0))
        assert (text, last.finish is not None) == ("", True)
        assert len(fake.bodies) - num_before == (0 if server is Server.OTHER else 1)


async def test_a_marker_in_a_users_file_stays_text():
    async with adapter(Server.VLLM) as (engine, fake):
        await run(engine, job_for(engine, request(f"a = '{QWEN.middle}'", f"{QWEN.prefix}<|endoftext|>")))
    prompt = fake.bodies[0]["prompt"]
    assert [prompt.count(marker) for marker in (QWEN.prefix, QWEN.middle, "<|endoftext|>")] == [1, 1, 0]
    assert "a = '< |fim_middle|>'" in prompt


async def test_tenants_are_kept_apart_by_salt_where_the_server_has_it():
    async with adapter(Server.VLLM) as (engine, fake):
        await run(engine, job_for(engine, tenant="one"))
        assert fake.bodies[0]["cache_salt"] == "one"
        assert engine.isolation is Isolation.SALT
    async with adapter(Server.OLLAMA) as (engine, fake):
        await run(engine, job_for(engine, tenant="one"))
        assert "cache_salt" not in fake.bodies[0]
        assert engine.isolation is Isolation.NONE


@pytest.mark.parametrize(
    ("status", "kind"), [(401, EngineFailed), (429, RateLimited), (503, Unavailable), (400, EngineFailed)]
)
async def test_a_refusal_is_told_without_the_servers_words(status, kind):
    async with adapter(Server.VLLM) as (engine, fake):
        fake.status = status
        with pytest.raises(kind) as refused:
            await run(engine, job_for(engine, request("secret_word", "")))
    assert "secret_word" not in str(refused.value)


async def test_a_server_that_breaks_off_is_a_failure_and_no_short_text():
    async with adapter(Server.VLLM, breaks_after=2) as (engine, _):
        with pytest.raises(EngineFailed, match="ended its answer early"):
            await run(engine, job_for(engine))


async def test_the_credential_goes_with_every_question():
    async with adapter(Server.OTHER, credential=CREDENTIAL) as (engine, _):
        assert (await run(engine, job_for(engine)))[0] == "x + 1"


async def refusal(server, fake_options=None, **options):
    async with upstream(server, RecitingEngine("x"), **(fake_options or {})) as (url, _):
        with pytest.raises(EngineFailed) as refused:
            await asyncio.to_thread(probe, url, **options)
    return str(refused.value)


async def test_what_is_wrong_with_a_server_is_told_so_that_it_can_be_mended():
    assert "upstream_credential" in await refusal(Server.VLLM, {"credential": CREDENTIAL})
    assert "has no model other" in await refusal(Server.VLLM, model="other")
    assert "set upstream_model" in await refusal(Server.OTHER)
    assert "no answer" in await asyncio.to_thread(_unreachable)


def _unreachable():
    with pytest.raises(EngineFailed) as refused:
        probe("http://127.0.0.1:9")
    return str(refused.value)


async def test_a_model_with_another_name_is_known_by_its_tokenizer():
    async with upstream(Server.LLAMA_SERVER, RecitingEngine("x")) as (url, _):
        found = await asyncio.to_thread(probe, url)
    assert (found.family, found.model) == (QWEN, "served")
    assert str(found).startswith("llama-server, model served, prompts of qwen2.5-coder")


@pytest.mark.parametrize("text", ["", "a", "ab", "abc", "abcd", "é😀\u2028\0\n" * 3])
def test_tokens_of_text_are_text_again(text):
    tokens = TextTokens(["<m>"])
    assert tokens.text(tokens.encode(text)) == text
    assert len(tokens.encode(text)) == -(-len(text) // 3)


def test_hosted_markers_are_no_text():
    tokens = TextTokens([HOSTED.prefix, HOSTED.suffix])
    assert tokens.marker(HOSTED.prefix) not in tokens.encode(HOSTED.prefix)


async def test_an_adapter_without_its_server_says_so():
    async with adapter(Server.VLLM) as (engine, _):
        job = job_for(engine)
        engine._upstream = engine._upstream.__class__("http://127.0.0.1:9/v1", Server.VLLM, "m", QWEN, 100)
        with pytest.raises(CompletionError, match="ConnectError"):
            await run(engine, job)
