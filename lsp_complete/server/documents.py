"""The open documents, as the editor has them. A change makes a new `Document`; a handler's snapshot stays as it is."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

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

    def __iter__(self) -> Iterator[Document]:
        return iter(self._documents.values())

    def open(self, item: types.TextDocumentItem, roots: Iterable[str]) -> Document:
        document = self._documents[uris.key(item.uri)] = Document(
            item.uri,
            item.text.removeprefix(_BOM),
            uris.relative_path(item.uri, roots),
            item.language_id,
            item.version,
            uris.file_path(item.uri),
        )
        return document

    def change(
        self,
        identifier: types.VersionedTextDocumentIdentifier,
        changes: Sequence[types.TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) -> list[Document]:
        """The document before the first change, and after each of them."""
        document = self.get(identifier.uri)
        if document is None:
            _log.debug("a change to a document that is not open")
            return []
        steps = [document]
        for change in changes:
            steps.append(_changed(steps[-1], change, identifier.version, encoding))
        self._documents[uris.key(identifier.uri)] = steps[-1]
        return steps

    def rebase(self, roots: Sequence[str]) -> None:
        """The workspace has other folders now, and so the documents other paths."""
        for key, document in self._documents.items():
            self._documents[key] = replace(document, path=uris.relative_path(document.uri, roots))

    def close(self, uri: str) -> Document | None:
        return self._documents.pop(uris.key(uri), None)

    def rename(self, old: str, new: str, roots: Sequence[str]) -> list[tuple[Document, Document]]:
        """A file, or a folder with all in it, has another URI. Gives the open ones as they were and as they are."""
        before = [(key, document) for key, document in self._documents.items() if uris.is_in(key, uris.key(old))]
        moved = []
        for key, document in before:
            uri = new.rstrip("/") + quote(key[len(uris.key(old).rstrip("/")) :])
            path, file = uris.relative_path(uri, roots), uris.file_path(uri)
            moved.append((document, replace(document, uri=uri, path=path, file=file)))
            del self._documents[key]
        self._documents |= {uris.key(after.uri): after for _, after in moved}
        return moved


def _changed(
    document: Document, change: types.TextDocumentContentChangeEvent, version: int, encoding: Encoding
) -> Document:
    text = change.text.removeprefix(_BOM)
    if isinstance(change, types.TextDocumentContentChangePartial):
        start = offset_at(document, change.range.start.line, change.range.start.character, encoding)
        end = offset_at(document, change.range.end.line, change.range.end.character, encoding)
        text = document.text[:start] + change.text + document.text[max(start, end) :]
    return replace(document, text=text, version=version)


def offset_in(document: Document, params: Any, encoding: Encoding) -> int | None:
    """Of the position in parameters that LSP does not define, if they have one."""
    position = getattr(params, "position", None)
    line, character = getattr(position, "line", None), getattr(position, "character", None)
    if not (isinstance(line, int) and isinstance(character, int) and line >= 0 and character >= 0):
        return None
    return offset_at(document, line, character, encoding)
