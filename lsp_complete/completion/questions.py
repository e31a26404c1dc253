"""What a session asks: whether a place of a document may be asked about at all, and the request that then leaves.

Of each document the last prompt is remembered, so that the next one begins alike and the service's prefix cache holds.
Knows neither when to ask nor what becomes of the answer.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz.distance import Prefix

from lsp_complete.completion.answer import DENIED, NoSuggestion
from lsp_complete.completion.exclusions import exclusions_of
from lsp_complete.completion.outgoing import outgoing
from lsp_complete.completion.trace import Trace
from lsp_complete.config.settings import Settings
from lsp_complete.context.mixer import Mix
from lsp_complete.context.policy import Policy, Verdict
from lsp_complete.context.snippets import Snippet as Found
from lsp_complete.context.workspace import Workspace
from lsp_complete.prompt.assemble import Prompt
from lsp_complete.protocol.completion import CompletionRequest, Mode, Snippet, Trigger
from lsp_complete.text.document import Document

# A longer line was written by a program, and is looked at again with each piece of an answer.
_MAX_LINE_CHARACTERS = 5_000
# Nobody waits for a prompt to be warm; a slow processor that does something else besides takes so long for a large one.
_WARMING_MS = 120_000


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a place is not asked about. `detail` is for people."""

    reason: NoSuggestion
    detail: str = ""


class Questions:
    def __init__(self, settings: Settings, session_id: str, workspace: Workspace | None) -> None:
        self._settings, self._session_id, self._workspace = settings, session_id, workspace
        self._own_policy = Policy((), exclusions_of(settings))
        self._prompts: dict[str, Prompt] = {}
        self._last: tuple[Document, int] | None = None

    @property
    def policy(self) -> Policy:
        """In force also where no folder is open or nothing is indexed."""
        return self._workspace.policy if self._workspace else self._own_policy

    async def refusal(self, document: Document, offset: int) -> Refusal | None:
        """Why nothing may leave, or nothing need be asked. Parses the document where comments or strings are off."""
        return self._refusal(document, offset) or await self._scope_refusal(document, offset)

    async def mix(self, document: Document, offset: int, patience_s: float = 0.0) -> Mix:
        """What else the model should see, as far as it is found within the retrievers' deadline or `patience_s`."""
        if self._workspace is None or not document.file or not self._settings.snippet_tokens:
            return Mix()
        return await self._workspace.snippets(document, Path(document.file), offset, patience_s)

    def request(
        self,
        document: Document,
        offset: int,
        mix: Mix,
        mode: Mode,
        *,
        request_id: str,
        trigger: Trigger = Trigger.AUTOMATIC,
        draft: str = "",
        ahead: bool = False,
        prefill_only: bool = False,
        trace: Trace | None = None,
    ) -> CompletionRequest:
        """What leaves: credentials are covered in it, and nothing is in it that may not leave."""
        settings, uri = self._settings, document.uri
        out = outgoing(document, offset, mix, settings, self.policy, self._prompts.get(uri))
        prompt = self._prompts[uri] = out.prompt
        self._last = document, offset
        if trace is not None:
            trace.assembled(mix, out)
        return CompletionRequest(
            request_id=request_id,
            session_id=self._session_id,
            prefix=prompt.window.prefix,
            suffix=prompt.window.suffix,
            path=document.path,
            language=document.language,
            snippets=tuple(_snippet(one.snippet) for one in prompt.packed),
            mode=mode,
            max_tokens=settings.line_tokens if mode is Mode.LINE else settings.block_tokens,
            deadline_ms=_WARMING_MS if prefill_only else settings.deadline_ms,
            trigger=trigger,
            draft=draft,
            prefill_only=prefill_only,
            ahead=ahead,
            num_redacted=out.num_redacted,
        )

    def num_new(self, document: Document, offset: int) -> int:
        """About how many characters of a prompt for `offset` were not in the last one: all, where that one was for
        another document or has another text behind the cursor, which comes first in a prompt."""
        if self._last is None or self._last[0].uri != document.uri:
            return len(document.text)
        last, at = self._last
        if last.text[at:] != document.text[offset:]:
            return len(document.text)
        return offset - Prefix.similarity(last.text[:at], document.text[:offset])

    def forget_last(self) -> None:
        """It is in no cache any more: the service is another one."""
        self._last = None

    def forget(self, uri: str) -> None:
        self._prompts.pop(uri, None)

    def _refusal(self, document: Document, offset: int) -> Refusal | None:
        if not self._settings.enabled:
            return Refusal(NoSuggestion.OFF)
        if not (verdict := self.policy.admits(document)).allowed:
            return _denied(verdict)
        if not document.text.strip():
            return Refusal(NoSuggestion.EMPTY_FILE)
        start, end = document.line_span(document.line_at(offset))
        return Refusal(NoSuggestion.LINE_TOO_LONG) if end - start > _MAX_LINE_CHARACTERS else None

    async def _scope_refusal(self, document: Document, offset: int) -> Refusal | None:
        if not self.policy.scopes:
            return None
        verdict = await asyncio.to_thread(self.policy.admits_at, document, offset)
        return None if verdict.allowed else _denied(verdict)


def _denied(verdict: Verdict) -> Refusal:
    return Refusal(DENIED.get(verdict.reason, NoSuggestion.EXCLUDED), verdict.reason.value)


def _snippet(found: Found) -> Snippet:
    return Snippet(found.path, found.text, found.source)
