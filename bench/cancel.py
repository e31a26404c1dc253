"""How soon does a cancelled request stop the model, and is anything lost on the way?

The real service on a real port with the real engine, the real client, one connection. Requests are cancelled at random
points: before the headers are out, in the queue, in the prefill, between tokens, at the end; first one by one, then
16 at a time. The times are those of the requests alone: from the client's cancel until the engine is idle, on one
clock. A token counts as generated after the cancel if its step began after it; the step then in progress is finished,
as no engine can leave a step half done.
"""

import argparse
import asyncio
import contextlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass, field, replace

from starlette.types import ASGIApp, Receive, Scope, Send

from bench._models import embedded_engine
from lsp_complete.backend.app import Backend, create_app
from lsp_complete.backend.engines.base import Engine
from lsp_complete.backend.fim import FAMILIES, Family
from lsp_complete.backend.serve import listening
from lsp_complete.backend.service import CompletionService
from lsp_complete.backend.sessions import Sessions
from lsp_complete.client.completer import HttpCompleter
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import CompletionRequest, FinishChunk, Mode, TextChunk, Trigger
from lsp_complete.protocol.errors import CompletionError

NUM_AT_ONCE = 16
_CREDENTIAL = "bench"
_POLL_S = 0.0005
# An engine that has been idle for so long after a cancel will not hear of the request any more: a request that was
# under way when it was cancelled arrives within a millisecond or two over loopback.
_QUIET_S = 0.03
_CODE = "".join(f"def step_{i}(value):\n    return value + {i}\n\n\n" for i in range(12))


@dataclass(frozen=True, slots=True)
class Result:
    """`cached_share` is that of the request behind the last cancel; `errors` are answers that failed uncancelled."""

    cancels: int
    connections: int
    p50_ms: float
    p99_ms: float
    tokens_after_cancel_max: int
    leaked_streams: int
    errors: dict[str, int]
    next_is_right: bool
    cached_share: float
    stages: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Bench:
    """A service being served, a client of it, and what is seen from both ends."""

    engine: Engine
    service: CompletionService
    completer: HttpCompleter
    peers: set[tuple[str, int]]
    random: random.Random
    latest_s: float
    delays_ms: list[float] = field(default_factory=list)
    steps_after: list[int] = field(default_factory=list)
    stages: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)

    async def answer(self, request: CompletionRequest) -> tuple[str, FinishChunk | None]:
        text, last = "", None
        async with contextlib.aclosing(self.completer.complete(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    text += chunk.text
                else:
                    last = chunk
        return text, last

    async def cancel_one(self, number: int) -> tuple[float, int] | None:
        """Start a request and cancel it at a random point: when that was, and how many steps the engine had begun.
        None if the request had ended by itself."""
        request, progress = _request(number), Counter[str]()
        task = asyncio.create_task(self._follow(request, progress))
        await self._until_random_point(task, progress)
        is_over, moment = task.done(), (time.perf_counter(), self.engine.stats().steps)
        task.cancel()
        self.stages[self._stage(is_over, progress)] += 1
        results = await asyncio.gather(task, return_exceptions=True)
        if isinstance(results[0], CompletionError):
            self.errors[str(results[0])] += 1
        return None if is_over else moment

    async def note(self, moment: tuple[float, int] | None) -> None:
        if moment is not None:
            when, num_steps = moment
            self.delays_ms.append(max(0.0, (await self.idle() - when) * 1000))
            self.steps_after.append(self.engine.stats().steps - num_steps)

    async def idle(self) -> float:
        """When the engine last worked, once it has been quiet for long enough."""
        last = time.perf_counter()
        while time.perf_counter() - last < _QUIET_S:
            if self.engine.stats().busy or self.service.admission.num_running:
                last = time.perf_counter()
            await asyncio.sleep(_POLL_S)
        return last

    def _stage(self, is_over: bool, progress: Counter[str]) -> str:
        if is_over:
            return "at the end"
        if progress["texts"]:
            return "between tokens"
        return "in the queue" if self.service.admission.num_waiting else "before the first token"

    async def _follow(self, request: CompletionRequest, progress: Counter[str]) -> None:
        async with contextlib.aclosing(self.completer.complete(request)) as chunks:
            async for chunk in chunks:
                progress["texts"] += isinstance(chunk, TextChunk)

    async def _until_random_point(self, task: asyncio.Task[None], progress: Counter[str]) -> None:
        kind = self.random.choice(("headers", "early", "anywhere", "anywhere", "tokens", "end"))
        if kind == "headers":
            await asyncio.sleep(0)
        elif kind == "early":
            await asyncio.sleep(self.random.uniform(0, 0.02))
        elif kind == "anywhere":
            await asyncio.wait([task], timeout=self.random.uniform(0, self.latest_s))
        elif kind == "tokens":
            wanted = self.random.randint(1, 4)
            while progress["texts"] < wanted and not task.done():  # noqa: ASYNC110
                await asyncio.sleep(_POLL_S)
        else:
            await asyncio.wait([task])


async def measure(engine: Engine, family: Family, num_cancels: int, *, seed: int = 7, latest_s: float = 0.8) -> Result:
    """Cancel `num_cancels` requests, half of them one by one. `latest_s`: how long a request may run before it."""
    async with _bench(engine, family, random.Random(seed), latest_s) as bench:
        reference = _request(0)
        expected, _ = await bench.answer(reference)
        for number in range(num_cancels // 2):
            await bench.note(await bench.cancel_one(number))
        for first in range(num_cancels // 2, num_cancels, NUM_AT_ONCE):
            count = min(NUM_AT_ONCE, num_cancels - first)
            await asyncio.gather(*(bench.cancel_one(first + i) for i in range(count)))
        await bench.idle()
        await bench.answer(reference)
        text, last = await bench.answer(replace(reference, request_id="next"))
        return _result(bench, num_cancels, text == expected, last)


@contextlib.asynccontextmanager
async def _bench(engine: Engine, family: Family, rng: random.Random, latest_s: float) -> AsyncGenerator[Bench, None]:
    backend = Backend(_CREDENTIAL, 1_000_000, Sessions(1e9, 0))
    backend.service = CompletionService(engine, family, NUM_AT_ONCE, backend.metrics)
    peers: set[tuple[str, int]] = set()
    async with listening(_noting_peers(create_app(backend), peers), Settings(), 0) as url:
        completer = HttpCompleter(url, _CREDENTIAL)
        try:
            yield Bench(engine, backend.service, completer, peers, rng, latest_s)
        finally:
            await completer.aclose()


def _noting_peers(app: ASGIApp, peers: set[tuple[str, int]]) -> ASGIApp:
    """Notes the other end of every connection that carries a request."""

    async def noting(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            peers.add(tuple(scope["client"]))
        await app(scope, receive, send)

    return noting


def _request(number: int) -> CompletionRequest:
    """The same code with a word typed at its end, as consecutive keystrokes have it; every fifth in another file."""
    head = _CODE if number % 5 else _CODE.replace("step", "stage")
    return CompletionRequest(
        request_id=f"cancel-{number}", session_id=f"bench-{number}", suffix="\n",
        prefix=f"{head}def step_{12 + number % 3}(value):\n    ", mode=Mode.BLOCK, max_tokens=24,
        trigger=Trigger.INVOKED,  # so many at once are an overload, in which others are refused
    )  # fmt: skip


def _result(bench: Bench, num_cancels: int, is_right: bool, last: FinishChunk | None) -> Result:
    delays = sorted(bench.delays_ms) or [0.0]
    usage = last.usage if last else None
    admission = bench.service.admission
    return Result(
        cancels=num_cancels,
        connections=len(bench.peers),
        p50_ms=round(delays[len(delays) // 2], 2),
        p99_ms=round(delays[min(len(delays) - 1, len(delays) * 99 // 100)], 2),
        tokens_after_cancel_max=max(bench.steps_after, default=0),
        leaked_streams=admission.num_running + admission.num_waiting + bench.engine.stats().busy,
        errors=dict(bench.errors),
        next_is_right=is_right,
        cached_share=round(usage.cached_tokens / usage.prompt_tokens, 3) if usage and usage.prompt_tokens else 0.0,
        stages=dict(bench.stages),
    )


def run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench cancel", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--cancels", type=int, default=500)
    options = parser.parse_args(arguments)
    result = asyncio.run(_run(options.cancels))
    for name, value in asdict(result).items():
        print(f"{name.replace('_', ' '):26} {value}")
    if options.json:
        print(json.dumps(asdict(result)))
    is_clean = result.next_is_right and not result.errors and not result.leaked_streams
    sys.exit(0 if is_clean else 1)


async def _run(num_cancels: int) -> Result:
    engine = await asyncio.to_thread(embedded_engine)
    try:
        return await measure(engine, FAMILIES["qwen2.5-coder"], num_cancels)
    finally:
        await engine.close()
