"""The open documents, as the editor has them. A change makes a new `Document`; a handler's snapshot stays as it is."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lsprotocol import types

from lsp_complete.server import uris
from lsp_complete.text.document import Document
from lsp_complete.text.positions import Encoding, offset_at

_log = logging.getLogger(__name__)

# It marks an encoding and is no character of the text, nor of a column.
_BOM = "\ufeff"


class Documents:
    """Keyed by URI, whatever its spelling. Never raises on what a client sends."""

    def __init__(self) -> None:
        self._documents: dict[str, Document] = {}

    def get(self, uri: str) -> Document | None:
        return self._documents.get(uris.key(uri))

    def open(self, item: types.TextDocumentItem, roots: Iterable[str]) -> None:
        self._documents[uris.key(item.uri)] = Document(
            item.uri,
            item.text.removeprefix(_BOM),
            uris.relative_path(item.uri, roots),
            item.language_id,
            item.version,
            uris.file_path(item.uri),
        )

    def change(
        self,
        identifier: types.VersionedTextDocumentIdentifier,
        changes: Sequence[types.TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> None:
        document = self.get(identifier.uri)
        if document is None:
            _log.debug("a change to a document that is not open")
            return
        for change in changes:
            document = _changed(document, change, identifier.version, encoding)
        self._documents[uris.key(identifier.uri)] = document

    def rebase(self, roots: Sequence[str]) -> None:
        """The workspace has other folders now, and so the documents other paths."""
        for key, document in self._documents.items():
            self._documents[key] = replace(document, path=uris.relative_path(document.uri, roots))

    def close(self, uri: str) -> None:
        self._documents.pop(uris.key(uri), None)


def _changed(
    document: Document, change: types.TextDocumentContentChangeEvent, version: int, encoding: Encoding
) -> Document:
    text = change.text.removeprefix(_BOM)
    if isinstance(change, types.TextDocumentContentChangePartial):
        start = offset_at(document, change.range.start.line, change.range.start.character, encoding)
        end = offset_at(document, change.range.end.line, change.range.end.character, encoding)
        text = document.text[:start] + change.text + document.text[max(start, end) :]
    return replace(document, text=text, version=version)
