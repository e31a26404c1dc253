"""What becomes of suggestions in the open documents: told as events, for any editor.

Each document has one suggestion at a time that is open, some that ended a moment ago (life.py), and texts that were
accepted (retention.py). Everything is read off the documents as they change; what an editor says only confirms. Time
comes from outside. Nothing is kept of a document that is closed.
"""

from collections import deque
from dataclasses import dataclass, field, replace

from rapidfuzz.distance import Prefix

from lsp_complete.completion import habits, life, retention
from lsp_complete.completion.habits import Habits
from lsp_complete.completion.life import Life, State, Stroke
from lsp_complete.completion.retention import Kept
from lsp_complete.completion.reuse import Suggestion, remaining
from lsp_complete.context.edits import Edit, edit_between
from lsp_complete.protocol.events import Accepted, After, Event, Hex, How, Rejected, Rejection, Shown
from lsp_complete.text.document import Document

# An acceptance that is undone by then was a slip.
_UNDONE_S = 15.0
# Who has written or deleted something in the place of a suggestion does not want it there for a while.
_MINDED = {Rejection.OTHER_TEXT, Rejection.DELETED, Rejection.DISMISSED}
_MINDED_S = 30.0
# Acceptances whose command may still come.
_NUM_TOLD = 16
# As many of the last suggestions tell how often the user accepts.
_NUM_VERDICTS = 8
# Accepted texts of one document that are followed: more than anybody accepts in ten minutes.
_MAX_KEPT = 200


@dataclass(slots=True)
class _File:
    document: Document
    changed_s: float
    open: Life | None = None
    ending: list[tuple[Life, Kept]] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)


class Outcomes:
    """Hears what happens to the documents, and answers with what there is to tell. `num_rejected` suggestions in a row
    were rejected; `rejected_at` (as trigger.py has places) is where one just was; `has_accepted`: the last one was
    not."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self._habits = Habits()
        self._told: deque[tuple[Hex, ...]] = deque(maxlen=_NUM_TOLD)
        self.num_rejected = 0
        self.has_accepted = False
        self._verdicts: deque[bool] = deque(maxlen=_NUM_VERDICTS)
        self.rejected_at: tuple[str, int, str] | None = None
        self._rejected_s = 0.0

    @property
    def accepted_share(self) -> float:
        """Of the last suggestions; 0 before there are enough to tell."""
        seen = self._verdicts
        return sum(seen) / len(seen) if len(seen) == _NUM_VERDICTS else 0.0

    @property
    def documents(self) -> list[Document]:
        """Those that something is known of."""
        return [file.document for file in self._files.values()]

    def shown(
        self, document: Document, suggestion: Suggestion, told: Shown, now_s: float, num_chosen: int = 0
    ) -> list[Event]:
        """The editor was given a suggestion for the document as it is, of which the first `num_chosen` characters stand
        in its pop-up. What it has on the screen already goes on."""
        file = self._file(document, now_s)
        if file.document.text != document.text:
            return []  # too late: the editor does not show it
        if num_chosen:
            self._habits = replace(self._habits, chooses=True)
        events = self._settled(file, now_s)
        if file.open is not None and _goes_on(file.open, document, suggestion):
            ahead = suggestion.offset - file.open.suggestion.offset
            chosen = ahead + num_chosen if num_chosen else 0
            file.open = replace(file.open, ids=(*file.open.ids, told.request), num_chosen=chosen)
            return [*events, replace(told, is_new=False)]
        self._end(file, _how_left(file.open, document, suggestion.offset) or Rejection.REPLACED, now_s)
        num_typed = _num_standing(document, suggestion) if num_chosen else 0
        file.open = life.born(suggestion, told.request, now_s, num_typed, num_chosen)
        return [*events, told]

    def asked(
        self, document: Document, offset: int, now_s: float, chosen: tuple[int, str] | None = None
    ) -> list[Event]:
        """The editor asks; the cursor is at `offset`. `chosen` is an item of its pop-up, and where that begins."""
        file = self._file(document, now_s)
        if reason := _how_left(file.open, document, offset):
            self._end(file, reason, now_s)
        if chosen:
            self._habits = replace(self._habits, chooses=True)
        if file.open is not None:
            file.open = life.beside(file.open, *(chosen or (0, "")))
        return self._settled(file, now_s)

    def changed(self, before: Document, after: Document, now_s: float, inserted: tuple[str, ...] = ()) -> list[Event]:
        """One message of the editor has made one document of the other. `inserted` are the texts of its changes where
        it lists several."""
        file = self._file(before, now_s)
        if file.document.text != before.text:
            file = self._files[before.uri] = _File(before, now_s)  # a change was not told of: places mean nothing now
        edit = edit_between(before.text, after.text)
        if edit.start == edit.end and not edit.length:
            file.document = after
            return self._settled(file, now_s)
        events = self._follow(file, after, edit, now_s)
        if file.open is not None:
            stroke = self._stroke(file, after, edit, inserted, now_s)
            file.open, told = life.changed(file.open, after, edit, stroke)
            events += self._counted(told)
        else:
            keys = habits.num_keys(inserted or (_inserted(after, edit),))
            self._habits = habits.heard(self._habits, keys, now_s - file.changed_s)
        file.document, file.changed_s = after, now_s
        return [*events, *self._settled(file, now_s)]

    def confirmed(self, request: Hex, how: How, now_s: float) -> list[Event]:
        """The editor has run the item's command, or told of an acceptance. An id that nobody knows is passed over."""
        events: list[Event] = []
        if any(request in ids for ids in self._told):
            self._habits = replace(self._habits, confirms=True)
        for file in self._files.values():
            if file.open is not None and request in file.open.ids:
                if life.is_just_taken(file.open, now_s):
                    self._habits = replace(self._habits, confirms_parts=True)
                file.open, told = life.confirmed(file.open, how, now_s)
                events += self._counted(told)
            for number, (one, kept) in enumerate(file.ending):
                if request in one.ids:
                    file.ending[number] = life.confirmed(one, how, now_s)[0], kept
                    self._habits = replace(self._habits, confirms=True)
            events += self._settled(file, now_s)
        return events

    def dismissed(self, request: Hex, now_s: float) -> list[Event]:
        """The editor says that the user has sent a suggestion away by a key."""
        files = [file for file in self._files.values() if file.open is not None and request in file.open.ids]
        for file in files:
            self._end(file, Rejection.DISMISSED, now_s)
        return [event for file in files for event in self._settled(file, now_s)]

    def saved(self, document: Document, now_s: float) -> list[Event]:
        file = self._file(document, now_s)
        events = self._settled(file, now_s)
        for number, kept in enumerate(file.kept):
            file.kept[number], told = retention.saved(kept, file.document)
            events += told
        return events

    def closed(self, document: Document, now_s: float) -> list[Event]:
        file = self._file(document, now_s)
        self._end(file, Rejection.CLOSED, now_s)
        events = self._settled(file, now_s + life.CONFIRM_S)
        del self._files[document.uri]
        return [*events, *(retention.retained(kept, file.document, After.CLOSE) for kept in file.kept)]

    def tick(self, now_s: float) -> list[Event]:
        """What time alone brings. Once a second is often enough."""
        events: list[Event] = []
        if now_s > self._rejected_s + _MINDED_S:
            self.rejected_at = None
        for file in self._files.values():
            events += self._settled(file, now_s)
            for number, kept in enumerate(file.kept):
                file.kept[number], told = retention.due(kept, file.document, now_s)
                events += told
            file.kept = [kept for kept in file.kept if not kept.is_over]
        return events

    def _file(self, document: Document, now_s: float) -> _File:
        return self._files.setdefault(document.uri, _File(document, now_s))

    def _stroke(self, file: _File, after: Document, edit: Edit, inserted: tuple[str, ...], now_s: float) -> Stroke:
        shown_s = file.open.shown_s if file.open else now_s
        elapsed_s = now_s - max(file.changed_s, shown_s)
        keys = habits.num_keys(inserted or (_inserted(after, edit),))
        would_be_told = self._habits.confirms_parts and keys <= habits.typable(elapsed_s)
        is_typed = would_be_told or _is_overwritten(edit, inserted)
        is_stroke = not is_typed and habits.at_a_stroke(self._habits, keys, elapsed_s)
        return Stroke(now_s, is_stroke, self._habits.chooses)

    def _follow(self, file: _File, after: Document, edit: Edit, now_s: float) -> list[Event]:
        """The accepted texts after an edit. One that is taken away again at once was not wanted."""
        before, events = file.document.text, list[Event]()
        file.ending = [(one, retention.edited(kept, before, after.text, edit)) for one, kept in file.ending]
        for number, kept in enumerate(file.kept):
            now = file.kept[number] = retention.edited(kept, before, after.text, edit)
            if now.start == now.end and kept.start < kept.end and now_s - kept.at_s <= _UNDONE_S:
                events += self._counted([Rejected(kept.request, Rejection.UNDONE)])
        return events

    def _end(self, file: _File, reason: Rejection, now_s: float) -> None:
        if file.open is not None:
            file.open = life.ended(file.open, reason, now_s)
            self._retire(file)

    def _retire(self, file: _File) -> None:
        """A suggestion that has ended gives way; what stands of it is followed from now on."""
        if file.open is not None and file.open.state is not State.OPEN:
            file.ending.append((file.open, _kept(file.open)))
            file.open = None

    def _settled(self, file: _File, now_s: float) -> list[Event]:
        """The verdicts on what has ended, as far as they can be given by now."""
        self._retire(file)
        events, waiting = list[Event](), []
        for one, kept in file.ending:
            said = life.verdict(one, self._habits.confirms, now_s)
            if said is False:
                waiting.append((one, kept))
                continue
            events += [said] if not isinstance(said, bool) else []
            if isinstance(said, Accepted) or said is True:
                file.kept = [*file.kept, kept][-_MAX_KEPT:]
                self._told.append(one.ids)
            if isinstance(said, Rejected) and said.reason in _MINDED:
                self.rejected_at, self._rejected_s = _place(one, file.document), now_s
        file.ending = waiting
        return self._counted(events)

    def _counted(self, events: list[Event]) -> list[Event]:
        for event in events:
            is_rejection = isinstance(event, Rejected)
            self.num_rejected = self.num_rejected + 1 if is_rejection else 0
            self.has_accepted = not is_rejection
            self._verdicts.append(not is_rejection)
        return events


def _goes_on(shown: Life, document: Document, suggestion: Suggestion) -> bool:
    """Whether accepting either gives the same document."""
    left, right = remaining(shown.suggestion, document, suggestion.offset), suggestion.insertion
    if left is None:
        return False
    ends = [suggestion.offset + one.num_replaced for one in (left, right)]
    return left.text + document.text[ends[0] : max(ends)] == right.text + document.text[ends[1] : max(ends)]


def _num_standing(document: Document, suggestion: Suggestion) -> int:
    """How much of what it replaces it begins with: what was typed before a pop-up came."""
    insertion, start = suggestion.insertion, suggestion.offset
    return Prefix.similarity(document.text[start : start + insertion.num_replaced], insertion.text)


def _how_left(shown: Life | None, document: Document, offset: int) -> Rejection | None:
    """How the user left an open suggestion, if the cursor is at `offset`."""
    if shown is None:
        return None
    place = shown.suggestion.offset + shown.num_taken
    return Rejection.MOVED if document.line_at(offset) != document.line_at(place) else None


def _place(rejected: Life, document: Document) -> tuple[str, int, str]:
    before = rejected.suggestion.before
    line = document.line_at(min(rejected.suggestion.offset, len(document.text)))
    return document.uri, line, before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]


def _kept(ended: Life) -> Kept:
    """What stands of it: its accepted part, or all where the editor has yet to say that it was accepted."""
    start = ended.suggestion.offset
    first, last = ended.first_accepted, max(0, ended.num_taken)
    text = ended.text[first:last] if last > first else ended.text[:last]
    end = start + last
    return Kept(ended.ids[0], text, end - len(text), end, ended.ended_s)


def _is_overwritten(edit: Edit, inserted: tuple[str, ...]) -> bool:
    """Whether some of what is listed gave way to the rest: to a word from a pop-up, which is put over its beginning."""
    return sum(map(len, inserted)) > edit.length


def _inserted(document: Document, edit: Edit) -> str:
    return document.text[edit.start : edit.start + edit.length]
