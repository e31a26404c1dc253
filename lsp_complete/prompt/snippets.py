"""Which snippets a prompt carries, and in which order: the best that fit, where those of the prompt before stay put.

The prefix cache holds the prompt of the keystroke before up to the first difference. So a snippet that was in stays in,
in its place, until a better one gains enough; new ones go behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

# A snippet of the prompt before counts so much more than its score: what replaces it must be clearly better, since all
# that stands behind it is computed anew.
_STAYING_BONUS = 1.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """`size` in characters, header included."""

    key: str
    size: int
    score: float


def choose(candidates: Sequence[Candidate], budget: int, before: Sequence[str] = ()) -> list[Candidate]:
    """Those that fit into `budget` characters, by score; in the order of `before`, the keys of the prompt before, and
    new ones, best first, behind them."""
    place = {key: number for number, key in enumerate(before)}
    ranked = sorted(candidates, key=lambda one: -_worth(one, place))
    chosen: list[Candidate] = []
    for one in ranked:
        if one.size <= budget:
            chosen.append(one)
            budget -= one.size
    return sorted(chosen, key=lambda one: place.get(one.key, len(place)))


def _worth(one: Candidate, place: dict[str, int]) -> float:
    return one.score * (_STAYING_BONUS if one.key in place else 1.0)
