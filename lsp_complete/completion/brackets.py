"""Which bracket or quote of a text closes which.

A scan of characters, not a parser: quotes that pair up on one line hide what stands between them, a comment counts as
code, and a bracket of the wrong kind closes nothing.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

_QUOTE = re.compile("[\"'`]")
_CLOSED = {quote: re.compile(rf"{quote}(?:\\.|[^{quote}\\\n])*{quote}") for quote in "\"'`"}
_OPENERS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Brackets:
    """`partners` maps the offset of what closes to that of what it closes; the others have no partner."""

    partners: dict[int, int]
    opened: tuple[int, ...]
    surplus: tuple[int, ...]


def scan(text: str) -> Brackets:
    spans = list(_quoted(text))
    return _paired(_hidden(text, spans), {end - 1: start for start, end in spans})


def scan_behind(before: str, text: str) -> Brackets:
    """The brackets of `text` alone, with offsets in it, and quotes as they pair up from `before` on. A string that
    begins in `before` hides nothing."""
    spans = ((start - len(before), end - len(before)) for start, end in _quoted(before + text))
    return _paired(_hidden(text, [span for span in spans if span[0] >= 0]), {})


def _paired(text: str, partners: dict[int, int]) -> Brackets:
    stack: list[int] = []
    surplus: list[int] = []
    for index, char in enumerate(text):
        if char in "([{":
            stack.append(index)
        elif char in _OPENERS:
            if stack and text[stack[-1]] == _OPENERS[char]:
                partners[index] = stack.pop()
            else:
                surplus.append(index)
    return Brackets(partners, tuple(stack), tuple(surplus))


def masked(text: str) -> str:
    """The text with what stands in quotes made unrecognisable, character by character."""
    return _hidden(text, _quoted(text))


def _hidden(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], "_" * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    """Spans from a quote to the one that closes it on its line. Linear: where one is not closed, neither is a later one
    of its kind on that line, because all that follow are escaped."""
    unclosed_until = dict.fromkeys(_CLOSED, 0)
    position = 0
    while match := _QUOTE.search(text, position):
        start, quote, position = match.start(), match.group(), match.end()
        if start < unclosed_until[quote]:
            continue
        if closed := _CLOSED[quote].match(text, start):
            position = closed.end()
            yield start, position
        else:
            line_end = text.find("\n", start)
            unclosed_until[quote] = line_end if line_end >= 0 else len(text)


def lacks_closer(text: str, closers: str) -> bool:
    """Does the text open more brackets of one of these kinds than it closes? Counts what is in quotes too."""
    return any(text.count(_OPENERS[char]) > text.count(char) for char in set(closers) if char in _OPENERS)


def unpaired(text: str, closer: str) -> tuple[int, int]:
    """How many brackets of a kind close what is opened before the text, and how many it leaves open; but for what is in
    quotes."""
    steps = (1 if char == closer else -1 for char in masked(text) if char in (closer, _OPENERS[closer]))
    sums = list(accumulate(steps, initial=0))
    return max(sums), max(sums) - sums[-1]


def balance(text: str, closer: str) -> int:
    """How many more brackets of a kind are opened than are closed, in all of the text but what is in quotes."""
    num_closed, num_opened = unpaired(text, closer)
    return num_opened - num_closed


def lacks_quote(line: str) -> bool:
    """Is a quote open at the end of the line?"""
    return bool(_QUOTE.search(masked(line)))
