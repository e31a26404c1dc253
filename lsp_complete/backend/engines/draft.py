"""What a model is likely to write next, for it to check in one pass: what the request expects, or what stood behind the
same tokens before. A wrong guess costs time and never changes the text.

Pure data; knows neither models nor text.
"""

from collections.abc import Sequence

# So many tokens in a row must have stood somewhere before what is guessed. With two, every `self.` and `) -> ` is a
# match; with four, a name that was changed costs too many tokens behind it.
_NGRAM = 3
# Tokens of a guess: after a wrong one at least, at first, and at most. A pass over eight costs a CPU four times one
# over a single token; a GPU computes sixteen in the time of one.
_SHORTEST, _FIRST, _MOST = 2, 8, 16


class Drafter:
    """`expected` is what a request takes to follow its prompt. It is followed token by token, as lines of code begin
    alike; where the text has left it, it is found again further down."""

    def __init__(self, prompt: Sequence[int], expected: Sequence[int] = ()) -> None:
        self._written, self._expected = list(prompt), list(expected)
        self._next, self._agrees = 0, True
        self._behind: dict[tuple[int, ...], int] = {}
        self._limit, self._least = _FIRST, _NGRAM
        self._index(_NGRAM)

    def propose(self, most: int) -> list[int]:
        """Up to `most` tokens."""
        most = min(most, self._limit)
        if self._agrees and self._next < len(self._expected):
            return self._expected[self._next :][: max(0, most)]
        place = self._behind.get(tuple(self._written[-_NGRAM:]), 0)
        if most < 1 or _agreement(self._written[:place], self._written, self._least) < self._least:
            return []
        return self._written[place : place + most]

    def wrote(self, tokens: Sequence[int], num_drafted: int, num_accepted: int) -> None:
        """What was written, and how much of the last guess it was. Right guesses make the next ones longer, wrong ones
        shorter, and after one of which nothing was right a longer match is asked for."""
        start = len(self._written)
        self._written += tokens
        self._index(start)
        self._follow(tokens)
        if not num_drafted:
            return
        if num_accepted == num_drafted:
            self._limit, self._least = min(2 * self._limit, _MOST), _NGRAM
        else:
            self._limit = max(num_accepted, _SHORTEST)
            self._least += not num_accepted

    def _index(self, start: int) -> None:
        for place in range(max(start, _NGRAM), len(self._written)):
            self._behind[tuple(self._written[place - _NGRAM : place])] = place

    def _follow(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            self._agrees = self._agrees and self._expected[self._next : self._next + 1] == [token]
            self._next += self._agrees
        if not self._agrees:
            last, rest = self._written[-_NGRAM:], range(max(self._next, _NGRAM), len(self._expected))
            found = next((place for place in rest if self._expected[place - _NGRAM : place] == last), None)
            self._next, self._agrees = found or self._next, found is not None


def num_agreeing(drafted: Sequence[int], chosen: Sequence[int]) -> int:
    """How many tokens of a draft the model has chosen, too, up to the first that it has not."""
    pairs = zip(drafted, chosen, strict=False)
    return next((i for i, (guess, choice) in enumerate(pairs) if guess != choice), len(drafted))


def _agreement(one: Sequence[int], other: Sequence[int], most: int) -> int:
    """How many tokens the ends of both have in common, counted up to `most`."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if i == most or a != b), min(len(one), len(other)))
