"""The last answer, for as long as the question is the same: while a word is being typed that means nothing yet, a key
changes nothing that retrievers look at. Most keys are such keys, and cost the search for one word instead of all.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsp_complete.context.index import Index
from lsp_complete.context.mixer import Mix
from lsp_complete.context.scope import word_start
from lsp_complete.context.snippets import Question

# Files change under a typist's hands too, so an answer counts for about as long as a word takes.
_FRESH_S = 1.0
# Behind these the next word is asked for, and nothing else is.
_SILENT = " \t=+*/%"


@dataclass(frozen=True, slots=True)
class _Asked:
    """All of a question but the word that is being typed."""

    before: str
    after: str
    elsewhere: tuple[object, ...]


class Recall:
    """Of one workspace. For any number of threads: what is remembered is replaced at once."""

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
    if start == end:
        return False
    whole = re.compile(rf"(?<!\w){re.escape(text[start:end])}(?!\w)")
    is_here = whole.search(text, 0, start) or whole.search(text, end)
    return bool(is_here) or any(index.definitions(text[start:end]) for index in indexes)
