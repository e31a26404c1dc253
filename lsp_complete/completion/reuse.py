"""What a suggestion is still good for once the document has changed: typed through, typed back, or asked for again.

One rule covers all of it. A suggestion says how a place of the document would read once it is accepted. Wherever the
document agrees with that up to the cursor, what is missing is the suggestion still; else nothing is. So accepting what
is reused gives just what accepting the suggestion would have given, whatever was typed, deleted or closed by the editor
in between.

Pure data. Knows neither who asks nor what answers.
"""

import sys
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from rapidfuzz.distance import Postfix

from lsp_complete.completion.brackets import scan, scan_behind
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
# More characters to replace than any line has.
_NOWHERE = sys.maxsize, 0


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

    def is_typed_through(self, offset: int) -> bool:
        return self.rung is Rung.TYPED_THROUGH and offset > self.suggestion.offset


def suggestion_at(document: Document, offset: int, insertion: Insertion, request_id: str = "") -> Suggestion:
    text = document.text
    start = offset + insertion.num_replaced
    last = document.line_at(start) + _LINES_AFTER
    end = min(document.line_span(last)[1], start + _CHARACTERS_AFTER)
    before = text[max(0, offset - _CHARACTERS_BEFORE) : offset]
    return Suggestion(request_id, insertion, offset, len(text), before, text[start:end], end == len(text))


def remaining(suggestion: Suggestion, document: Document, offset: int) -> Insertion | None:
    """What is missing at `offset` for the document to read as the suggestion has it, and right behind it any brackets
    that the editor has closed and the suggestion has not. None where nothing is missing, and where the document says
    something else by now."""
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
    fits = _at_the_end(suggestion, wanted, missing, document, offset), _before(suggestion, missing, document, offset)
    num_replaced, num_inserted = min(fits)
    if num_replaced > document.line_span(document.line_at(offset))[1] - offset:
        return None
    missing_text, replaced = wanted[:num_inserted], text[offset : offset + num_replaced]
    before = suggestion.local[_line_start(suggestion.before) : place]
    num_replaced = _num_replaced(replaced, before, num_typed, missing_text)
    return Insertion(missing_text, num_replaced) if num_replaced >= 0 and missing_text != replaced else None


def _at_the_end(suggestion: Suggestion, wanted: str, missing: int, document: Document, offset: int) -> tuple[int, int]:
    """How few characters give way to how many of `wanted`, so that the document comes to be as long as it should and
    the rest of `wanted` stands behind them. Compared from its end, in C: lines may be long."""
    text = document.text
    grown = suggestion.length - suggestion.insertion.num_replaced + len(suggestion.insertion.text) - len(text)
    end = offset - grown + len(wanted)
    if end > len(text) or (suggestion.ends and end != len(text)):
        return _NOWHERE
    num_standing = Postfix.similarity(wanted, text[max(offset, offset - grown) : end])
    num_inserted = max(1, grown, len(wanted) - num_standing)
    return (num_inserted - grown, num_inserted) if num_inserted <= missing else _NOWHERE


def _before(suggestion: Suggestion, missing: int, document: Document, offset: int) -> tuple[int, int]:
    """How few characters give way to all that is `missing`, so that what comes after it stands behind them."""
    text, after = document.text, suggestion.after
    if suggestion.ends:
        at = len(text) - len(after)
        return (at - offset, missing) if at >= offset and text.endswith(after) else _NOWHERE
    at = text.find(after, offset, document.line_span(document.line_at(offset))[1] + len(after))
    return (at - offset, missing) if at >= 0 else _NOWHERE


def _line_start(before: str) -> int:
    """Who deletes more than was typed on the suggestion's line wants something else."""
    return max(before.rfind("\n"), before.rfind("\r")) + 1


def _num_replaced(replaced: str, before: str, num_typed: int, text: str) -> int:
    """How much of what the text should take the place of does so: what stands in the text too, in its order, brackets
    only where it closes them itself. Those at the end that it does not the editor has put behind ones that were typed,
    at the end of `before`: they stay. Negative where something else that the user wrote would get lost, but for blanks
    at the end."""
    if not replaced:
        return 0
    closed = "".join(text[index] for index in scan_behind(before, text).surplus)
    surplus = scan(replaced).surplus

    def comes_again(num: int) -> bool:
        closing = "".join(replaced[index] for index in surplus if index < num)
        return _in_order(replaced[:num].rstrip(), text) and _in_order(closing, closed)

    num = next(filter(comes_again, range(len(replaced), -1, -1)))
    num_kept = sum(index >= num for index in surplus)
    num_opened = sum(index >= len(before) - num_typed for index in scan(before).opened)
    return num if num_kept == len(replaced) - num <= num_opened else -1


def _in_order(letters: str, text: str) -> bool:
    at = 0
    for letter in letters:
        at = text.find(letter, at) + 1
        if not at:
            return False
    return True


class Recent:
    """The last suggestions of each document, the newest first, and which of them was given to the editor last."""

    def __init__(self) -> None:
        self._documents: OrderedDict[str, deque[Suggestion]] = OrderedDict()
        self._given: dict[str, Suggestion] = {}
        self._aged: OrderedDict[str, deque[Suggestion]] = OrderedDict()

    def add(self, uri: str, suggestion: Suggestion) -> None:
        self._documents.setdefault(uri, deque(maxlen=_MAX_SUGGESTIONS)).appendleft(suggestion)
        self._documents.move_to_end(uri)
        if len(self._documents) > _MAX_DOCUMENTS:
            self._given.pop(self._documents.popitem(last=False)[0], None)

    def give(self, uri: str, suggestion: Suggestion) -> None:
        """The editor shows it from now on."""
        self._given[uri] = suggestion

    def find(self, document: Document, offset: int) -> Reused | None:
        """The newest suggestion that still has something to say at `offset`; but what is on the screen stays there,
        whatever has been asked since."""
        given = [self._given[document.uri]] if document.uri in self._given else []
        for number, suggestion in enumerate(chain(given, self._documents.get(document.uri, ()))):
            insertion = remaining(suggestion, document, offset)
            if insertion is not None:
                return Reused(suggestion, insertion, _rung(number, offset - suggestion.offset))
        return None

    def all_of(self, uri: str) -> Iterator[Suggestion]:
        """Those of a document, aged ones too: good for a guess at what the next one says."""
        return chain(self._documents.get(uri, ()), self._aged.get(uri, ()))

    def forget(self, uri: str) -> None:
        for known in (self._documents, self._given, self._aged):
            known.pop(uri, None)

    def forget_others(self, uri: str) -> None:
        """This document has changed, and suggestions of the others do not know of it: they have aged. Its own stay good
        for as long as their places are as they were, wherever else it changes: formatters and imports do that."""
        for other in self._documents.keys() - {uri}:
            self._age(other)

    def forget_all(self) -> None:
        """Another model answers now."""
        for uri in list(self._documents):
            self._age(uri)

    def _age(self, uri: str) -> None:
        self._given.pop(uri, None)
        self._aged[uri] = self._documents.pop(uri)
        self._aged.move_to_end(uri)
        if len(self._aged) > _MAX_DOCUMENTS:
            self._aged.popitem(last=False)


def _rung(number: int, num_typed: int) -> Rung:
    if number:
        return Rung.CACHED
    return Rung.TYPED_THROUGH if num_typed >= 0 else Rung.BACKSPACED
