"""What a suggestion is still good for once the document has changed: typed through, typed back, or asked for again.

One rule covers all of it. A suggestion says how a place of the document would read once it is accepted. Wherever the
document agrees with that up to the cursor, what is missing is the suggestion still; else nothing is. So accepting what
is reused gives just what accepting the suggestion would have given, whatever was typed, deleted or closed by the editor
in between.

Pure data. Knows neither who asks nor what answers.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass

from lsp_complete.completion.postprocess import Insertion
from lsp_complete.protocol.events import Rung
from lsp_complete.text.document import Document

# What must be as it was around a suggestion. Farther away a change (by a formatter, say) does not touch the join.
_CHARACTERS_BEFORE = 2000
_LINES_AFTER = 2
_CHARACTERS_AFTER = 400
# A suggestion is a few lines and its surroundings, so this is 5 MB at most.
_MAX_DOCUMENTS = 32
_MAX_SUGGESTIONS = 64


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An insertion at `offset` of a document that is `length` characters long, with what stands `before` and, behind
    what it replaces, `after` it. `ends` says that nothing more stands behind that."""

    request_id: str
    insertion: Insertion
    offset: int
    length: int
    before: str
    after: str
    ends: bool

    @property
    def local(self) -> str:
        """How the place reads once the suggestion is accepted."""
        return self.before + self.insertion.text + self.after


@dataclass(frozen=True, slots=True)
class Reused:
    """What is left of a suggestion, and which rung of the ladder it was found on."""

    suggestion: Suggestion
    insertion: Insertion
    rung: Rung


def suggestion_at(document: Document, offset: int, insertion: Insertion, request_id: str = "") -> Suggestion:
    text = document.text
    start = offset + insertion.num_replaced
    last = min(document.line_at(start) + _LINES_AFTER, len(document.line_starts) - 1)
    end = min(document.line_span(last)[1], start + _CHARACTERS_AFTER)
    before = text[max(0, offset - _CHARACTERS_BEFORE) : offset]
    return Suggestion(request_id, insertion, offset, len(text), before, text[start:end], end == len(text))


def remaining(suggestion: Suggestion, document: Document, offset: int) -> Insertion | None:
    """What is missing at `offset` for the document to read as the suggestion has it. None where nothing is missing, and
    where the document says something else by now."""
    text, num_typed = document.text, offset - suggestion.offset
    place = len(suggestion.before) + num_typed
    missing = len(suggestion.insertion.text) - num_typed
    if (
        missing <= 0
        or place < _line_start(suggestion.before)
        or text[offset - place : offset] != suggestion.local[:place]
    ):
        return None
    wanted = suggestion.local[place:]
    grown = suggestion.length - suggestion.insertion.num_replaced + len(suggestion.insertion.text) - len(text)
    rest = document.line_span(document.line_at(offset))[1] - offset
    for num_replaced in range(rest + 1):
        for num_inserted in (grown + num_replaced, missing):
            is_possible = 0 < num_inserted <= missing
            if is_possible and _follows(suggestion, wanted[num_inserted:], text, offset + num_replaced):
                missing_text, replaced = wanted[:num_inserted], text[offset : offset + num_replaced]
                is_kept = missing_text != replaced and _comes_again(replaced, missing_text)
                return Insertion(missing_text, num_replaced) if is_kept else None
    return None


def _line_start(before: str) -> int:
    """Who deletes more than was typed on the suggestion's line wants something else."""
    return max(before.rfind("\n"), before.rfind("\r")) + 1


def _comes_again(replaced: str, text: str) -> bool:
    """Whether all that is replaced stands in the text too, in its order: nothing the user wrote may get lost, but for
    blanks at the end."""
    letters = iter(text)
    return all(letter in letters for letter in replaced.rstrip())


def _follows(suggestion: Suggestion, wanted: str, text: str, offset: int) -> bool:
    return text.startswith(wanted, offset) and (not suggestion.ends or offset + len(wanted) == len(text))


class Recent:
    """The last suggestions of each document, the newest first."""

    def __init__(self) -> None:
        self._documents: OrderedDict[str, deque[Suggestion]] = OrderedDict()

    def add(self, uri: str, suggestion: Suggestion) -> None:
        self._documents.setdefault(uri, deque(maxlen=_MAX_SUGGESTIONS)).appendleft(suggestion)
        self._documents.move_to_end(uri)
        if len(self._documents) > _MAX_DOCUMENTS:
            self._documents.popitem(last=False)

    def find(self, document: Document, offset: int) -> Reused | None:
        """The newest suggestion that still has something to say at `offset`."""
        for number, suggestion in enumerate(self._documents.get(document.uri, ())):
            insertion = remaining(suggestion, document, offset)
            if insertion is not None:
                return Reused(suggestion, insertion, _rung(number, offset - suggestion.offset))
        return None

    def forget(self, uri: str) -> None:
        self._documents.pop(uri, None)

    def forget_others(self, uri: str) -> None:
        """This document has changed, and suggestions of the others do not know of it."""
        if self._documents.keys() - {uri}:
            self._documents = OrderedDict((one, kept) for one, kept in self._documents.items() if one == uri)


def _rung(number: int, num_typed: int) -> Rung:
    if number:
        return Rung.CACHED
    return Rung.TYPED_THROUGH if num_typed >= 0 else Rung.BACKSPACED
