"""What the service asks of an engine. Each engine is a thin adapter; none knows of requests, templates or HTTP."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lsp_complete.protocol.completion import Finish, Timing, Usage


@dataclass(frozen=True, slots=True)
class Job:
    """A prompt in model tokens. A token in `stop_tokens` ends the text and is not part of it."""

    prompt: Sequence[int]
    max_tokens: int
    session_id: str = ""
    stop_tokens: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class EngineChunk:
    """One step's text, or, last, how it ended; and what the job has taken so far."""

    text: str = ""
    finish: Finish | None = None
    usage: Usage = field(default_factory=Usage)
    timing_ms: Timing = field(default_factory=Timing)


@dataclass(frozen=True, slots=True)
class EngineStats:
    """Counts since the start. `busy` is the number of jobs whose model is computing right now."""

    busy: int = 0
    steps: int = 0
    prefilled_tokens: int = 0
    generated_tokens: int = 0


class Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]:
        """Tokens of ordinary text: a marker inside it stays text. Blocks for milliseconds."""
        ...

    def marker(self, text: str) -> int | None:
        """The token that is exactly this control marker; None where the model has none."""
        ...


class Engine(Protocol):
    """`generate` and `prefill` may run concurrently, up to `num_slots`; a further one waits."""

    model: str
    context_tokens: int
    num_slots: int

    @property
    def tokenizer(self) -> Tokenizer: ...

    def generate(self, job: Job) -> AsyncGenerator[EngineChunk, None]:
        """Yield text by steps, then one chunk with `finish`. Closing it stops the model before its next step.
        Raises EngineFailed."""
        ...

    async def prefill(self, job: Job) -> EngineChunk:
        """Put the prompt into the prefix cache. Cancelling stops it before its next step. Raises EngineFailed."""
        ...

    def stats(self) -> EngineStats: ...

    async def close(self) -> None: ...
