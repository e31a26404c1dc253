"""The handlers: LSP messages to calls of the session and back. A handler takes its snapshot before its first await.

pygls's own document store is not used: it splits lines at form feeds, counts past the end of a line wrongly, and
raises for a document it does not know.
"""

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer

from lsp_complete import __version__
from lsp_complete.client.service import ServiceState, ServiceStatus
from lsp_complete.completion.pipeline import Answer, explained
from lsp_complete.protocol.completion import Trigger
from lsp_complete.server import uris
from lsp_complete.server.documents import Documents
from lsp_complete.server.parent import watch_parent
from lsp_complete.server.progress import ServiceProgress
from lsp_complete.server.session import Session
from lsp_complete.text.document import Document
from lsp_complete.text.positions import Encoding, offset_at, position_at

_log = logging.getLogger(__name__)

SECTION = "lsp-complete"
ACCEPTED_COMMAND = "lsp-complete.accepted"
EXPLAIN_REQUEST = "lsp-complete/explain"
STATUS_NOTIFICATION = "lsp-complete/status"

_ENCODINGS: dict[types.PositionEncodingKind | str, Encoding] = {
    types.PositionEncodingKind.Utf8: "utf-8",
    types.PositionEncodingKind.Utf16: "utf-16",
    types.PositionEncodingKind.Utf32: "utf-32",
}
_TELL_THE_USER = {ServiceState.MODEL_MISSING, ServiceState.ENGINE_MISSING, ServiceState.FAILED}


class CompletionServer(LanguageServer):
    """State is documents, folders and the session; the rest of a request lives in its handler."""

    def __init__(self) -> None:
        super().__init__(SECTION, __version__)
        self.documents = Documents()
        self.roots: list[str] = []
        self.session = Session(self._on_status, self._on_problem)
        self.is_initialized = False
        self.was_shut_down = False
        self.stopping = asyncio.Event()
        self._progress = ServiceProgress(self)
        self._told: set[ServiceState] = set()

    @property
    def encoding(self) -> Encoding:
        chosen = self.server_capabilities.position_encoding
        return _ENCODINGS[chosen] if chosen else "utf-16"

    def report_server_error(self, error: Exception, source: Any) -> None:
        """An error of ours is a line in the log, never a pop-up, and never quotes what was sent."""
        _log.error("%s: %s", getattr(source, "__name__", "error"), type(error).__name__)

    def _on_problem(self, problem: str) -> None:
        _log.warning("setting: %s", problem)
        self._tell(types.MessageType.Warning, f"lsp-complete: {problem}")

    def _on_status(self, status: ServiceStatus) -> None:
        self.protocol.notify(STATUS_NOTIFICATION, {"state": status.state.value, "detail": status.detail})
        self._progress.update(status)
        if status.state in _TELL_THE_USER and status.state not in self._told:
            self._told.add(status.state)
            self._tell(types.MessageType.Warning, f"lsp-complete: {status.detail}")

    def _tell(self, kind: types.MessageType, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(kind, message))


def create_server() -> CompletionServer:
    server = CompletionServer()
    for method in (
        types.TEXT_DOCUMENT_DID_OPEN,
        types.TEXT_DOCUMENT_DID_CHANGE,
        types.TEXT_DOCUMENT_DID_CLOSE,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
        types.EXIT,
    ):
        server.protocol.fm.builtin_features.pop(method)
    _register_lifecycle(server)
    _register_documents(server)
    _register_completion(server)
    return server


def _register_lifecycle(server: CompletionServer) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        if server.is_initialized:
            raise JsonRpcInvalidRequest("initialize came twice")
        server.is_initialized = True
        server.roots = _roots(params)
        server.session.configure(_settings(params.initialization_options))
        if params.process_id is not None:
            loop = asyncio.get_running_loop()
            watch_parent(params.process_id, partial(loop.call_soon_threadsafe, server.stopping.set))

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        server.session.warm()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration(params: types.DidChangeConfigurationParams) -> None:
        server.session.configure(_settings(params.settings))

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {uris.key(folder.uri) for folder in params.event.removed}
        kept = [root for root in server.roots if uris.key(root) not in gone]
        server.roots = [*kept, *(folder.uri for folder in params.event.added)]

    @server.feature(types.SHUTDOWN)
    async def shutdown(params: None) -> None:
        server.was_shut_down = True
        await server.session.aclose()

    @server.feature(types.EXIT)
    def exit_(params: None) -> None:
        server.stopping.set()


def _register_documents(server: CompletionServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.documents.open(params.text_document, server.roots)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.documents.change(params.text_document, params.content_changes, server.encoding)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.documents.close(params.text_document.uri)


def _register_completion(server: CompletionServer) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION)
    async def inline_completion(params: types.InlineCompletionParams) -> types.InlineCompletionList:
        uri, encoding = params.text_document.uri, server.encoding
        document = server.documents.get(uri)
        if document is None or not uris.is_served(uri):
            _log.debug("no suggestion: %s", "not open" if document is None else "not a file")
            return types.InlineCompletionList([])
        selected = params.context.selected_completion_info
        asked, offset = _with_selection(document, params.position, selected, encoding)
        trigger = _trigger(params.context.trigger_kind)
        answer = await server.session.suggest(uris.key(uri), asked, offset, trigger)
        if answer is None or answer.insertion is None:
            return types.InlineCompletionList([])
        return types.InlineCompletionList([_item(answer, document, params.position, selected, encoding)])

    @server.feature(EXPLAIN_REQUEST)
    def explain(params: Any) -> list[dict[str, Any]]:
        last = getattr(params, "last", None)
        answers = [explained(answer) for answer in server.session.answers]
        return answers[-last:] if isinstance(last, int) and last > 0 else answers

    @server.command(ACCEPTED_COMMAND)
    def accepted(request_id: str) -> None:
        _log.info("accepted request id=%s", request_id[:64] if request_id.isalnum() else "?")


def _with_selection(
    document: Document, position: types.Position, selected: types.SelectedCompletionInfo | None, encoding: Encoding
) -> tuple[Document, int]:
    """The document as it would be with the pop-up's selected item in it, and the cursor behind that item."""
    if selected is None:
        return document, offset_at(document, position.line, position.character, encoding)
    start = offset_at(document, selected.range.start.line, selected.range.start.character, encoding)
    end = offset_at(document, selected.range.end.line, selected.range.end.character, encoding)
    text = document.text[:start] + selected.text + document.text[max(start, end) :]
    with_item = Document(document.uri, text, document.path, document.language, document.version)
    return with_item, start + len(selected.text)


def _item(
    answer: Answer,
    document: Document,
    position: types.Position,
    selected: types.SelectedCompletionInfo | None,
    encoding: Encoding,
) -> types.InlineCompletionItem:
    """The range ends on the cursor's line and covers exactly what the text replaces."""
    assert answer.insertion is not None
    text, start, end = answer.insertion.text, position, position
    if selected is not None:
        text, start, end = selected.text + text, selected.range.start, selected.range.end
    if answer.insertion.num_replaced:
        offset = offset_at(document, end.line, end.character, encoding) + answer.insertion.num_replaced
        end = types.Position(*position_at(document, offset, encoding))
    command = types.Command("Accepted", ACCEPTED_COMMAND, arguments=[answer.request_id])
    return types.InlineCompletionItem(insert_text=text, range=types.Range(start, end), command=command)


def _trigger(kind: types.InlineCompletionTriggerKind) -> Trigger:
    return Trigger.INVOKED if kind == types.InlineCompletionTriggerKind.Invoked else Trigger.AUTOMATIC


def _roots(params: types.InitializeParams) -> list[str]:
    folders = [folder.uri for folder in params.workspace_folders or []]
    return folders or ([params.root_uri] if params.root_uri else [])


def _settings(sent: Any) -> Mapping[str, Any]:
    """The settings in what a client sends: as they are, or below our section."""
    if not isinstance(sent, Mapping):
        return {}
    section = sent.get(SECTION, sent)
    return section if isinstance(section, Mapping) else {}
