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
from lsp_complete.prompt.assemble import Budget, Packed, assemble
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


class Pipeline:
    """Asks `completer` on behalf of one session. Cancel `suggest` to cancel the question, down to the model."""

    def __init__(
        self, completer: Completer, settings: Settings, session_id: str, workspace: Workspace | None = None
    ) -> None:
        self._completer = completer
        self._settings = settings
        self._session_id = session_id
        self._workspace = workspace
        self._packed: dict[str, tuple[Packed, ...]] = {}

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

    def _request(
        self, document: Document, offset: int, answer: Answer, trigger: Trigger, mix: Mix
    ) -> CompletionRequest:
        settings = self._settings
        budget = Budget(settings.prompt_tokens, settings.snippet_tokens)
        before = self._packed.get(document.uri, ())
        prompt = assemble(document, offset, mix.snippets, mix.scores, budget, before)
        self._packed[document.uri] = prompt.packed
        return CompletionRequest(
            request_id=answer.request_id,
            session_id=self._session_id,
            prefix=prompt.window.prefix,
            suffix=prompt.window.suffix,
            path=document.path,
            language=document.language,
            snippets=tuple(_snippet(one.snippet) for one in prompt.packed),
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


def _snippet(found: Found) -> Snippet:
    return Snippet(found.path, found.text, found.source)


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
