"""Suggestions as an item of completion menus (`textDocument/completion`), for editors without inline completion.

Off unless the user wants it, and only where the editor knows nothing better. Asks as inline completion does, through
the same pipeline; knows how an item has to look so that it is never in the way of other sources.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lsprotocol import types

from lsp_complete.server import uris
from lsp_complete.text.document import Document
from lsp_complete.text.positions import Encoding, offset_at, position_at

if TYPE_CHECKING:
    from lsp_complete.server.lsp import CompletionServer

# Where other sources open the menu anyway. Behind a blank, a menu of our item alone would take the line end's key.
_TRIGGERS = (".", "(")
# Behind all that other sources have, whatever their order: the last printable character of ASCII.
_LAST = "~"
_DETAIL = "lsp-complete"
# As wide as menus commonly are.
_MAX_LABEL = 60

Suggest = Callable[
    ["CompletionServer", Document, types.InlineCompletionParams], Awaitable[types.InlineCompletionItem | None]
]


def register(server: "CompletionServer", capabilities: types.ClientCapabilities, suggest: Suggest) -> None:
    """While `initialize` is answered: what is not registered by then is not announced."""
    text_document = capabilities.text_document
    has_better = text_document is not None and text_document.inline_completion is not None
    if has_better or not server.session.settings.completion_menu:
        return
    asked: Document | None = None

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=_TRIGGERS))
    async def completion(params: types.CompletionParams) -> types.CompletionList:
        nonlocal asked
        document = server.documents.get(params.text_document.uri)
        if document is None or not uris.is_served(document.uri) or not server.session.settings.completion_menu:
            return types.CompletionList(is_incomplete=False, items=[])
        is_again, asked = asked is document, document
        item = await suggest(server, document, _question(params, is_again))
        found = [item_of(document, params.position, item, server.encoding)] if item else []
        return types.CompletionList(is_incomplete=True, items=found)  # another letter, another suggestion


def item_of(
    document: Document, position: types.Position, item: types.InlineCompletionItem, encoding: Encoding
) -> types.CompletionItem:
    """The word left of the cursor belongs to it: menus compare that with their items, and replace it."""
    offset = offset_at(document, position.line, position.character, encoding)
    start = _word_start(document, offset)
    text = document.text[start:offset] + _text(item)
    end = item.range.end if item.range else position
    first = next((line for line in text.splitlines() if line.strip()), "")
    label = _label(first, text)
    return types.CompletionItem(
        label=label,
        label_details=types.CompletionItemLabelDetails(description=_DETAIL),
        kind=types.CompletionItemKind.Text,
        detail=_DETAIL,
        documentation=None if label == text else text,
        preselect=False,
        sort_text=_LAST,
        filter_text=first,
        insert_text_mode=types.InsertTextMode.AsIs,
        text_edit=types.TextEdit(types.Range(types.Position(*position_at(document, start, encoding)), end), text),
        command=item.command,
    )


def _question(params: types.CompletionParams, is_again: bool) -> types.InlineCompletionParams:
    """Editors call nearly every question invoked. Who asks again where nothing has changed since does it by hand."""
    kinds = types.InlineCompletionTriggerKind
    context = types.InlineCompletionContext(kinds.Invoked if is_again else kinds.Automatic)
    return types.InlineCompletionParams(context, params.text_document, params.position)


def _text(item: types.InlineCompletionItem) -> str:
    return item.insert_text if isinstance(item.insert_text, str) else item.insert_text.value


def _label(first: str, text: str) -> str:
    label = first.strip()
    is_all = label == text.strip() and len(label) <= _MAX_LABEL
    return label if is_all else f"{label[: _MAX_LABEL - 1]}…"


def _word_start(document: Document, offset: int) -> int:
    start, _ = document.line_span(document.line_at(offset))
    while offset > start and (document.text[offset - 1].isalnum() or document.text[offset - 1] == "_"):
        offset -= 1
    return offset
