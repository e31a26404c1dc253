"""Which bracket or quote of a text closes which.

A scan of characters, not a parser: quotes that pair up on one line hide what stands between them, a comment counts as
code, and a bracket of the wrong kind closes nothing.
"""

import re
from dataclasses import dataclass

_QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\\n])*`')
_OPENERS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Brackets:
    """`partners` maps the offset of what closes to that of what it closes; the others have no partner."""

    partners: dict[int, int]
    opened: tuple[int, ...]
    surplus: tuple[int, ...]


def scan(text: str) -> Brackets:
    partners = {match.end() - 1: match.start() for match in _QUOTED.finditer(text)}
    stack: list[int] = []
    surplus: list[int] = []
    for index, char in enumerate(masked(text)):
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
    return _QUOTED.sub(lambda match: "_" * len(match.group()), text)


def lacks_closer(text: str, closers: str) -> bool:
    """Does the text open more brackets of one of these kinds than it closes? Counts what is in quotes too."""
    return any(text.count(_OPENERS[char]) > text.count(char) for char in set(closers) if char in _OPENERS)
