"""What the service adds to its engine, beside llama.cpp's own HTTP server; and what a warm prompt is worth.

All three, the service, its engine called in process, and llama.cpp's server, have the same file, threads, slots and
prompts, in turns within one run. Of a prompt all but the last token is cached, in each alike.
"""

import asyncio
import contextlib
import http.client
import json
import time
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from bench._models import embedded_path
from bench._serve_scene import FAMILY, Scene, answer, code, question, scene
from lsp_complete.backend.engines.base import Job
from lsp_complete.backend.engines.cores import num_cores
from lsp_complete.backend.fim import Template
from lsp_complete.protocol.completion import CompletionRequest

NUM_SLOTS, _CONTEXT_TOKENS = 2, 2048
# A request for one token: more of them would hide what is added in the noise of the model's own time.
_OVERHEAD_ROUNDS, _OVERHEAD_QUICK = 40, 5
_TOKENS, _ROUNDS, _QUICK = 32, 9, 2
# About 400 tokens, whose rendering is a part of what is added; and what is short enough to be computed soon.
_NUM_FUNCTIONS, _FEW_FUNCTIONS = 24, 8
_PROMPT_TOKENS, _COLD_ROUNDS = 1000, 3


@dataclass(frozen=True, slots=True)
class Speed:
    """`added_to_own_ms`: against llama.cpp's server. Ratios by how many requests run at once."""

    overhead_p50_ms: float
    added_to_own_ms: float
    throughput: dict[int, float]

    @property
    def throughput_ratio(self) -> float:
        """With all slots at work."""
        return self.throughput[NUM_SLOTS]


class OwnServer:
    """llama.cpp's HTTP server, as it is but for threads, slots and context."""

    def __init__(self) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(embedded_path())
        params.n_ctx, params.n_parallel = _CONTEXT_TOKENS * NUM_SLOTS, NUM_SLOTS
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = num_cores()
        params.cache_ram_mib, params.verbosity, params.ui = 0, 0, False
        self._server = xllamacpp.Server(params)
        self._host = urlsplit(self._server.listening_address).netloc

    def complete(self, tokens: list[int], num_tokens: int) -> int:
        """The number of tokens that came. Blocks."""
        body = {"prompt": tokens, "max_tokens": num_tokens, "temperature": 0, "stream": True, "ignore_eos": True}
        connection = http.client.HTTPConnection(self._host)
        with contextlib.closing(connection):
            connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
            lines = [line for line in connection.getresponse() if line.startswith(b"data: {")]
        last: dict[str, Any] = json.loads(lines[-1].removeprefix(b"data: "))
        return int(last["usage"]["completion_tokens"])


@dataclass(frozen=True, slots=True)
class _Rivals:
    ours: Scene
    own: OwnServer
    template: Template

    def tokens(self, request: CompletionRequest) -> list[int]:
        return self.template.render(request, _CONTEXT_TOKENS - request.max_tokens).tokens

    async def by_service(self, request: CompletionRequest) -> int:
        return (await answer(self.ours.completer, request)).num_tokens

    async def by_engine(self, tokens: list[int], num_tokens: int) -> None:
        async with contextlib.aclosing(self.ours.engine.generate(Job(tokens, num_tokens))) as chunks:
            async for _ in chunks:
                pass

    async def by_own(self, tokens: list[int], num_tokens: int) -> int:
        return await asyncio.to_thread(self.own.complete, tokens, num_tokens)


async def speed(*, is_quick: bool) -> Speed:
    async with _rivals() as rivals:
        to_engine, to_own = await _overhead(rivals, _OVERHEAD_QUICK if is_quick else _OVERHEAD_ROUNDS)
        num_rounds = _QUICK if is_quick else _ROUNDS
        ratios = {num: await _throughput(rivals, num, num_rounds) for num in range(1, NUM_SLOTS + 1)}
    return Speed(round(to_engine, 2), round(to_own, 2), ratios)


@contextlib.asynccontextmanager
async def _rivals() -> AsyncGenerator[_Rivals, None]:
    async with scene(NUM_SLOTS, _CONTEXT_TOKENS) as ours:
        own = await asyncio.to_thread(OwnServer)
        yield _Rivals(ours, own, await asyncio.to_thread(Template, FAMILY, ours.engine.tokenizer))


async def _overhead(rivals: _Rivals, num_rounds: int) -> tuple[float, float]:
    """What a request for one token takes more than the engine, and than llama.cpp's server. Each text is a word longer
    than the one before it in the same cache, which is one token: none is remembered, and one token is computed."""
    engine_ms, service_ms, own_ms = [], [], []
    for number in range(num_rounds + 1):
        tokens = await asyncio.to_thread(rivals.tokens, _words(2 * number))
        engine_ms.append(await _timed(rivals.by_engine(tokens, 1)))
        service_ms.append(await _timed(rivals.by_service(_words(2 * number + 1))))
        tokens = await asyncio.to_thread(rivals.tokens, _words(number))
        own_ms.append(await _timed(rivals.by_own(tokens, 1)))
    engine, service, own = (median(took[1:]) for took in (engine_ms, service_ms, own_ms))  # the first was cold
    return service - engine, service - own


def _words(number: int) -> CompletionRequest:
    return question(code("step", _NUM_FUNCTIONS) + "x =" + " value" * number, max_tokens=1)


async def _throughput(rivals: _Rivals, num_at_once: int, num_rounds: int) -> float:
    """Our tokens a second by theirs. As many tokens of the same prompts on both sides: those that ours has written."""
    asked = [question(code(f"part{i}", _FEW_FUNCTIONS) + "def ", max_tokens=_TOKENS) for i in range(num_at_once)]
    prompts = [await asyncio.to_thread(rivals.tokens, request) for request in asked]
    counts = [await rivals.by_service(request) for request in asked]
    for tokens, count in zip(prompts, counts, strict=True):
        assert await rivals.by_own(tokens, count) == count
    ours_ms, theirs_ms = [], []
    for _ in range(num_rounds):
        ours_ms.append(await _timed(asyncio.gather(*(rivals.by_service(request) for request in asked))))
        theirs = (rivals.by_own(tokens, count) for tokens, count in zip(prompts, counts, strict=True))
        theirs_ms.append(await _timed(asyncio.gather(*theirs)))
    return round(median(theirs_ms) / median(ours_ms), 3)


async def _timed(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return (time.perf_counter() - started) * 1000


@dataclass(frozen=True, slots=True)
class Warmth:
    """Milliseconds to the first text, medians. `num_computed`: of the warm prompt, tokens that were not cached."""

    cold_ms: float
    warm_ms: float
    prompt_tokens: int
    num_computed: int

    @property
    def cold_over_warm(self) -> float:
        return round(self.cold_ms / self.warm_ms, 1)


async def warmth(*, is_quick: bool) -> Warmth:
    """A prompt of a thousand tokens that was never seen, then the same with a letter typed."""
    cold, warm = [], []
    async with scene(NUM_SLOTS, _CONTEXT_TOKENS) as served:
        for number in range(1 if is_quick else _COLD_ROUNDS):
            prefix = code("step", _PROMPT_TOKENS // 16) + "def total(values):\n    r"
            suffix = f"\n\n\n# part {number}\n"
            cold.append(await answer(served.completer, question(prefix, suffix, max_tokens=8)))
            warm.append(await answer(served.completer, question(prefix + "e", suffix, max_tokens=8)))
    prompt_tokens = cold[-1].finish.usage.prompt_tokens if cold[-1].finish else 0
    cold_ms, warm_ms = (round(median(one.first_ms for one in answers), 1) for answers in (cold, warm))
    return Warmth(cold_ms, warm_ms, prompt_tokens, int(median(one.num_computed for one in warm)))
