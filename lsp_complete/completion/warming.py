"""When and where to have a prompt computed before anybody asks, so that the first keystroke finds a warm cache.

    the user has come to a document ..... when no other one is opened for a moment, where the cursor is known
    the first change in a document ...... at once, while the pause in typing is waited for
    the same after a long absence ....... likewise: others may have taken the cache
    a pause ............................. where much stands there that no prompt had: a paste, an accepted block, a jump

The prompt is the one that the next question sends, by which the snippets of that one keep their order. Where the cursor
is not known it is taken to be where the document was changed last. In a document that was never touched any guess is
wrong: nothing but snippets stands in the prompt before the text behind the cursor, and those go by the cursor, too.
Time is the event loop's. Knows neither the service nor what a prompt is.
"""

import asyncio
from collections import OrderedDict

from lsp_complete.completion.ahead import Ahead
from lsp_complete.completion.questions import Questions
from lsp_complete.text.document import Document

# An editor that restores its tabs opens one after the other, and who looks for something turns over several.
SETTLE_S = 0.3
# Longer than a pause within a thought; the next key is then some seconds away more often than not.
PAUSE_S = 1.5
# By then a shared service has had others to work for.
ABSENCE_S = 60.0
# Fewer new characters are a few dozen tokens: as soon computed as asked for.
_WORTH_CHARACTERS = 200
# Places of documents that were left; the user comes back to the last few.
_NUM_PLACES = 64


class Warming:
    def __init__(self, ahead: Ahead, questions: Questions) -> None:
        self._ahead, self._questions = ahead, questions
        self._places: OrderedDict[str, int] = OrderedDict()
        self._current, self._changed_s = "", 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._wanted: tuple[Document, int] | None = None

    def arrived(self, document: Document, offset: int | None = None) -> None:
        """The user has come to a document; `offset` is the cursor, if somebody knows it."""
        place = self._places.get(document.uri) if offset is None else offset
        self._later(SETTLE_S, document, place)

    def changed(self, document: Document, offset: int) -> None:
        """A document has become this one; the cursor is most likely at `offset`."""
        now_s = asyncio.get_running_loop().time()
        is_back = document.uri != self._current or now_s - self._changed_s > ABSENCE_S
        self._current, self._changed_s = document.uri, now_s
        self._places[document.uri] = offset
        self._places.move_to_end(document.uri)
        if len(self._places) > _NUM_PLACES:
            self._places.popitem(last=False)
        self._later(0.0 if is_back else PAUSE_S, document, offset)

    def again(self) -> None:
        """The service is there now, with an empty cache: what it could not do before is done."""
        self._questions.forget_last()
        if self._wanted is not None:
            self._later(0.0, *self._wanted)

    def forget(self, uri: str) -> None:
        """The document is closed, or may not leave any more. Its place is remembered."""
        if self._wanted is not None and self._wanted[0].uri == uri:
            self.stop()

    def stop(self) -> None:
        """Somebody asks, or nothing is left to be warmed."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._wanted = None

    def _later(self, delay_s: float, document: Document, offset: int | None) -> None:
        self.stop()
        if offset is not None:
            self._wanted = document, min(offset, len(document.text))
            self._timer = asyncio.get_running_loop().call_later(delay_s, self._warm)

    def _warm(self) -> None:
        if self._wanted is None or self._ahead.is_under_way:
            return
        if self._questions.num_new(*self._wanted) >= _WORTH_CHARACTERS:
            self._ahead.ask(*self._wanted, prefill_only=True)
