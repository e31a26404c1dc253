"""What every engine does, whatever runs behind it. An engine that is added gets a `Case` here and passes the same.

`pause` holds the model before its next step, where a test has that in hand; a real model is caught in the act instead.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from lsp_complete.backend.engines.base import Engine, EngineChunk, Isolation, Job
from lsp_complete.backend.engines.llamacpp import LlamaCppEngine
from lsp_complete.backend.engines.openai import OpenAIEngine
from lsp_complete.backend.engines.transformers import TransformersEngine
from lsp_complete.backend.engines.transformers_batches import PAGE_TOKENS
from lsp_complete.backend.engines.upstream import Server
from lsp_complete.backend.fim import Template, detect_family
from lsp_complete.backend.metrics import Metrics
from lsp_complete.backend.service import CompletionService
from lsp_complete.protocol.completion import Finish, FinishChunk
from lsp_complete.protocol.errors import DeadlinePassed, EngineFailed
from tests.backend.tiny_models import Gate, tiny_model
from tests.backend.upstreams import upstream
from tests.fakes import STOP_TOKEN, RecitingEngine, request

FIBONACCI = "def fibonacci(n):\n    if n < 2:\n        return n\n    return "
FACTORIAL = "def factorial(n):\n    if n == 0:\n        return 1\n    return "
LONG = "".join(f"value_{i} = compute({i}, {i + 1})\n" for i in range(12)) + FIBONACCI
# Only a test that fails waits so long.
PATIENCE_S = 60


@dataclass(slots=True)
class Case:
    """An engine, how many steps its model has begun, and what recites behind it, or holds its model: None for a real
    one. Prompts are kept by pages of `page_tokens`."""

    engine: Engine
    steps: Callable[[], int]
    num_busy: Callable[[], int]
    reciting: RecitingEngine | None = None
    gate: Gate | None = None
    page_tokens: int = 1

    def job(self, prefix: str = FIBONACCI, max_tokens: int = 8, tenant: str = "") -> Job:
        template = Template(detect_family(self.engine.tokenizer), self.engine.tokenizer)
        prompt = template.render(request(prefix, "\n\nprint(1)\n"), self.engine.context_tokens - max_tokens)
        return Job(prompt.tokens, max_tokens, "s", template.stop_tokens, tenant)

    def pause(self, num_steps: int = 0) -> None:
        if self.reciting is not None:
            self.reciting.gate = asyncio.Semaphore(num_steps)
        if self.gate is not None:
            self.gate.pause(num_steps)

    def go_on(self) -> None:
        if self.reciting is not None and self.reciting.gate is not None:
            for _ in range(1000):
                self.reciting.gate.release()
            self.reciting.gate = None
        if self.gate is not None:
            self.gate.go_on()

    def fail(self, fails: bool) -> None:
        if self.reciting is not None:
            self.reciting.fails_after = self.steps() + 2 if fails else None
        if self.gate is not None:
            self.gate.fails = fails

    async def idle(self) -> None:
        """A step that has begun on a thread is finished."""
        async with asyncio.timeout(PATIENCE_S):
            while self.num_busy():
                if self.gate is not None:
                    self.gate.finish_steps()
                await asyncio.sleep(0)


def recited(job: Job) -> str:
    """Another text for another prompt, as a model has it."""
    return f"call_{len(job.prompt)}(n){STOP_TOKEN}junk"


@contextlib.asynccontextmanager
async def reciting_case(_: Any) -> AsyncGenerator[Case, None]:
    engine = RecitingEngine(recited)
    yield Case(engine, lambda: engine.stats().steps, lambda: engine.num_open, engine)


def openai_case(server: Server) -> Any:
    @contextlib.asynccontextmanager
    async def case(_: Any) -> AsyncGenerator[Case, None]:
        behind = RecitingEngine(recited)
        async with upstream(server, behind) as (url, fake):
            engine = await asyncio.to_thread(OpenAIEngine.connect, url, model=fake.model)
            try:
                yield Case(engine, lambda: behind.stats().steps, lambda: behind.num_open, behind)
            finally:
                await engine.close()

    return case


@pytest.fixture(scope="module")
def loaded(model_path):
    return LlamaCppEngine.load(model_path, model="q", context_tokens=1024, num_slots=2, threads=0)


@pytest.fixture(scope="module")
def llama_server(model_path):
    """The address of a real llama-server: the one that xllamacpp opens."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.n_ctx, params.n_parallel, params.verbosity = str(model_path), 2048, 2, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    server = xllamacpp.Server(params)
    yield server.listening_address
    del server


@contextlib.asynccontextmanager
async def llamacpp_case(fixture: Any) -> AsyncGenerator[Case, None]:
    """The engine of the module, fitted to the loop of the test, with cold slots."""
    engine = fixture("loaded")
    engine._freed = asyncio.Event()
    for slot in engine._slots:
        slot.tokens, slot.is_foreign = (), True
    yield Case(engine, lambda: engine.stats().steps, lambda: engine.stats().busy)


@pytest.fixture(scope="module")
def tiny_engines():
    """By whether who is alone is served alone. To close one takes a moment, so they last."""
    made = {a: TransformersEngine.over(tiny_model(), model="tiny", num_slots=2, may_be_alone=a) for a in (True, False)}
    yield made
    for engine in made.values():
        asyncio.run(engine.close())


def transformers_case(*, may_be_alone: bool) -> Any:
    @contextlib.asynccontextmanager
    async def case(fixture: Any) -> AsyncGenerator[Case, None]:
        engine = fixture("tiny_engines")[may_be_alone]
        engine._slots = asyncio.Semaphore(engine.num_slots)
        engine._batches._starting = asyncio.Lock()
        gate, page = Gate(tiny_model().model), 1 if may_be_alone else PAGE_TOKENS
        try:
            yield Case(engine, lambda: gate.steps, lambda: engine.stats().busy, gate=gate, page_tokens=page)
        finally:
            gate.remove()

    return case


@contextlib.asynccontextmanager
async def llama_server_case(fixture: Any) -> AsyncGenerator[Case, None]:
    engine = await asyncio.to_thread(OpenAIEngine.connect, fixture("llama_server"))
    try:
        yield Case(engine, lambda: engine.stats().steps, lambda: engine.stats().busy)
    finally:
        await engine.close()


CASES = {
    "reciting": reciting_case,
    **{f"openai-{server.name.lower()}": openai_case(server) for server in Server},
    "transformers-alone": transformers_case(may_be_alone=True),
    "transformers-batches": transformers_case(may_be_alone=False),
    "llamacpp": llamacpp_case,
    "openai-real-llama-server": llama_server_case,
}
REAL = {"llamacpp", "openai-real-llama-server"}


@pytest.fixture(params=[pytest.param(n, marks=[pytest.mark.model] if n in REAL else []) for n in CASES])
async def case(request):
    async with CASES[request.param](request.getfixturevalue) as made:
        yield made


async def run(case: Case, job: Job) -> tuple[str, EngineChunk]:
    async with asyncio.timeout(PATIENCE_S):
        chunks = [chunk async for chunk in case.engine.generate(job)]
    assert [chunk.finish for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1].finish is not None
    return "".join(chunk.text for chunk in chunks), chunks[-1]


async def test_text_comes_in_steps_and_says_last_what_it_took(case):
    text, last = await run(case, case.job())
    assert text.strip()
    assert (last.text, last.usage.completion_tokens) == ("", 8)
    assert last.finish is Finish.LENGTH
    assert last.usage.prompt_tokens > last.usage.cached_tokens
    assert last.timing_ms.prefill >= 0


async def test_the_size_of_the_prompt_is_known_before_the_first_step(case):
    job, steps = case.job(), case.steps()
    case.pause()
    async with contextlib.aclosing(case.engine.generate(job)) as chunks:
        first = await anext(chunks)
        assert case.steps() == steps
    case.go_on()
    assert (first.text, first.usage.prompt_tokens) == ("", len(job.prompt))


async def test_a_stop_token_ends_the_text_and_is_not_in_it(case):
    text, last = await run(case, case.job(max_tokens=60))
    assert last.finish is Finish.STOP or case.reciting is None
    assert STOP_TOKEN not in text
    assert "junk" not in text
    assert "<|" not in text


async def test_no_tokens_wanted_is_no_text_and_a_warm_cache(case):
    text, _ = await run(case, case.job(max_tokens=0))
    assert text == ""
    _, warm = await run(case, case.job())
    assert warm.usage.prompt_tokens > 0
    if can_tell_reuse(case):
        assert warm.usage.cached_tokens >= warm.usage.prompt_tokens - 1 - case.page_tokens


async def test_reuse_changes_the_work_and_not_the_text(case):
    cold, _ = await run(case, case.job(tenant="cold"))
    warm, last = await run(case, case.job(tenant="cold"))
    assert warm == cold
    if can_tell_reuse(case):
        assert last.usage.cached_tokens >= 0.8 * last.usage.prompt_tokens


def can_tell_reuse(case: Case) -> bool:
    upstream = getattr(case.engine, "_upstream", None)
    return upstream is None or upstream.server in (Server.VLLM, Server.SGLANG, Server.LLAMA_SERVER)


async def test_sessions_at_once_get_their_own_text(case):
    jobs = [case.job(FIBONACCI), replace(case.job(FACTORIAL), session_id="t")]
    alone = [(await run(case, job))[0] for job in jobs]
    together = [text for text, _ in await asyncio.gather(*(run(case, job) for job in jobs))]
    assert together == alone


async def test_nothing_computed_for_one_tenant_is_used_for_another(case):
    if case.engine.isolation is Isolation.NONE:
        pytest.skip("this server keeps no tenants apart, and says so")
    one, _ = await run(case, case.job(tenant="one"))
    two, last = await run(case, case.job(tenant="two"))
    assert (two, last.usage.cached_tokens) == (one, 0)


@pytest.mark.parametrize("num_steps", [0, 1, 3])
async def test_closing_stops_the_model_before_its_next_step_and_frees_its_place(case, num_steps):
    case.pause(num_steps)
    before = case.steps()
    task = asyncio.create_task(run(case, case.job(LONG, 60)))
    async with asyncio.timeout(PATIENCE_S):
        while case.steps() < before + num_steps or not case.num_busy():
            await asyncio.sleep(0)
    seen = case.steps()
    task.cancel()
    await asyncio.wait([task])
    await case.idle()
    assert case.steps() <= seen + 1
    case.go_on()
    await asyncio.gather(*(run(case, case.job(tenant=str(i))) for i in range(case.engine.num_slots)))


async def test_who_leaves_while_waiting_for_a_place_leaves_nothing_behind(case):
    case.pause()
    tasks = [asyncio.create_task(run(case, case.job(LONG, 20))) for _ in range(case.engine.num_slots + 1)]
    async with asyncio.timeout(PATIENCE_S):
        while case.num_busy() < 1:
            await asyncio.sleep(0)
    for task in reversed(tasks):
        task.cancel()
    await asyncio.wait(tasks)
    await case.idle()
    case.go_on()
    assert (await run(case, case.job()))[0]


async def test_a_failure_is_told_as_one_and_frees_its_place(case):
    if case.reciting is None and case.gate is None:
        pytest.skip("a real model is not made to fail")
    case.fail(True)
    for _ in range(case.engine.num_slots + 1):
        with pytest.raises(EngineFailed):
            await run(case, case.job())
    case.fail(False)
    assert (await run(case, case.job()))[0]
    await case.idle()


async def test_no_answer_comes_behind_the_deadline(case):
    service = CompletionService(case.engine, detect_family(case.engine.tokenizer), 4, Metrics())
    case.pause(1)
    asked = request(LONG, "\n", deadline_ms=100, max_tokens=200)
    started = asyncio.get_running_loop().time()
    with contextlib.suppress(DeadlinePassed):
        *_, last = [chunk async for chunk in service.complete(asked)]
        assert isinstance(last, FinishChunk)
        assert last.finish is Finish.DEADLINE
    if case.reciting is not None:
        assert asyncio.get_running_loop().time() - started < 5
    case.go_on()
    await case.idle()
