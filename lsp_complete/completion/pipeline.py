"""A suggestion from the keystroke to the text that is shown, or the reason why there is none.

Knows neither LSP nor HTTP: a document and an offset come in, and the questions go to any `Completer`.
"""

import asyncio
import contextlib
import time
import uuid
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from lsp_complete.completion.mode import choose_mode
from lsp_complete.completion.postprocess import Insertion, Withheld, enough, judge
from lsp_complete.config.settings import Settings
from lsp_complete.context.mixer import Mix
from lsp_complete.context.snippets import Snippet as Found
from lsp_complete.context.workspace import Workspace
from lsp_complete.prompt.packer import pack
from lsp_complete.prompt.snippets import Candidate, choose
from lsp_complete.protocol.completion import (
    Completer,
    CompletionRequest,
    Finish,
    FinishChunk,
    Mode,
    Snippet,
    Timing,
    Trigger,
    Usage,
)
from lsp_complete.protocol.errors import CompletionError, DeadlinePassed, InvalidRequest
from lsp_complete.text.document import Document

# Least characters per model token in source code, until the service says better.
_CHARACTERS_PER_TOKEN = 3.6
# A snippet that is not found again has lost half its score after six questions, some words of typing later.
_KEPT_SHARE = 0.9
# What stands around the cursor is worth more than anything elsewhere.
_LEAST_WINDOW_TOKENS = 96
# Above this a file is data, and every keystroke in it would copy megabytes.
_MAX_CHARACTERS = 2_000_000
# A longer line was written by a program, and is looked at again with each piece of an answer.
_MAX_LINE_CHARACTERS = 5_000


class NoSuggestion(StrEnum):
    """Why there is no suggestion. Shown by explain, counted by telemetry."""

    OFF = "off"
    LANGUAGE_OFF = "language-off"
    EMPTY_FILE = "empty-file"
    FILE_TOO_LARGE = "file-too-large"
    LINE_TOO_LONG = "line-too-long"
    EXCLUDED = "excluded"
    WITHHELD = "withheld"
    DEADLINE = "deadline"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one question: an insertion, or a reason. `detail` is for people and has no code in it.
    `timing_ms` has a stage a key."""

    request_id: str
    mode: Mode
    insertion: Insertion | None = None
    reason: NoSuggestion | None = None
    detail: str = ""
    usage: Usage = field(default_factory=Usage)
    timing_ms: dict[str, float] = field(default_factory=dict)


def explained(answer: Answer) -> dict[str, Any]:
    """The answer's record: what it took and why it is as it is, without a word of code."""
    return {
        "request_id": answer.request_id,
        "mode": answer.mode,
        "reason": answer.reason,
        "detail": answer.detail,
        "num_characters": len(answer.insertion.text) if answer.insertion else 0,
        "usage": asdict(answer.usage),
        "timing_ms": answer.timing_ms,
    }


@dataclass(frozen=True, slots=True)
class Packed:
    """A snippet of the last prompt, with the score that it had."""

    snippet: Snippet
    score: float

    @property
    def size(self) -> int:
        """In characters, with its header."""
        return len(self.snippet.path) + len(self.snippet.text) + 2


def _snippet(found: Found) -> Snippet:
    return Snippet(found.path, found.text, found.source)


class Pipeline:
    """Asks `completer` on behalf of one session. Cancel `suggest` to cancel the question, down to the model."""

    def __init__(
        self, completer: Completer, settings: Settings, session_id: str, workspace: Workspace | None = None
    ) -> None:
        self._completer = completer
        self._settings = settings
        self._session_id = session_id
        self._workspace = workspace
        self._packed: dict[str, dict[str, Packed]] = {}

    async def suggest(self, document: Document, offset: int, trigger: Trigger) -> Answer:
        """What to insert at `offset` (characters). Never raises but for cancellation."""
        offset = max(0, min(offset, len(document.text)))
        answer = Answer(uuid.uuid4().hex, Mode.LINE)
        if reason := self._refusal(document, offset):
            return replace(answer, reason=reason)
        answer = replace(answer, mode=choose_mode(document, offset))
        watch = _StopWatch()
        if trigger is Trigger.AUTOMATIC:
            await asyncio.sleep(self._settings.debounce_ms / 1000)
        watch.lap("debounce")
        mix = await self._mix(document, offset)
        watch.lap("context")
        request = self._request(document, offset, answer, trigger, mix)
        watch.lap("prompt")
        try:
            text, finish = await self._ask(request, document, offset, watch)
        except DeadlinePassed as error:
            return replace(answer, reason=NoSuggestion.DEADLINE, detail=str(error), timing_ms=watch.laps)
        except CompletionError as error:
            return replace(answer, reason=NoSuggestion.SERVICE, detail=_detail(error), timing_ms=watch.laps)
        outcome = judge(document, offset, answer.mode, text)
        watch.lap("postprocess")
        return _answered(answer, outcome, finish, watch.laps)

    def _refusal(self, document: Document, offset: int) -> NoSuggestion | None:
        if not self._settings.enabled:
            return NoSuggestion.OFF
        if document.language in self._settings.disabled_languages:
            return NoSuggestion.LANGUAGE_OFF
        if document.file and self._workspace and not self._workspace.allows(Path(document.file)).allowed:
            return NoSuggestion.EXCLUDED
        if not document.text.strip():
            return NoSuggestion.EMPTY_FILE
        if len(document.text) > _MAX_CHARACTERS:
            return NoSuggestion.FILE_TOO_LARGE
        start, end = document.line_span(document.line_at(offset))
        return NoSuggestion.LINE_TOO_LONG if end - start > _MAX_LINE_CHARACTERS else None

    async def _mix(self, document: Document, offset: int) -> Mix:
        if self._workspace is None or not document.file or not self._settings.snippet_tokens:
            return Mix()
        return await self._workspace.snippets(document, Path(document.file), offset)

    def _snippets(self, document: Document, mix: Mix) -> tuple[Snippet, ...]:
        """The best that fit, in the order that the prefix cache of this document's last question wants. What was in the
        last prompt stays a candidate, for less with each question, also where it was not found this time."""
        before = self._packed.get(document.uri, {})
        kept = {key: replace(one, score=one.score * _KEPT_SHARE) for key, one in before.items()}
        found = {one.key: Packed(_snippet(one), mix.scores[one.key]) for one in mix.snippets}
        candidates = {**kept, **found}
        sizes = [Candidate(key, one.size, one.score) for key, one in candidates.items()]
        budget = int(self._settings.snippet_tokens * _CHARACTERS_PER_TOKEN)
        chosen = choose(sizes, budget, tuple(before))
        self._packed[document.uri] = {one.key: candidates[one.key] for one in chosen}
        return tuple(candidates[one.key].snippet for one in chosen)

    def _request(
        self, document: Document, offset: int, answer: Answer, trigger: Trigger, mix: Mix
    ) -> CompletionRequest:
        settings = self._settings
        snippets = self._snippets(document, mix)
        num_snippet_tokens = settings.snippet_tokens if snippets else 0
        num_tokens = max(_LEAST_WINDOW_TOKENS, settings.prompt_tokens - num_snippet_tokens)
        window = pack(document, offset, int(num_tokens * _CHARACTERS_PER_TOKEN))
        return CompletionRequest(
            request_id=answer.request_id,
            session_id=self._session_id,
            prefix=window.prefix,
            suffix=window.suffix,
            path=document.path,
            language=document.language,
            snippets=snippets,
            mode=answer.mode,
            max_tokens=settings.line_tokens if answer.mode is Mode.LINE else settings.block_tokens,
            deadline_ms=settings.deadline_ms,
            trigger=trigger,
        )

    async def _ask(
        self, request: CompletionRequest, document: Document, offset: int, watch: "_StopWatch"
    ) -> tuple[str, FinishChunk | None]:
        """The text so far as it is needed, and the last chunk, None where the stream was closed before it."""
        text = ""
        async with contextlib.aclosing(self._completer.complete(request)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, FinishChunk):
                    watch.lap("rest")
                    return text, chunk
                if not text:
                    watch.lap("first_text")
                text += chunk.text
                if enough(document, offset, request.mode, text):
                    break
        watch.lap("rest")
        return text, None


def _answered(
    answer: Answer, outcome: Insertion | Withheld, finish: FinishChunk | None, laps: dict[str, float]
) -> Answer:
    usage = finish.usage if finish else Usage()
    timing = finish.timing_ms if finish else Timing()
    service = {"queue": timing.queue, "prefill": timing.prefill, "decode": timing.decode}
    answer = replace(answer, usage=usage, timing_ms={**laps, **service})
    if isinstance(outcome, Insertion):
        return replace(answer, insertion=outcome)
    is_late = finish is not None and finish.finish is Finish.DEADLINE
    return replace(answer, reason=NoSuggestion.DEADLINE if is_late else NoSuggestion.WITHHELD, detail=outcome.value)


def _detail(error: CompletionError) -> str:
    """What a service finds wrong with a request may quote it."""
    return error.title if isinstance(error, InvalidRequest) else str(error)


class _StopWatch:
    """Milliseconds per stage; `total` grows with each."""

    def __init__(self) -> None:
        self._last = self._start = time.perf_counter()
        self.laps: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = round((now - self._last) * 1000, 2)
        self.laps["total"] = round((now - self._start) * 1000, 2)
        self._last = now
