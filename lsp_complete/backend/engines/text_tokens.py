"""A `Tokenizer` for models whose own is out of reach: its tokens can be turned back into the text of a prompt.

A token stands for up to three characters, fewer than a model's does on the mean of code (3.6), so a prompt that fits
by this count fits by the model's. A marker is a token of its own, and a marker that stands in a user's text is broken
up, since the other side will look for markers in the prompt.
"""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

_BITS = 21  # of a code point
_MASK = 2**_BITS - 1
_CHARACTERS = 3


class TextTokens:
    """`silent` are markers that the other side adds by itself: they are known, and come out as nothing."""

    def __init__(self, markers: Iterable[str], silent: Iterable[str] = ()) -> None:
        self._markers = [marker for marker in dict.fromkeys(markers) if marker]
        self._silent = set(silent)

    def encode(self, text: str) -> list[int]:
        points = list(memoryview(self._defused(text).encode("utf-32-le", "replace")).cast("I"))
        groups = zip_longest(*(points[i::_CHARACTERS] for i in range(_CHARACTERS)), fillvalue=-1)
        return [sum((point + 1) << (_BITS * i) for i, point in enumerate(group)) for group in groups]

    def marker(self, text: str) -> int | None:
        return -1 - self._markers.index(text) if text in self._markers else None

    def text(self, tokens: Sequence[int]) -> str:
        return "".join(self._marker_text(token) if token < 0 else _characters(token) for token in tokens)

    def _marker_text(self, token: int) -> str:
        marker = self._markers[-1 - token]
        return "" if marker in self._silent else marker

    def _defused(self, text: str) -> str:
        for marker in self._markers:
            text = text.replace(marker, f"{marker[0]} {marker[1:]}")
        return text


def _characters(token: int) -> str:
    text = ""
    while token:
        text += chr((token & _MASK) - 1)
        token >>= _BITS
    return text
