"""What the parts of `python -m bench serve` share: a service being served, requests, and what came of one."""

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from bench._models import embedded_engine
from lsp_complete.backend.app import Backend, create_app
from lsp_complete.backend.engines.llamacpp import LlamaCppEngine
from lsp_complete.backend.fim import FAMILIES
from lsp_complete.backend.serve import listening
from lsp_complete.backend.service import CompletionService
from lsp_complete.backend.sessions import Sessions
from lsp_complete.client.completer import HttpCompleter
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import Completer, CompletionRequest, FinishChunk, Mode, TextChunk, Trigger
from lsp_complete.protocol.errors import CompletionError

FAMILY = FAMILIES["qwen2.5-coder"]
_CREDENTIAL = "bench"
# A client gives a silent service up after 20 s unless the request has longer, and a prompt can take a processor longer.
PATIENT_MS = 600_000


@dataclass(frozen=True, slots=True)
class Scene:
    """The embedded model, the service over it, and a client of that over loopback."""

    engine: LlamaCppEngine
    service: CompletionService
    completer: HttpCompleter


@dataclass(frozen=True, slots=True)
class Answered:
    """`error` is the type of a refusal or failure. Times are the client's, from its call."""

    text: str = ""
    finish: FinishChunk | None = None
    first_ms: float = 0.0
    total_ms: float = 0.0
    error: str = ""

    @property
    def num_computed(self) -> int:
        """Tokens of the prompt that were not in the prefix cache."""
        usage = self.finish.usage if self.finish else None
        return usage.prompt_tokens - usage.cached_tokens if usage else 0

    @property
    def num_tokens(self) -> int:
        return self.finish.usage.completion_tokens if self.finish else 0


@contextlib.asynccontextmanager
async def scene(num_slots: int = 2, context_tokens: int = 2048, queue_length: int = 0) -> AsyncGenerator[Scene, None]:
    engine = await asyncio.to_thread(embedded_engine, num_slots, context_tokens)
    backend = Backend(_CREDENTIAL, 1_000_000, Sessions(1e9, 0))
    backend.service = CompletionService(engine, FAMILY, queue_length or Settings().queue_length, backend.metrics)
    try:
        async with listening(create_app(backend), Settings(), 0) as url:
            completer = HttpCompleter(url, _CREDENTIAL)
            try:
                yield Scene(engine, backend.service, completer)
            finally:
                await completer.aclose()
    finally:
        await engine.close()


async def ask(completer: Completer, request: CompletionRequest) -> Answered:
    started, first_ms, text, finish, error = time.perf_counter(), 0.0, "", None, ""
    try:
        async with contextlib.aclosing(completer.complete(request)) as chunks:
            async for chunk in chunks:
                first_ms = first_ms or (time.perf_counter() - started) * 1000
                if isinstance(chunk, TextChunk):
                    text += chunk.text
                else:
                    finish = chunk
    except CompletionError as refused:
        error = refused.type
    return Answered(text, finish, first_ms, (time.perf_counter() - started) * 1000, error)


async def answer(completer: Completer, request: CompletionRequest) -> Answered:
    """As `ask`, where nothing is refused. Ends the program if something is."""
    answered = await ask(completer, request)
    if answered.finish is None:
        sys.exit(f"the service has not answered: {answered.error or 'no end'}")
    return answered


def code(name: str, num_functions: int) -> str:
    """Python, about 16 tokens a function."""
    return "".join(f"def {name}_{i}(value):\n    return value + {i}\n\n\n" for i in range(num_functions))


def question(
    prefix: str, suffix: str = "\n", *, max_tokens: int = 16, session: str = "", deadline_ms: int = PATIENT_MS
) -> CompletionRequest:
    """What a user asks by hand: nothing else of the service than its queue and its slots stands between. Without a
    session a newer question takes no older one's place."""
    return CompletionRequest(
        "bench", session, prefix, suffix, "bench.py", "python", mode=Mode.BLOCK, max_tokens=max_tokens,
        trigger=Trigger.INVOKED, deadline_ms=deadline_ms,
    )  # fmt: skip
