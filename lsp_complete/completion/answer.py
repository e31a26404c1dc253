"""What becomes of one question: something to insert, or the reason why there is nothing, and what it took."""

import asyncio
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.trace import Found, Trace
from lsp_complete.context.policy import Reason
from lsp_complete.protocol.completion import Mode, Usage
from lsp_complete.protocol.errors import (
    BadAnswer,
    CompletionError,
    DeadlinePassed,
    InvalidRequest,
    ModelLoading,
    Overloaded,
    Paused,
    RateLimited,
    Superseded,
    Unauthorized,
    Unreachable,
)
from lsp_complete.protocol.events import Rung


class NoSuggestion(StrEnum):
    """Why there is no suggestion. Shown by explain, counted by telemetry."""

    OFF = "off"
    SNOOZED = "snoozed"
    LANGUAGE_OFF = "language-off"
    EMPTY_FILE = "empty-file"
    SCOPE_OFF = "scope-off"
    FILE_TOO_LARGE = "file-too-large"
    LINE_TOO_LONG = "line-too-long"
    EXCLUDED = "excluded"
    MID_WORD = "mid-word"
    AFTER_DELETION = "after-deletion"
    AFTER_UNDO = "after-undo"
    MANY_CURSORS = "many-cursors"
    REJECTED_HERE = "rejected-here"
    OTHER_CHOICE = "other-choice"
    SUPERSEDED = "superseded"
    WITHHELD = "withheld"
    DEADLINE = "deadline"
    SERVICE = "service"
    OFFLINE = "offline"
    LOADING = "loading"
    OVERLOADED = "overloaded"
    RATE_LIMITED = "rate-limited"
    UNAUTHORIZED = "unauthorized"


TROUBLES = frozenset(
    {
        NoSuggestion.SERVICE,
        NoSuggestion.OFFLINE,
        NoSuggestion.LOADING,
        NoSuggestion.OVERLOADED,
        NoSuggestion.RATE_LIMITED,
        NoSuggestion.UNAUTHORIZED,
    }
)
"""The reasons that lie with the service, and not with the place."""

DENIED = {
    Reason.LANGUAGE: NoSuggestion.LANGUAGE_OFF,
    Reason.SCOPE: NoSuggestion.SCOPE_OFF,
    Reason.TOO_LARGE: NoSuggestion.FILE_TOO_LARGE,
}
"""The reasons of the policy that have a name of their own here; all others are EXCLUDED."""


_FAILED: tuple[tuple[type[CompletionError], NoSuggestion], ...] = (
    (DeadlinePassed, NoSuggestion.DEADLINE),
    (Superseded, NoSuggestion.SUPERSEDED),
    (Overloaded, NoSuggestion.OVERLOADED),
    (ModelLoading, NoSuggestion.LOADING),
    (RateLimited, NoSuggestion.RATE_LIMITED),
    (Unauthorized, NoSuggestion.UNAUTHORIZED),
    (Unreachable, NoSuggestion.OFFLINE),
    (BadAnswer, NoSuggestion.OFFLINE),
)


def reason_of(error: CompletionError) -> NoSuggestion:
    """What a question without an answer comes to."""
    cause = error.cause if isinstance(error, Paused) else error
    return next((reason for kind, reason in _FAILED if isinstance(cause, kind)), NoSuggestion.SERVICE)


@dataclass(frozen=True, slots=True)
class Answer:
    """An insertion, or a reason. `rung` says where it comes from; `detail` is for people and has no code in it.
    `timing_ms` has a stage a key."""

    request_id: str
    mode: Mode
    insertion: Insertion | None = None
    reason: NoSuggestion | None = None
    detail: str = ""
    rung: Rung = Rung.NETWORK
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    timing_ms: dict[str, float] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)


def explained(answer: Answer) -> dict[str, Any]:
    """The answer's record: what it took and why it is as it is, without a word of code."""
    return {
        "request_id": answer.request_id,
        "mode": answer.mode,
        "rung": answer.rung,
        "reason": answer.reason,
        "detail": answer.detail,
        "num_characters": len(answer.insertion.text) if answer.insertion else 0,
        "model": answer.model,
        "usage": asdict(answer.usage),
        "timing_ms": answer.timing_ms,
        "filters": list(answer.insertion.filters) if answer.insertion else [],
        **_noted(answer.trace),
    }


def _noted(trace: Trace) -> dict[str, Any]:
    rows = [_snippet_row(one) for one in trace.snippets]
    return {
        "debounce_ms": None if trace.wait_ms is None else round(trace.wait_ms, 1),
        "asked": trace.asked,
        "snippets": rows,
        "late": list(trace.late),
        "num_redacted": trace.num_redacted,
    }


def _snippet_row(one: Found) -> dict[str, Any]:
    """`cut` is empty where the prompt carries it."""
    return {
        "path": one.path,
        "source": one.source,
        "score": one.score,
        "tokens": one.tokens,
        "cut": one.cut.value if one.cut else "",
    }


def detail_of(error: CompletionError) -> str:
    """For people. What a service finds wrong with a request may quote it, and what it says of a credential is for
    whoever writes a client."""
    if isinstance(error, Paused):
        return f"not asked for now: {detail_of(error.cause)}"
    if isinstance(error, Unauthorized):
        return f"{error.title}; see the setting `credential`"
    return error.title if isinstance(error, InvalidRequest) else str(error)


class StopWatch:
    """Milliseconds per stage, by the event loop's clock; `total` grows with each."""

    def __init__(self) -> None:
        self._last = self._start = asyncio.get_running_loop().time()
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = asyncio.get_running_loop().time()
        self.laps[stage] = round(self.laps.get(stage, 0.0) + (now - self._last) * 1000, 2)
        self.laps["total"] = round((now - self._start) * 1000, 2)
        self._last = now
