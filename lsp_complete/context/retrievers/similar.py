"""Lines elsewhere that share rare words with those around the cursor."""

from lsp_complete.context.index import Index
from lsp_complete.context.snippets import Question, Snippet

_MAX_SIMILAR = 6


def similar(question: Question, index: Index) -> list[Snippet]:
    """Chunks of lines that share rare words with the lines above the cursor."""
    chunks = index.search(list(question.names), _MAX_SIMILAR, exclude={question.path})
    return [snippet for chunk in chunks if (snippet := _lines(index, chunk.path, chunk.first_line, chunk.end_line))]


def _lines(index: Index, path: str, first: int, end: int) -> Snippet | None:
    text = index.read(path)
    if text is None:
        return None
    lines = text.splitlines()[first:end]
    return Snippet(path, "\n".join(lines), "similar", f"lines {first + 1} to {end}", f"{path}#{first}")
