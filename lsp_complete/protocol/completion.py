"""What is asked, what is answered, and the one interface between the two sides: `Completer`.

The request carries segments, not a prompt string: each service renders the FIM template of its own model.
Knows neither JSON (wire.py) nor HTTP.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Mode(StrEnum):
    LINE = "line"
    BLOCK = "block"


class Trigger(StrEnum):
    AUTOMATIC = "automatic"
    INVOKED = "invoked"


class Finish(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    BLOCK_END = "block_end"
    DEADLINE = "deadline"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of another file. `path` is relative to its workspace root; `source` names the retriever."""

    path: str
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """One question: what stands between `prefix` and `suffix`?

    `session_id` is one editor process and the key of affinity. `deadline_ms` is what is left, 0 for none; each hop
    subtracts its own time. `draft` is text the model is expected to write. `prefill_only` warms the cache and
    generates nothing. `ahead`: nobody waits for the answer yet. `snippets` come most stable first. `num_redacted`
    credentials are covered in what it carries.
    """

    request_id: str
    session_id: str
    prefix: str
    suffix: str
    path: str = ""
    language: str = ""
    snippets: tuple[Snippet, ...] = ()
    mode: Mode = Mode.LINE
    max_tokens: int = 64
    deadline_ms: int = 0
    trigger: Trigger = Trigger.AUTOMATIC
    draft: str = ""
    prefill_only: bool = False
    ahead: bool = False
    num_redacted: int = 0

    @property
    def nobody_waits(self) -> bool:
        return self.ahead or self.prefill_only


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts of model tokens. `cached_tokens` of the prompt were taken from the prefix cache."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    draft_tokens: int = 0
    accepted_draft_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds spent in each stage of the service."""

    queue: float = 0.0
    prefill: float = 0.0
    decode: float = 0.0


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class FinishChunk:
    """`debounce_ms` is the least pause in typing that a service under load asks for, 0 for none; `level` says what it
    leaves out: from 2 on blocks, at 3 all but what a user invoked."""

    finish: Finish
    model: str = ""
    usage: Usage = Usage()
    timing_ms: Timing = Timing()
    debounce_ms: int = 0
    level: int = 0


CompletionChunk = TextChunk | FinishChunk


class Completer(Protocol):
    """Whatever can complete: the HTTP client, the service, a proxy's forwarder, a fake in a test."""

    def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        """Yield any number of TextChunks, then one FinishChunk. Closing the generator cancels the request, through
        every hop down to the model. Raises `CompletionError`."""
        ...
