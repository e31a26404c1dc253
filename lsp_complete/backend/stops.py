"""Where a stream of text ends: at a control marker that is spelled out in ordinary tokens, at the end of the line,
at the end of the block.

Works on text alone and knows nothing of tokens; the engine stops at marker tokens by itself. Each stop passes on what
is surely before the end and holds back the rest, so the last chunk is never taken back.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from lsp_complete.protocol.completion import CompletionRequest, Finish, Mode

_TAB_COLUMNS = 4
_OPENS_BLOCK = re.compile(r"[:{(\[]\s*$")
_CLOSES_BLOCK = re.compile(r"\s*(?:[)}\]]|end\b)")
_SWITCH, _CASE = re.compile(r"\b(?:switch|select)\b"), re.compile(r"case\b|default\b")
_WORDS = ("case", "default", "end")
# Between two of these lines are indented as they like.
_QUOTES = ('"""', "'''", "`")


class Stop(Protocol):
    """`feed` gives what may be passed on; once `stopped`, nothing more will be. `rest` is what was held back."""

    stopped: bool
    finish: Finish

    def feed(self, text: str) -> str: ...
    def rest(self) -> str: ...


def stops_for(
    request: CompletionRequest, markers: Sequence[str], healed: str = "", end: "Stop | None" = None
) -> list[Stop]:
    """The stops that a request's stream goes through, in this order. `end` takes the place of that of its mode."""
    if end is None:
        end = LineStop() if request.mode is Mode.LINE else BlockStop(request.prefix)
    return [MarkerStop(markers), HealedStart(healed), end]


def feed_all(stops: Sequence[Stop], text: str) -> str:
    for stop in stops:
        text = stop.feed(text)
    return text


def rest_of_all(stops: Sequence[Stop], text: str = "") -> str:
    """What `text`, the last of a stream, and all that is still held back come to."""
    for stop in stops:
        passed = stop.feed(text)
        text = passed + ("" if stop.stopped else stop.rest())
    return text


class MarkerStop:
    """Ends at the first of `markers`. Text that may be the start of one is held back until it is known."""

    finish = Finish.STOP

    def __init__(self, markers: Sequence[str]) -> None:
        self._markers = [marker for marker in markers if marker]
        self._longest = max((len(marker) for marker in self._markers), default=0)
        self._held = ""
        self.stopped = False

    def feed(self, text: str) -> str:
        if self.stopped:
            return ""
        text = self._held + text
        found = [at for at in (text.find(marker) for marker in self._markers) if at >= 0]
        if found:
            self.stopped, self._held = True, ""
            return text[: min(found)]
        cut = len(text) - self._possible_start(text)
        self._held = text[cut:]
        return text[:cut]

    def rest(self) -> str:
        held, self._held = self._held, ""
        return held

    def _possible_start(self, text: str) -> int:
        """Length of the longest end of `text` that some marker begins with."""
        for length in range(min(len(text), self._longest - 1), 0, -1):
            if any(marker.startswith(text[-length:]) for marker in self._markers):
                return length
        return 0


class HealedStart:
    """Never ends anything: takes the healed blank, which the user has typed already, off the start of the text."""

    finish = Finish.STOP
    stopped = False

    def __init__(self, healed: str) -> None:
        self._healed = healed

    def feed(self, text: str) -> str:
        if text and self._healed:
            text, self._healed = text.removeprefix(self._healed), ""
        return text

    def rest(self) -> str:
        return ""


class LineStop:
    """Ends at the first line end behind text that is not blank."""

    finish = Finish.STOP

    def __init__(self) -> None:
        self._seen_text = False
        self.stopped = False

    def feed(self, text: str) -> str:
        if self.stopped:
            return ""
        passed = ""
        for piece in text.splitlines(keepends=True):
            line = piece.rstrip("\r\n")
            self._seen_text = self._seen_text or (not line.isspace() and bool(line))
            if self._seen_text and line != piece:
                self.stopped = True
                return passed + line
            passed += piece
        return passed

    def rest(self) -> str:
        return ""


class BlockStop:
    """Ends before the first line that stands further left than the block which the cursor is in. A line that only
    closes the block (`}`, `end`) is still part of it, and so are a `case` of its `switch` and a string of several
    lines. The line end before a line is held back with it."""

    finish = Finish.BLOCK_END

    def __init__(self, prefix: str) -> None:
        self._opener, self._min_columns, self._closer_columns = _block(prefix)
        self._held, self._passed = "", ""
        self._closing = False
        self.stopped = False

    def feed(self, text: str) -> str:
        if self.stopped:
            return ""
        self._held += text
        passed = ""
        while not self.stopped and (line := self._next_line()) is not None:
            passed += line
            self._passed += line
        return passed

    def rest(self) -> str:
        held, self._held = self._held, ""
        return held if held.strip() else ""

    def _next_line(self) -> str | None:
        """The next stretch of text that is surely in the block; None if more must come first."""
        lead = re.match(r"\s*", self._held)
        start = lead.end() if lead else 0
        if start == len(self._held):
            return None
        if "\n" in self._held[:start] and any(word.startswith(self._held[start:]) for word in _WORDS):
            return None
        if "\n" in self._held[:start] and not self._stays(self._held[:start], self._held[start:]):
            self.stopped, self._held = True, ""
            return None
        end = self._held.find("\n", start)
        end = len(self._held.rstrip()) if end < 0 else len(self._held[:end].rstrip())
        passed, self._held = self._held[:end], self._held[end:]
        return passed

    def _stays(self, lead: str, line: str) -> bool:
        if self._closing:
            return False
        columns = _columns(lead.rpartition("\n")[2])
        if columns >= self._min_columns or any(self._passed.count(quote) % 2 for quote in _QUOTES):
            return True
        if columns == self._closer_columns and _CASE.match(line) and _opens_switch(self._opener):
            return True
        self._closing = columns == self._closer_columns and bool(_CLOSES_BLOCK.match(line))
        return self._closing


def _block(prefix: str) -> tuple[str, int, int]:
    """The line that opened the block, the least indentation of the block's lines, and that of the line which may close
    it, in columns."""
    head, _, current = prefix.rpartition("\n")
    above = next((line for line in reversed(head.split("\n")) if line.strip()), "")
    opener = current if current.strip() else above
    if _OPENS_BLOCK.search(opener):
        return opener, _columns(opener) + 1, _columns(opener)
    return "", _columns(current), -1


def _opens_switch(line: str) -> bool:
    """Two looks, as one pattern for both takes minutes on a line as long as a request may be."""
    return line.rstrip().endswith("{") and bool(_SWITCH.search(line))


def _columns(line: str) -> int:
    expanded = line.expandtabs(_TAB_COLUMNS)
    return len(expanded) - len(expanded.lstrip())
