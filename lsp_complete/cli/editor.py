"""An editor without a screen: keeps a document in step with a language server, and asks after each key.

The real server runs as a child over stdio, as any editor starts it. Used by the demonstration.
"""

import asyncio
import contextlib
import logging
import os
import sys
import time
import uuid
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient

from lsp_complete.completion.answer import TROUBLES
from lsp_complete.text.document import Document
from lsp_complete.text.positions import offset_at, position_at

# A slow machine computes a cold prompt for longer than an impatient user would wait.
_DEADLINE_MS = 60_000
_RETRY_S = 0.3
EXPLAIN_REQUEST = "lsp-complete/explain"


@dataclass(frozen=True, slots=True)
class Ghost:
    """A suggestion on the screen. `waited_ms` is from the key to its arrival; `explained` is the server's record."""

    item: types.InlineCompletionItem
    waited_ms: float
    explained: dict[str, Any]


class Editor:
    """One open document with a cursor. Every key moves both."""

    def __init__(self, client: LanguageClient, document: Document, offset: int) -> None:
        self._client = client
        self.document = document
        self.offset = offset
        self._asked: tuple[str, asyncio.Future[Any], float] | None = None

    def type(self, text: str) -> bool:
        """Type `text` and ask. True if an older question was still open, and is now cancelled."""
        cancelled = self._cancel()
        self._insert(text, self.offset, self.offset)
        self._ask()
        return cancelled

    def ask_with(self, settings: dict[str, Any]) -> None:
        """Change the server's settings, and ask anew at the same place."""
        self._client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        self._ask(types.InlineCompletionTriggerKind.Invoked)

    async def ghost(self, timeout_s: float) -> Ghost | None:
        """What the newest question brings, if anything. Asks again while the server is not yet in touch with its
        service: a person would go on typing."""
        with contextlib.suppress(TimeoutError, JsonRpcException):
            async with asyncio.timeout(timeout_s):
                while self._asked is not None:
                    _, future, started = self._asked
                    answer = await asyncio.shield(future)  # one that is late may still come, and nobody minds
                    explained = await self.explain()
                    if items := getattr(answer, "items", answer):
                        return Ghost(items[0], (time.perf_counter() - started) * 1000, explained)
                    if explained.get("reason") not in TROUBLES:
                        return None
                    await asyncio.sleep(_RETRY_S)
                    self._ask()
        return None

    async def accept(self, ghost: Ghost) -> None:
        """Put the suggestion into the text and tell the server, as editors do on Tab."""
        text_range = ghost.item.range
        assert text_range is not None
        start = offset_at(self.document, text_range.start.line, text_range.start.character, "utf-16")
        end = offset_at(self.document, text_range.end.line, text_range.end.character, "utf-16")
        self._insert(str(ghost.item.insert_text), start, end)
        if command := ghost.item.command:
            params = types.ExecuteCommandParams(command.command, command.arguments)
            await self._client.workspace_execute_command_async(params)

    async def explain(self) -> dict[str, Any]:
        records = await self._client.protocol.send_request_async(EXPLAIN_REQUEST, {"last": 1})
        return dict(records[-1]) if records else {}

    def _insert(self, text: str, start: int, end: int) -> None:
        old = self.document
        span = types.Range(*(types.Position(*position_at(old, at, "utf-16")) for at in (start, end)))
        new_text = old.text[:start] + text + old.text[end:]
        self.document = Document(old.uri, new_text, old.path, old.language, old.version + 1)
        self.offset = start + len(text)
        self._client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(uri=old.uri, version=old.version + 1),
                [types.TextDocumentContentChangePartial(range=span, text=text)],
            )
        )

    def _ask(self, kind: types.InlineCompletionTriggerKind = types.InlineCompletionTriggerKind.Automatic) -> None:
        params = types.InlineCompletionParams(
            text_document=types.TextDocumentIdentifier(self.document.uri),
            position=types.Position(*position_at(self.document, self.offset, "utf-16")),
            context=types.InlineCompletionContext(kind),
        )
        message_id = uuid.uuid4().hex
        future = self._client.protocol.send_request(types.TEXT_DOCUMENT_INLINE_COMPLETION, params, msg_id=message_id)
        answer = asyncio.wrap_future(future)
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may wait for it any more
        self._asked = (message_id, answer, time.perf_counter())

    def _cancel(self) -> bool:
        if self._asked is None or self._asked[1].done():
            return False
        self._client.cancel_request(types.CancelParams(self._asked[0]))
        return True


# What is shown counts as nobody's own work.
_ENVIRON = {"LSP_COMPLETE_LOG_LEVEL": "warning", "LSP_COMPLETE_TELEMETRY": "off", "LSP_COMPLETE_AUDIT": "off"}


@contextlib.asynccontextmanager
async def opened(path: Path, root: Path, language: str, offset_of: str) -> AsyncGenerator[Editor, None]:
    """The file in an editor with a server of its own, the cursor behind the first `offset_of`."""
    logging.getLogger("pygls").addHandler(logging.NullHandler())  # an answer may cross its cancel on the way
    client = LanguageClient("lsp-complete-demo", "1")
    client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: print(params.message, file=sys.stderr))
    command = [sys.executable, "-P", "-m", "lsp_complete", "lsp"]
    await client.start_io(*command, env={**os.environ, **_ENVIRON}, start_new_session=True)
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(inline_completion=types.InlineCompletionClientCapabilities())
    )
    folders = [types.WorkspaceFolder(root.as_uri(), root.name)]
    try:
        await client.initialize_async(
            types.InitializeParams(
                capabilities,
                process_id=os.getpid(),
                workspace_folders=folders,
                initialization_options={"deadline_ms": _DEADLINE_MS},
            )
        )
        client.initialized(types.InitializedParams())
        text = await asyncio.to_thread(path.read_text, "utf-8")
        document = Document(path.as_uri(), text, path.name, language)
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(document.uri, language, 0, text))
        )
        yield Editor(client, document, text.index(offset_of) + len(offset_of))
        await client.shutdown_async(None)
    finally:  # also after Ctrl-C: then without a shutdown, which the server takes for an editor that is gone
        client.exit(None)
        await client.stop()  # type: ignore[no-untyped-call]
