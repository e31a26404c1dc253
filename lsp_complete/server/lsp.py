"""The handlers: LSP messages to calls of the session and back. A handler takes its snapshot before its first await.

pygls's own document store is not used: it splits lines at form feeds, counts past the end of a line wrongly, and
raises for a document it does not know.
"""

import asyncio
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer

from lsp_complete import __version__
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.trigger import Skip, contradicts
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import Trigger
from lsp_complete.protocol.events import NO_ID, Hex, How
from lsp_complete.server import commands, menu, uris
from lsp_complete.server.documents import Documents, offset_in
from lsp_complete.server.parent import watch_parent
from lsp_complete.server.progress import BuildProgress, ServiceProgress
from lsp_complete.server.session import Session
from lsp_complete.server.status import Status, payload
from lsp_complete.text.document import Document
from lsp_complete.text.positions import Encoding, offset_at, position_at

_log = logging.getLogger(__name__)

SECTION = "lsp-complete"
# What editors that know Copilot's server tell of.
SHOWN_NOTIFICATION = "textDocument/didShowCompletion"
PARTLY_ACCEPTED_NOTIFICATION = "textDocument/didPartiallyAcceptCompletion"
FOCUS_NOTIFICATION = "textDocument/didFocus"
# What none knows but our own plugins: `{item}`, sent away by a key.
REJECTED_NOTIFICATION = "textDocument/didRejectCompletion"

_ENCODINGS: dict[types.PositionEncodingKind | str, Encoding] = {
    types.PositionEncodingKind.Utf8: "utf-8",
    types.PositionEncodingKind.Utf16: "utf-16",
    types.PositionEncodingKind.Utf32: "utf-32",
}


class CompletionServer(LanguageServer):
    """State is documents, folders and the session; the rest of a request lives in its handler."""

    def __init__(self) -> None:
        super().__init__(SECTION, __version__)
        self.documents = Documents()
        self.roots: list[str] = []
        self.initial_settings: Mapping[str, Any] = {}
        self.session = Session(self._on_status, self._on_problem, BuildProgress(self).shown)
        self.is_initialized = False
        self.shows_status = False
        self.was_shut_down = False
        self.stopping = asyncio.Event()
        self._progress = ServiceProgress(self)

    @property
    def encoding(self) -> Encoding:
        chosen = self.server_capabilities.position_encoding
        return _ENCODINGS[chosen] if chosen else "utf-16"

    def report_server_error(self, error: Exception, source: Any) -> None:
        """An error of ours is a line in the log, never a pop-up, and never quotes what was sent."""
        _log.error("%s: %s", getattr(source, "__name__", "error"), type(error).__name__)

    def _on_problem(self, problem: str) -> None:
        message = types.ShowMessageParams(types.MessageType.Warning, f"lsp-complete: {problem}")
        self.window_show_message(message)

    def _on_status(self, status: Status) -> None:
        if self.shows_status:
            self.protocol.notify(commands.STATUS, payload(status))
        if status.service is not None:
            self._progress.update(status.service)


def create_server() -> CompletionServer:
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_news)
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
    _register_files(server)
    _register_completion(server)
    commands.register(server)
    return server


def _is_news(record: logging.LogRecord) -> bool:
    """Editors cancel with each key what may have been answered by then."""
    return not str(record.msg).startswith("Cancel notification for unknown")


def _register_lifecycle(server: CompletionServer) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        if server.is_initialized:
            raise JsonRpcInvalidRequest("initialize came twice")
        server.is_initialized = True
        server.shows_status = _shows_status(params.capabilities)
        server.roots = _roots(params)
        server.initial_settings = _settings(params.initialization_options)
        server.session.configure(server.initial_settings)
        menu.register(server, params.capabilities, _suggestion)
        if params.process_id is not None:
            loop = asyncio.get_running_loop()
            watch_parent(params.process_id, partial(loop.call_soon_threadsafe, server.stopping.set))

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        server.session.open_folders(_folders(server.roots))
        server.session.warm()
        await _watch_files(server)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configuration(params: types.DidChangeConfigurationParams) -> None:
        server.session.configure({**server.initial_settings, **_pushed_settings(params.settings)})

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {uris.key(folder.uri).rstrip("/") for folder in params.event.removed}
        kept = [root for root in server.roots if uris.key(root).rstrip("/") not in gone]
        server.roots = [*kept, *(folder.uri for folder in params.event.added)]
        server.documents.rebase(server.roots)
        server.session.open_folders(_folders(server.roots))

    @server.feature(types.SHUTDOWN)
    async def shutdown(params: None) -> None:
        server.was_shut_down = True
        await server.session.aclose()

    @server.feature(types.EXIT)
    def exit_(params: None) -> None:
        server.stopping.set()


def _register_documents(server: CompletionServer) -> None:
    documents, workspace = server.documents, server.session.workspace

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        if before := documents.get(params.text_document.uri):
            server.session.forget(before)
        document = documents.open(params.text_document, server.roots)
        workspace.opened(document)
        if uris.is_served(document.uri):
            server.session.arrived(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        steps = documents.change(params.text_document, params.content_changes, server.encoding)
        for before, after in pairwise(steps):
            workspace.changed(before, after)
        if len(steps) > 1:
            server.session.changed(steps[0], steps[-1], _inserted(params.content_changes))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        workspace.files_changed(_folders([params.text_document.uri]))
        if document := documents.get(params.text_document.uri):
            server.session.telemetry.saved(document)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        document = documents.close(params.text_document.uri)
        if document is not None:
            workspace.closed(document)
            server.session.forget(document)


def _register_files(server: CompletionServer) -> None:
    """What happens to files beside their texts: in the editor, or in its sight."""
    everything = types.FileOperationFilter(types.FileOperationPattern("**"), scheme="file")
    options, workspace = types.FileOperationRegistrationOptions([everything]), server.session.workspace

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def watched(params: types.DidChangeWatchedFilesParams) -> None:
        workspace.files_changed(_folders([change.uri for change in params.changes]))

    @server.feature(types.WORKSPACE_DID_CREATE_FILES, options)
    def created(params: types.CreateFilesParams) -> None:
        workspace.files_changed(_folders([file.uri for file in params.files]))

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, options)
    def renamed(params: types.RenameFilesParams) -> None:
        for file in params.files:
            old, new = uris.file_path(file.old_uri), uris.file_path(file.new_uri)
            if old and new:
                workspace.renamed(old, new)
            for before, after in server.documents.rename(file.old_uri, file.new_uri, server.roots):
                server.session.forget(before)
                workspace.opened(after)

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, options)
    def deleted(params: types.DeleteFilesParams) -> None:
        for path in _folders([file.uri for file in params.files]):
            workspace.deleted(path)


async def _watch_files(server: CompletionServer) -> None:
    """Have the client tell of changes on the disk, too, where it can: our own watches may be too few."""
    workspace = server.client_capabilities.workspace
    watching = workspace and workspace.did_change_watched_files
    if not (watching and watching.dynamic_registration):
        return
    options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher("**/*")])
    method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    registration = types.Registration(uuid.uuid4().hex, method, options)
    try:
        await server.client_register_capability_async(types.RegistrationParams([registration]))
    except Exception as error:
        _log.info("the client watches no files: %s", type(error).__name__)


def _register_completion(server: CompletionServer) -> None:
    # An empty object would be no capability at all to a client that is written in Lisp.
    options = types.InlineCompletionOptions(work_done_progress=False)

    @server.feature(types.TEXT_DOCUMENT_INLINE_COMPLETION, options)
    async def inline_completion(params: types.InlineCompletionParams) -> types.InlineCompletionList:
        uri = params.text_document.uri
        document = server.documents.get(uri)
        if document is None or not uris.is_served(uri):
            _log.debug("no suggestion: %s", "not open" if document is None else "not a file")
            return types.InlineCompletionList([])
        item = await _suggestion(server, document, params)
        return types.InlineCompletionList([item] if item else [])

    @server.command(commands.ACCEPTED)
    def accepted(*given: Any) -> None:
        request = commands.id_in(given)
        _log.info("accepted request id=%s", request)
        server.session.telemetry.accepted(request)

    @server.feature(PARTLY_ACCEPTED_NOTIFICATION)
    def partly_accepted(params: Any) -> None:
        if request := _request(params):
            server.session.telemetry.accepted(request, How.NOTICE)

    @server.feature(REJECTED_NOTIFICATION)
    def rejected(params: Any) -> None:
        if request := _request(params):
            server.session.telemetry.dismissed(request)

    @server.feature(SHOWN_NOTIFICATION)
    def shown(params: Any) -> None:
        """Known from the answer that was given."""

    @server.feature(FOCUS_NOTIFICATION)
    def focus(params: Any) -> None:
        """The user has come to a document, or rests at a place of it: `{textDocument: {uri}, position?}`."""
        document = server.documents.get(str(getattr(getattr(params, "textDocument", None), "uri", "")))
        if document is not None and uris.is_served(document.uri):
            server.session.arrived(document, offset_in(document, params, server.encoding))


async def _suggestion(
    server: CompletionServer, document: Document, params: types.InlineCompletionParams
) -> types.InlineCompletionItem | None:
    """What is chosen in the pop-up counts as typed: the question is asked behind it, the answer begins with it."""
    selected, encoding = params.context.selected_completion_info, server.encoding
    start, end = _replaced(document, params.position, selected, encoding)
    chosen = selected.text if selected else ""
    asked = replace(document, text=document.text[:start] + chosen + document.text[end:]) if selected else document
    trigger = _trigger(params.context.trigger_kind)
    position = params.position
    offset = offset_at(document, position.line, position.character, encoding)
    server.session.telemetry.asked(document, offset, (start, chosen) if selected else None)
    skip = _skip(document, offset, (start, end), chosen) if selected else None
    is_beside = selected is not None and skip is None and trigger is Trigger.AUTOMATIC
    rest = Insertion(chosen[offset - start :], end - offset)
    answer = server.session.kept(document, offset, rest) if is_beside else None
    answer = answer or await server.session.suggest(uris.key(document.uri), asked, start + len(chosen), trigger, skip)
    if answer is None or answer.insertion is None:
        return None
    if server.documents.get(document.uri) is not document:
        server.session.came_too_late(answer)
        return None  # it would be drawn in the wrong place
    span, text = (start, end + answer.insertion.num_replaced), chosen + answer.insertion.text
    server.session.shown(document, span, text, answer, len(chosen))
    borders = (types.Position(*position_at(document, at, encoding)) for at in span)
    return _item(text, types.Range(*borders), answer.request_id)


def _replaced(
    document: Document, position: types.Position, selected: types.SelectedCompletionInfo | None, encoding: Encoding
) -> tuple[int, int]:
    """Offsets of what the pop-up's selected item would take the place of; without such an item, of the cursor."""
    span = selected.range if selected else types.Range(position, position)
    start, end = (offset_at(document, at.line, at.character, encoding) for at in (span.start, span.end))
    return start, max(start, end)


def _skip(document: Document, offset: int, span: tuple[int, int], chosen: str) -> Skip | None:
    """Of an item of the pop-up that is to take the place of `span`."""
    start, end = span
    fits = start <= offset <= end and not contradicts(chosen, document.text[start:offset])
    return None if fits else Skip.OTHER_CHOICE


def _item(text: str, span: types.Range, request_id: str) -> types.InlineCompletionItem:
    command = types.Command("Accepted", commands.ACCEPTED, arguments=[request_id])
    return types.InlineCompletionItem(insert_text=text, range=span, command=command)


def _inserted(changes: Sequence[types.TextDocumentContentChangeEvent]) -> tuple[str, ...]:
    """The texts of several changes; none where there is one, or where one is the whole text."""
    partial = [one.text for one in changes if isinstance(one, types.TextDocumentContentChangePartial)]
    return tuple(partial) if len(partial) == len(changes) > 1 else ()


def _request(params: Any) -> Hex:
    """Of a notification that carries one of our items; no id where it carries something else."""
    arguments = getattr(getattr(getattr(params, "item", None), "command", None), "arguments", None)
    try:
        return commands.id_in(arguments if isinstance(arguments, list) else ())
    except JsonRpcInvalidParams:
        return NO_ID


def _trigger(kind: types.InlineCompletionTriggerKind) -> Trigger:
    return Trigger.INVOKED if kind == types.InlineCompletionTriggerKind.Invoked else Trigger.AUTOMATIC


def _shows_status(capabilities: types.ClientCapabilities) -> bool:
    """Clients that do not know the notification may warn of it, so only those get it that ask for it."""
    experimental = capabilities.experimental
    ours = experimental.get("lspComplete") if isinstance(experimental, Mapping) else None
    return isinstance(ours, Mapping) and bool(ours.get("status"))


def _roots(params: types.InitializeParams) -> list[str]:
    folders = [folder.uri for folder in params.workspace_folders or []]
    return folders or ([params.root_uri] if params.root_uri else [])


def _folders(found: Sequence[str]) -> list[str]:
    """Those of the URIs that lie on the disk, as paths."""
    return [path for path in map(uris.file_path, found) if path]


def _settings(sent: Any) -> Mapping[str, Any]:
    """The settings in what a client sends: as they are, or below our section."""
    if not isinstance(sent, Mapping):
        return {}
    section = sent.get(SECTION, sent)
    return section if isinstance(section, Mapping) else {}


def _pushed_settings(sent: Any) -> Mapping[str, Any]:
    """As `_settings`; but some clients push nothing, to be asked for it, and some push those of other servers too."""
    is_ours = isinstance(sent, Mapping) and (SECTION in sent or not Settings.model_fields.keys().isdisjoint(sent))
    return _settings(sent) if is_ours else {}
