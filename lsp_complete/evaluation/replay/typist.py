"""How people type: a seeded model of intervals, pauses and slips. Knows no editor and no text but the next key.

Intervals between keys are log-normal around the user's own pace. Means, spread and the share of slips are those of
Dhakal, Feit, Kristensson and Oulasvirta, "Observations on typing from 136 million keystrokes" (CHI 2018): 239 ms from
key to key in copied prose, 6.3 corrections in a hundred characters. Programmers stop more, and where they stop is a
choice of ours: at the end of a line, and before a block.
"""

import random
from dataclasses import dataclass
from enum import Enum

# The study's mean of 239 ms has pauses in it; inside of bursts its typists take 0.16 s, and vary by half of that.
_INTERVAL_S, _SPREAD = 0.16, 0.42
# From bigrams inside of words to signs that need a shift or a far finger.
_SIGN_FACTOR, _WORD_START_FACTOR = 1.6, 1.25
# Nobody is faster for long, and what is slower is a pause.
_MIN_S, _MAX_S = 0.045, 1.2
# A slip costs two corrections, a wrong letter and often one behind it, so this is 6.3 % by half.
_SLIP_SHARE = 0.03
# The share of slips that are noticed at once, one key later, and so on.
_NOTICED_AFTER = (0.6, 0.25, 0.1, 0.05)
# Of letters of prose that is copied everything is known beforehand; of code not.
_THOUGHT_SHARE = {"end of line": 0.35, "before block": 0.7, "word": 0.06, "letter": 0.005}
_THOUGHT_S = {"end of line": 1.1, "before block": 2.2, "word": 0.9, "letter": 0.8}
_THOUGHT_SPREAD = 0.7
_MAX_THOUGHT_S = 20.0
# To see that something has appeared and to begin to read takes a quarter of a second, each line of it some more.
_NOTICE_S, _READ_LINE_S, _READ_SPREAD = 0.28, 0.18, 0.35
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


class Moment(Enum):
    """What lies between the last key and the next."""

    LETTER = "letter"
    SIGN = "sign"
    WORD = "word"
    LINE_END = "end of line"
    BLOCK = "before block"


@dataclass(frozen=True, slots=True)
class Slip:
    """A wrong letter, and how many more keys are pressed before it is noticed."""

    key: str
    num_more: int


class Typist:
    def __init__(self, rng: random.Random) -> None:
        self._random = rng
        # People differ by as much as their own keys do (the study's 111 ms around 239 ms), programmers less.
        self._pace = rng.lognormvariate(0.0, 0.2)

    def interval_s(self, moment: Moment) -> float:
        """From one key to the next, thoughts included."""
        factor = {Moment.SIGN: _SIGN_FACTOR, Moment.WORD: _WORD_START_FACTOR}.get(moment, 1.0)
        key_s = _INTERVAL_S * factor * self._pace * self._random.lognormvariate(0.0, _SPREAD)
        return min(_MAX_S, max(_MIN_S, key_s)) + self._thought_s(moment)

    def slip(self, key: str) -> Slip | None:
        """What is typed instead of a letter, now and then: one beside it."""
        row = next((row for row in _KEYBOARD if key.lower() in row), None)
        if row is None or self._random.random() >= _SLIP_SHARE:
            return None
        at = row.index(key.lower())
        beside = row[at - 1] if at and self._random.random() < 0.5 else row[min(at + 1, len(row) - 1)]
        num_more = self._random.choices(range(len(_NOTICED_AFTER)), _NOTICED_AFTER)[0]
        return Slip(beside, num_more) if beside != key.lower() else None

    def notice_s(self, num_lines: int) -> float:
        """From the moment that a text of so many lines is on the screen to an opinion of it."""
        return (_NOTICE_S + _READ_LINE_S * num_lines) * self._random.lognormvariate(0.0, _READ_SPREAD)

    def _thought_s(self, moment: Moment) -> float:
        kind = "letter" if moment is Moment.SIGN else moment.value
        if self._random.random() >= _THOUGHT_SHARE[kind]:
            return 0.0
        return min(_MAX_THOUGHT_S, _THOUGHT_S[kind] * self._random.lognormvariate(0.0, _THOUGHT_SPREAD))
