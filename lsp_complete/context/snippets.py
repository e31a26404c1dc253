"""What retrievers answer with, and the question that they are asked."""

from dataclasses import dataclass, field

from lsp_complete.text.document import Document
from lsp_complete.text.symbols import Import, Symbols


@dataclass(frozen=True, slots=True)
class Snippet:
    """Some lines of another file, or the headers of what is defined there. `source` names the retriever, `reason` says
    for people why it is here; `key` is the same for the same piece of code, whatever its text is by now."""

    path: str
    text: str
    source: str
    reason: str
    key: str


@dataclass(frozen=True, slots=True)
class Question:
    """A cursor in a document. `path` is relative to the index's root, `names` are the identifiers around the cursor,
    the nearest first; `imported` are its imports that mean a file of the repository, with that file's path; `recent` are
    the paths of open and recently viewed files, the latest first."""

    document: Document
    offset: int
    path: str
    names: tuple[str, ...]
    symbols: Symbols = field(default_factory=lambda: Symbols((), (), ()))
    imported: tuple[tuple[Import, str], ...] = ()
    recent: tuple[str, ...] = ()
