"""The last answer, for as long as the question is the same: while a word is being typed that means nothing yet, a key
changes nothing that retrievers look at. Most keys are such keys, and cost the search for one word instead of all: less
than to send it to a thread.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_complete.context.answers import occurrences
from lsp_complete.context.index import Index
from lsp_complete.context.mixer import Mix
from lsp_complete.context.scope import word_start
from lsp_complete.context.snippets import Question

# Files change under a typist's hands too, so an answer counts for about as long as a word takes.
_FRESH_S = 1.0
# Behind these the next word is asked for, and nothing else is.
_SILENT = " \t=+*/%"
# Shorter names are not looked up until something follows them.
_MIN_WORD = 3


@dataclass(frozen=True, slots=True)
class _Asked:
    """All of a question but the word that is being typed."""

    before: str
    after: str
    elsewhere: tuple[object, ...]


class Recall:
    """Of one workspace."""

    def __init__(self) -> None:
        self._last: tuple[_Asked, str, Mix, float] | None = None

    def find(self, question: Question, indexes: Sequence[Index], now_s: float) -> Mix | None:
        """The last answer, if a key was typed since then and changed nothing. A question that is put twice is asked
        twice."""
        if self._last is None:
            return None
        asked, text, mix, asked_s = self._last
        is_same = now_s - asked_s <= _FRESH_S and question.document.text != text and _asked(question) == asked
        return mix if is_same and not _is_known(question, indexes) else None

    def keep(self, question: Question, mix: Mix, now_s: float) -> None:
        """An answer that is not whole is none to keep."""
        self._last = None if mix.late else (_asked(question), question.document.text, mix, now_s)

    def forget(self) -> None:
        self._last = None


def _asked(question: Question) -> _Asked:
    text, start = question.document.text, word_start(question.document.text, question.offset)
    hunks = tuple(one for one in question.edits if one.path != question.path)
    elsewhere = (question.path, question.recent, hunks, question.together)
    return _Asked(text[:start].rstrip(_SILENT), text[question.offset :], elsewhere)


def _is_known(question: Question, indexes: Sequence[Index]) -> bool:
    """Whether the word that is being typed stands elsewhere in the document, or is the name of something."""
    text, start, end = question.document.text, word_start(question.document.text, question.offset), question.offset
    word = text[start:end]
    if len(word) < _MIN_WORD:
        return False
    elsewhere = text[:start] + "\n" + text[end:]
    return bool(occurrences(word, "", elsewhere, 1)) or any(index.is_defined(word) for index in indexes)
