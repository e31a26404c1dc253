"""What an editor's menus ask for: the status, why a suggestion is as it is, what became of suggestions, what left the
machine; and the switches. Each is a command, so that editors that know no requests but LSP's own can have it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcInvalidParams

from lsp_complete.client import audit_file
from lsp_complete.config.paths import audit_file as path_of_audit
from lsp_complete.config.paths import state_folder
from lsp_complete.protocol.events import Hex
from lsp_complete.server import uris
from lsp_complete.server.documents import offset_in
from lsp_complete.server.records import NUM_RECORDS, Row
from lsp_complete.server.status import payload
from lsp_complete.telemetry.page import page
from lsp_complete.telemetry.reports import report
from lsp_complete.telemetry.store import FILE, EventStore

if TYPE_CHECKING:
    from lsp_complete.server.lsp import CompletionServer

EXPLAIN_REQUEST = "lsp-complete/explain"
STATUS = "lsp-complete/status"
"""A notification to editors that ask for it, and a request from any."""

ACCEPTED, SNOOZE, TOGGLE, TOGGLE_LANGUAGE, EXPLAIN, SHOW_STATUS, STATS, AUDIT = COMMANDS = (
    "lsp-complete.accepted",
    "lsp-complete.snooze",
    "lsp-complete.toggle",
    "lsp-complete.toggleLanguage",
    "lsp-complete.explain",
    "lsp-complete.status",
    "lsp-complete.stats",
    "lsp-complete.audit",
)

_SNOOZE_MINUTES = 10.0
# What a menu shows of the record of what left.
_NUM_SENT = 100


def register(server: "CompletionServer") -> None:
    """All but `accepted`, which belongs to the suggestions."""
    _register_requests(server)
    _register_switches(server)
    _register_reports(server)


def _register_requests(server: "CompletionServer") -> None:
    @server.feature(EXPLAIN_REQUEST)
    def explain(params: Any) -> list[Row]:
        return server.session.records.last(_count(getattr(params, "last", None)))

    @server.feature(STATUS)
    async def status(params: Any) -> dict[str, Any]:
        uri = getattr(getattr(params, "textDocument", None), "uri", "")
        off_here = await _off_here(server, uri, params) if isinstance(uri, str) and uri else ""
        return payload(server.session.status, off_here)

    @server.command(EXPLAIN)
    def explain_command(*given: Any) -> list[Row]:
        return server.session.records.last(_count(_first(given, None)))

    @server.command(SHOW_STATUS)
    async def status_command(*given: Any) -> dict[str, Any]:
        uri = _checked(_first(given, ""), str)
        return payload(server.session.status, await _off_here(server, uri) if uri else "")


def _register_switches(server: "CompletionServer") -> None:
    @server.command(SNOOZE)
    def snooze(*given: Any) -> dict[str, Any]:
        server.session.snooze(_checked(_first(given, _SNOOZE_MINUTES), int, float))
        return payload(server.session.status)

    @server.command(TOGGLE)
    def toggle(*given: Any) -> dict[str, Any]:
        server.session.toggle()
        return payload(server.session.status)

    @server.command(TOGGLE_LANGUAGE)
    def toggle_language(*given: Any) -> dict[str, Any]:
        server.session.toggle_language(_checked(_first(given, None), str))
        return {**payload(server.session.status), "disabledLanguages": list(server.session.settings.disabled_languages)}


def _register_reports(server: "CompletionServer") -> None:
    @server.command(STATS)
    async def stats(*given: Any) -> Any:
        return await asyncio.to_thread(_stats, _checked(_first(given, "json"), str))

    @server.command(AUDIT)
    async def audit(*given: Any) -> dict[str, Any]:
        return await asyncio.to_thread(_audit, _count(_first(given, _NUM_SENT)))


def id_in(given: Sequence[Any]) -> Hex:
    """Of the suggestion that a command, or an item's, is about. Raises JsonRpcInvalidParams."""
    try:
        return Hex(_checked(_first(given, None), str))
    except ValueError as error:
        raise JsonRpcInvalidParams(message=str(error)) from error


async def _off_here(server: "CompletionServer", uri: str, params: Any = None) -> str:
    """Why there are no suggestions in a document, or at the position in it that the parameters have, if any."""
    document = server.documents.get(uri)
    if not uris.is_served(uri):
        return "not a file"
    if document is None:
        return "not open"
    return await server.session.off_here(document, offset_in(document, params, server.encoding))


def _stats(form: str) -> Any:
    """As JSON, or as the text of an HTML page."""
    with EventStore(state_folder() / FILE) as store:
        figures = report(store.since(0.0), None)
    if form == "html":
        return page(figures, "Suggestions", "")
    return {name: asdict(one) for name, one in figures.items()}


def _audit(last: int) -> dict[str, Any]:
    try:
        entries, _ = audit_file.read(path_of_audit())
    except OSError:
        entries = []
    return {"requests": [audit_file.as_row(entry) for entry in entries[-last:]]}


def _first(given: Sequence[Any], otherwise: Any) -> Any:
    """The first argument of a command. Some editors send none, and some more than are asked for."""
    return given[0] if given else otherwise


def _count(last: Any) -> int:
    """How many of the last are wanted; all for nothing, or for what is no such number."""
    is_count = isinstance(last, int) and not isinstance(last, bool) and last > 0
    return last if is_count else NUM_RECORDS


def _checked(value: Any, *kinds: Callable[..., Any]) -> Any:
    """An argument of a command. Raises JsonRpcInvalidParams."""
    if not isinstance(value, kinds) or isinstance(value, bool):  # type: ignore[arg-type]
        raise JsonRpcInvalidParams(message=f"not {' or '.join(kind.__name__ for kind in kinds)}")
    return value
