"""What the model most likely writes at a place: the rest of an earlier suggestion there, which has aged or which the
user has left by some words. An engine that checks drafts reads it in one pass, where it would write it token by token.

Pure, and only a guess: a wrong draft costs a pass, and never changes the text. Knows no model.
"""

import re
from collections.abc import Iterable

from lsp_complete.completion.credentials import brings_credential
from lsp_complete.completion.reuse import Suggestion
from lsp_complete.text.document import Document, normalize_eol

_PIECES = re.compile(r"\w+|[^\S\n]+|\n|[^\w\s]")
# Who has typed more than a line has left the suggestion for good, and in as much of it as that the way back is found.
_MAX_PIECES = 40
# Of what was typed, so much may be something else than the suggestion has.
_MAX_CHANGED_SHARE = 0.5


def draft_at(suggestions: Iterable[Suggestion], document: Document, offset: int) -> str:
    """The rest of the first that has one at `offset`, with LF alone; "" where none has. A credential is never sent."""
    rests = (rest_of(suggestion, document, offset) for suggestion in suggestions)
    draft = next(filter(None, rests), "")
    return "" if brings_credential(document, offset, draft) else draft


def rest_of(suggestion: Suggestion, document: Document, offset: int) -> str:
    """What the suggestion says behind the words that stand in its place, some of them others than it has."""
    start, before = suggestion.offset, suggestion.before
    if offset < start or document.text[max(0, start - len(before)) : start] != before:
        return ""
    typed, said = (_pieces(text) for text in (document.text[start:offset], suggestion.insertion.text))
    if len(typed) > _MAX_PIECES or "\n" in typed:
        return ""
    rest = _behind(typed, said)
    return rest if re.search(r"\w", rest) else ""


def _behind(typed: list[str], said: list[str]) -> str:
    """What is said behind the part that is nearest to what was typed, counted in pieces changed, added and left out.
    Of two the longer one; of a word whose beginning was typed, the rest."""
    near = said[: 2 * _MAX_PIECES]
    before, costs = list[int](), list(range(len(near) + 1))
    for number, piece in enumerate(typed, start=1):
        before, costs = costs, [number]
        for place, other in enumerate(near):
            is_same = piece == other or (number == len(typed) and other.startswith(piece))
            costs.append(min(before[place] + (not is_same), before[place + 1] + 1, costs[place] + 1))
    end = min(range(len(costs)), key=lambda place: (costs[place], -place))
    if costs[end] > _MAX_CHANGED_SHARE * len(typed):
        return ""
    is_begun = bool(typed and end) and said[end - 1].startswith(typed[-1]) and before[end - 1] == costs[end]
    begun = said[end - 1][len(typed[-1]) :] if is_begun else ""
    return begun + "".join(said[end:])


def _pieces(text: str) -> list[str]:
    return _PIECES.findall(normalize_eol(text))
