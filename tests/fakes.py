"""Real implementations of the project's interfaces without a model: an engine that recites, a tokenizer of letters."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from itertools import takewhile

from lsp_complete.backend.engines.base import EngineChunk, EngineStats, Isolation, Job
from lsp_complete.backend.fim import FAMILIES
from lsp_complete.protocol.completion import CompletionRequest, Finish, Mode, Usage
from lsp_complete.protocol.errors import EngineFailed

QWEN = FAMILIES["qwen2.5-coder"]
_FIRST_MARKER = 0x110000


class CharacterTokenizer:
    """A token a character; the markers of one family are tokens of their own."""

    def __init__(self, markers: tuple[str, ...] | None = None) -> None:
        known = (
            markers if markers is not None else (QWEN.prefix, QWEN.suffix, QWEN.middle, QWEN.file_marker, *QWEN.stops)
        )
        self._markers = {marker: _FIRST_MARKER + i for i, marker in enumerate(dict.fromkeys(known))}

    def encode(self, text: str) -> list[int]:
        return [ord(char) for char in text]

    def marker(self, text: str) -> int | None:
        return self._markers.get(text)

    def decode(self, tokens: list[int]) -> str:
        names = {token: marker for marker, token in self._markers.items()}
        return "".join(names.get(token) or chr(token) for token in tokens)


# What the model of `RecitingEngine` writes instead of its stop token.
STOP_TOKEN = "\x03"


class RecitingEngine:
    """Answers every prompt with `text`, or what `text` makes of the job, a character a step. `gate`, if given, is what
    each step waits for."""

    model = "reciting"
    isolation = Isolation.SLOTS

    def __init__(
        self,
        text: str | Callable[[Job], str] = "",
        *,
        context_tokens: int = 4096,
        num_slots: int = 2,
        fails_after: int | None = None,
    ) -> None:
        self.text = text
        self.context_tokens, self.num_slots = context_tokens, num_slots
        self.tokenizer = CharacterTokenizer()
        self.gate: asyncio.Semaphore | None = None
        self.stepped = asyncio.Condition()
        self.jobs: list[Job] = []
        self.num_open = 0
        self.fails_after = fails_after
        self._steps = 0
        self._busy = 0
        self._last: dict[str, list[int]] = {}

    async def generate(self, job: Job) -> AsyncGenerator[EngineChunk, None]:
        self.jobs.append(job)
        self.num_open += 1
        cached = self._shared(job)
        text = self.text if isinstance(self.text, str) else self.text(job)
        text = text.partition(STOP_TOKEN)[0]
        try:
            yield EngineChunk(usage=Usage(len(job.prompt), cached))
            if not job.max_tokens:
                await self._step()
            for count, char in enumerate(text[: job.max_tokens]):
                await self._step()
                yield EngineChunk(char, None, Usage(len(job.prompt), cached, count + 1))
            finish = Finish.STOP if len(text) < job.max_tokens else Finish.LENGTH
            yield EngineChunk("", finish, Usage(len(job.prompt), cached, min(len(text), job.max_tokens)))
        finally:
            self.num_open -= 1

    def stats(self) -> EngineStats:
        return EngineStats(self._busy, self._steps, 0, self._steps)

    async def close(self) -> None:
        pass

    async def _step(self) -> None:
        self._busy += 1
        try:
            if self.gate is not None:
                await self.gate.acquire()
        finally:
            self._busy -= 1
        if self.fails_after is not None and self._steps >= self.fails_after:
            raise EngineFailed("as told to")
        self._steps += 1
        async with self.stepped:
            self.stepped.notify_all()

    def _shared(self, job: Job) -> int:
        """What the prompt shares with the tenant's last one, short of its last token."""
        held, self._last[job.tenant] = self._last.get(job.tenant, []), list(job.prompt)
        pairs = zip(held, job.prompt[:-1], strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def request(
    prefix: str = "a",
    suffix: str = "b",
    *,
    mode: Mode = Mode.BLOCK,
    request_id: str = "r1",
    session_id: str = "s1",
    **fields: object,
) -> CompletionRequest:
    return CompletionRequest(request_id, session_id, prefix, suffix, mode=mode, **fields)  # type: ignore[arg-type]
