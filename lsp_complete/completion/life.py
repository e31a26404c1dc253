"""The life of one suggestion, from being shown to being accepted, typed or left. Pure functions of a given time.

    OPEN ──── typed, accepted in part, deleted again ────┐
     │ ▲                                                 │
     │ └─────────────────────────────────────────────────┘
     ├──▶ WHOLE   all of it stands in the document      ──▶ accepted, or typed through
     └──▶ GONE    the document says something else now  ──▶ rejected, unless a part of it was accepted

Read off the texts alone, so that it works with any editor; what an editor says of itself (`confirmed`) is believed over
that, and never counted beside it. So a suggestion that has ended waits a moment for what the editor may have to say.
Knows no document but the suggestion's own, and does not remember what was accepted (retention.py).
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from rapidfuzz.distance import Prefix

from lsp_complete.completion.retention import slid
from lsp_complete.completion.reuse import Suggestion, remaining, suggestion_at
from lsp_complete.context.edits import Edit
from lsp_complete.protocol.events import Accepted, Event, Hex, How, Part, Rejected, Rejection, TypedThrough
from lsp_complete.text.document import Document

# An editor runs the command right after the change, or right before it; a busy one takes its time.
CONFIRM_S = 1.0


class State(StrEnum):
    OPEN = "open"
    WHOLE = "whole"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Stroke:
    """A change as it came: when, and whether it was put in at a stroke. `is_chosen_told`: what is chosen in a pop-up
    would have been told of."""

    at_s: float
    is_stroke: bool
    is_chosen_told: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """The last time that more of the suggestion came to stand in the document."""

    stroke: Stroke
    num_gained: int
    is_accepted: bool


@dataclass(frozen=True, slots=True)
class Life:
    """`suggestion` is placed in the document as it is now, of which `tail` characters stand behind the place.
    `num_taken` of its characters stand in the document; typed and accepted ones are counted when they first do. Up to
    `num_chosen` of them are what is chosen in a pop-up."""

    suggestion: Suggestion
    ids: tuple[Hex, ...]
    shown_s: float
    tail: int
    state: State = State.OPEN
    reason: Rejection = Rejection.OTHER_TEXT
    num_taken: int = 0
    num_typed: int = 0
    num_accepted: int = 0
    num_chosen: int = 0
    step: Step | None = None
    confirmed: How | None = None
    confirmed_s: float = 0.0
    ended_s: float = 0.0

    @property
    def text(self) -> str:
        return self.suggestion.insertion.text

    @property
    def first_accepted(self) -> int:
        """Where the accepted text begins in the suggestion's: behind what was typed of it."""
        return min(self.num_typed, len(self.text))


def born(suggestion: Suggestion, request: Hex, now_s: float, num_typed: int = 0, num_chosen: int = 0) -> Life:
    """`num_typed` of its characters stand in the document already."""
    tail = suggestion.length - suggestion.offset - suggestion.insertion.num_replaced
    return Life(suggestion, (request,), now_s, tail, num_taken=num_typed, num_typed=num_typed, num_chosen=num_chosen)


def changed(life: Life, document: Document, edit: Edit, stroke: Stroke) -> tuple[Life, list[Event]]:
    """The document has become this one by the edit."""
    if life.state is not State.OPEN:
        return life, []
    if edit.start == edit.end:
        edit = slid(edit, document.text, len(document.text) - edit.gain - life.tail)
    if moved := _moved(life, document, edit):
        return moved, []
    num_taken = _num_taken(life, document)
    if num_taken is None:
        return ended(life, Rejection.OTHER_TEXT if edit.length else Rejection.DELETED, stroke.at_s), []
    grown = _grown(life, num_taken, stroke, life.num_taken + edit.gain)
    if num_taken == len(life.text):
        return replace(grown, state=State.WHOLE, ended_s=stroke.at_s), []
    return grown, _told(life, grown)


def beside(life: Life, start: int, chosen: str) -> Life:
    """An item of a pop-up that begins at `start` is on the screen, too; an empty one is none."""
    first = start - life.suggestion.offset
    last = first + len(chosen)
    is_same = bool(chosen) and last > 0 and life.text[max(0, first) : last] == chosen[max(0, -first) :]
    return replace(life, num_chosen=last if is_same else 0)


def ended(life: Life, reason: Rejection, now_s: float) -> Life:
    return replace(life, state=State.GONE, reason=reason, ended_s=now_s) if life.state is State.OPEN else life


def confirmed(life: Life, how: How, now_s: float) -> tuple[Life, list[Event]]:
    """The editor says that something was accepted: what came just now, or what will come."""
    if life.state is not State.OPEN:
        return replace(life, confirmed=how, confirmed_s=now_s), []
    if not is_just_taken(life, now_s):
        return replace(life, confirmed=how, confirmed_s=now_s), []
    credited = _credited(life)
    return credited, _told(life, credited, how)


def is_just_taken(life: Life, now_s: float) -> bool:
    """Whether more of it has come to stand in the document a moment ago."""
    return life.step is not None and now_s - life.step.stroke.at_s <= CONFIRM_S


def verdict(life: Life, confirms: bool, now_s: float) -> Event | bool:
    """What became of a suggestion that has ended. True where all is told already, False where it is too early to say.
    `confirms`: this editor tells of acceptances."""
    if life.confirmed and abs(life.ended_s - life.confirmed_s) <= CONFIRM_S:
        num_typed = _credited(life).num_typed
        return Accepted(life.ids[0], Part.WHOLE, life.confirmed, len(life.text) - num_typed)
    if _is_accepted(life, confirms):
        return Accepted(life.ids[0], Part.WHOLE, How.INFERRED, life.num_accepted)
    if now_s < life.ended_s + CONFIRM_S:
        return False
    if _is_told(life):
        return True
    if life.state is State.WHOLE:
        return TypedThrough(life.ids[0], len(life.text))
    return Rejected(life.ids[0], life.reason, life.num_typed, round(life.ended_s - life.shown_s, 3))


def _moved(life: Life, document: Document, edit: Edit) -> Life | None:
    """The same suggestion after an edit elsewhere, its surroundings read again; None for an edit of its own place."""
    suggestion = life.suggestion
    before = suggestion.before
    line_start = suggestion.offset - (len(before) - max(before.rfind("\n"), before.rfind("\r")) - 1)
    is_line = document.text[edit.start : edit.start + edit.length].endswith(("\n", "\r"))
    is_above = edit.end < line_start or (edit.end == line_start < suggestion.offset and is_line)
    if not is_above and edit.start <= len(document.text) - edit.gain - life.tail:
        return None
    offset = suggestion.offset + (edit.gain if is_above else 0)
    tail = life.tail + (0 if is_above else edit.gain)
    num_standing = len(document.text) - tail - offset
    around = suggestion_at(document, offset, replace(suggestion.insertion, num_replaced=max(0, num_standing)))
    placed = replace(around, request_id=suggestion.request_id, insertion=suggestion.insertion)
    length = offset + suggestion.insertion.num_replaced + tail
    return replace(life, suggestion=replace(placed, length=length), tail=tail)


def _num_taken(life: Life, document: Document) -> int | None:
    """How much of the suggestion stands at its place, below 0 where text before it was deleted; None where the document
    no longer goes towards it."""
    start, text = life.suggestion.offset, life.text
    standing = len(document.text) - life.tail - start
    stands = document.text[start : start + max(0, standing)]
    if stands.startswith(text):
        return len(text)
    num_missing = standing - life.suggestion.insertion.num_replaced
    num_taken = num_missing if num_missing < 0 else Prefix.similarity(stands, text)
    return None if remaining(life.suggestion, document, start + num_taken) is None else num_taken


def _grown(life: Life, num_taken: int, stroke: Stroke, num_put: int) -> Life:
    """`num_put` of it are taken by what came; more of it may stand, as the editor has closed it, or less, where
    something else came with it."""
    num_gained = num_taken - life.num_typed - life.num_accepted
    if num_gained <= 0:
        return replace(life, num_taken=num_taken)
    is_confirmed = life.confirmed is not None and stroke.at_s - life.confirmed_s <= CONFIRM_S
    is_its = num_put <= num_taken or num_taken == len(life.text)
    is_put = stroke.is_stroke and is_its and not _is_of_a_pop_up(life, min(num_put, num_taken), stroke)
    step = Step(stroke, num_gained, is_put or is_confirmed)
    counted = "num_accepted" if step.is_accepted else "num_typed"
    return replace(life, num_taken=num_taken, step=step, **{counted: getattr(life, counted) + num_gained})


def _is_of_a_pop_up(life: Life, num_taken: int, stroke: Stroke) -> bool:
    """Whether a part is what a pop-up has: what is chosen in it, as far as that is told, else the end of a word that
    the user had begun to type."""
    if stroke.is_chosen_told or num_taken == life.num_chosen:
        return num_taken == life.num_chosen
    is_part = num_taken < len(life.text)
    begun = is_part and life.step is not None and not life.step.is_accepted and life.num_taken > 0
    word = life.text[max(0, life.num_taken - 1) : num_taken + 1]
    return begun and _is_name(word[:-1]) and not _is_name(word[-1])


def _is_name(text: str) -> bool:
    return text.replace("_", "a").isalnum()


def _credited(life: Life) -> Life:
    """The last step counted as accepted."""
    step = life.step
    if step is None or step.is_accepted:
        return life
    typed, accepted = life.num_typed - step.num_gained, life.num_accepted + step.num_gained
    return replace(life, num_typed=typed, num_accepted=accepted, step=replace(step, is_accepted=True))


def _told(before: Life, after: Life, how: How | None = None) -> list[Event]:
    if after.num_accepted == before.num_accepted:
        return []
    rest = after.text[after.num_taken :]
    taken = after.text[max(0, before.num_taken) : after.num_taken]
    is_line = rest.startswith(("\n", "\r")) or taken.endswith("\n") or "\n" in taken.strip()
    part = Part.LINE if is_line else Part.WORD
    return [Accepted(after.ids[0], part, how or before.confirmed or How.INFERRED, after.num_accepted)]


def _is_accepted(life: Life, confirms: bool) -> bool:
    """Accepted whole, although the editor does not say so, because it never does."""
    return not confirms and life.state is State.WHOLE and life.step is not None and life.step.is_accepted


def _is_told(life: Life) -> bool:
    """Whether a part of it was accepted, and told of, before it ended."""
    is_last_untold = life.state is State.WHOLE and life.step is not None and life.step.is_accepted
    untold = life.step.num_gained if is_last_untold and life.step else 0
    return life.num_accepted > untold
