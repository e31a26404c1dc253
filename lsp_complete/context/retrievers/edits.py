"""What the user has just changed in other files, as plain code: the new lines with a few around."""

from lsp_complete.context.edits import Hunk
from lsp_complete.context.index import Index
from lsp_complete.context.snippets import Question, Snippet

# The last few say what is going on; the ones before are history.
_MAX_HUNKS = 4


def edits(question: Question, index: Index) -> list[Snippet]:
    """The latest first. One counts as long as its text stands in its file, saved or open: not what was thrown away with
    a tab, or undone by another program."""
    hunks = (hunk for hunk in question.edits if hunk.changed in (index.read(hunk.path) or ""))
    return [_snippet(hunk) for hunk, _ in zip(hunks, range(_MAX_HUNKS), strict=False)]


def _snippet(hunk: Hunk) -> Snippet:
    return Snippet(hunk.path, hunk.text, "edits", "changed just now", f"{hunk.path}#edit{hunk.number}")
