"""What retrievers answer with, and the question that they are asked."""

from dataclasses import dataclass, field

from lsp_complete.context.edits import Hunk
from lsp_complete.text.document import Document
from lsp_complete.text.symbols import Import, Symbols


@dataclass(frozen=True, slots=True)
class Snippet:
    """Some lines of another file, or the headers of what is defined there. `source` names the retriever, `reason` says
    for people why it is here; `key` is the same for the same piece of code, whatever its text is by now. What passed
    the gate has the absolute path of its `file`, and `num_redacted` credentials are covered in it."""

    path: str
    text: str
    source: str
    reason: str
    key: str
    file: str = ""
    num_redacted: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A cursor in a document. `path` is relative to the index's root, `names` are the identifiers around the cursor,
    the nearest first; `imported` are its imports that mean a file of the repository, with that file's path.

    What the editor tells of other files of the root, all with such paths: `recent` are those open or viewed lately, the
    latest first; `edits` what was changed in them lately, the latest first; `together` those that were changed in turns
    with this one."""

    document: Document
    offset: int
    path: str
    names: tuple[str, ...]
    symbols: Symbols = field(default_factory=lambda: Symbols((), (), ()))
    imported: tuple[tuple[Import, str], ...] = ()
    recent: tuple[str, ...] = ()
    edits: tuple[Hunk, ...] = ()
    together: tuple[str, ...] = ()
