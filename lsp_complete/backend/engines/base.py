"""What the service asks of an engine. Each engine is a thin adapter; none knows of requests, templates or HTTP."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from lsp_complete.protocol.completion import Finish, Timing, Usage
from lsp_complete.protocol.errors import EngineFailed


@dataclass(frozen=True, slots=True)
class Job:
    """A prompt in model tokens. With `max_tokens` 0 it is put into the prefix cache, and nothing is generated. A token
    in `stop_tokens` ends the text and is not part of it. What one `tenant` has computed is never used for another.
    `draft` is what is expected to be written: an engine may check it in one pass instead of writing it."""

    prompt: Sequence[int]
    max_tokens: int
    session_id: str = ""
    stop_tokens: frozenset[int] = frozenset()
    tenant: str = ""
    draft: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class EngineChunk:
    """One step's text, or, last, how it ended; and what the job has taken so far."""

    text: str = ""
    finish: Finish | None = None
    usage: Usage = field(default_factory=Usage)
    timing_ms: Timing = field(default_factory=Timing)


@dataclass(frozen=True, slots=True)
class EngineStats:
    """Counts since the start, of what was really computed, for somebody or not; zeros where the engine cannot know.
    `busy` is the number of jobs whose model is computing right now, `held_tokens` what the prefix cache holds now.
    `evictions` are prompts that lost their cache to others, unused for `evicted_age_s` together."""

    busy: int = 0
    steps: int = 0
    prefilled_tokens: int = 0
    generated_tokens: int = 0
    held_tokens: int = 0
    evictions: int = 0
    evicted_age_s: float = 0.0


class Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]:
        """Tokens of ordinary text: a marker inside it stays text. Blocks for milliseconds."""
        ...

    def marker(self, text: str) -> int | None:
        """The token that is exactly this control marker; None where the model has none."""
        ...


class Isolation(StrEnum):
    """How an engine keeps the prefix caches of tenants apart."""

    SLOTS = "slots"
    SALT = "salt"
    NONE = "none"


class EngineLost(EngineFailed):
    """The engine will not answer again: it has to be loaded anew."""


class Engine(Protocol):
    """`generate` may run concurrently, up to `num_slots` times; a further one waits."""

    model: str
    context_tokens: int
    num_slots: int
    isolation: Isolation

    @property
    def tokenizer(self) -> Tokenizer: ...

    def generate(self, job: Job) -> AsyncGenerator[EngineChunk, None]:
        """Yield, before the first step, a chunk with what is known of the usage; then text by steps; then one chunk
        with `finish`. Closing it stops the model before its next step. Raises EngineFailed."""
        ...

    def stats(self) -> EngineStats: ...

    async def close(self) -> None: ...
