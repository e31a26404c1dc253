"""Which snippets a prompt carries, and in which order: the best that fit, where those of the prompt before stay put.

The prefix cache holds the prompt of the keystroke before up to the first difference, and snippets come first. So while
the same text follows the cursor they are held as they are, until one of the best is missing: then all are chosen anew,
those that stay keep their places, and new ones go behind them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lsp_complete.context.snippets import Snippet

# A snippet of the prompt before counts so much more than its score: what takes its place must be better by two ranks of
# the mixer's. With 1.5, which is all of its ranks, 3 to 7 % of the names that were needed stayed outside.
_STAYING_BONUS = 1.03
# A snippet that is not found again has lost half its score after six questions, some words of typing later, and is not
# chosen again. It may be held for longer.
_KEPT_SHARE = 0.9
_FORGOTTEN_AFTER = 6
# So many of the best are worth computing the prompt anew: lower ranks change with each word. With five up to 2 % more
# of the names that were needed were there, and half as much again was computed.
_NUM_BEST = 2


@dataclass(frozen=True, slots=True)
class Packed:
    """A snippet of a prompt, with the score that it had and how many questions ago that was."""

    snippet: Snippet
    score: float
    num_missed: int = 0

    @property
    def key(self) -> str:
        return self.snippet.key

    @property
    def size(self) -> int:
        """In characters, with its header."""
        return len(self.snippet.path) + len(self.snippet.text) + 2


def choose(
    found: Sequence[Packed], num_characters: int, before: Sequence[Packed] = (), *, hold: bool = False
) -> tuple[Packed, ...]:
    """Those that fit into `num_characters`, in the order of `before`, which is the choice before this one. With `hold`
    that choice stays as it is if none of the best is new or says something else."""
    news = {one.key: one for one in found}
    old = tuple(_seen_again(one, news.get(one.key)) for one in before)
    chosen = _filled(news, [one for one in old if one.num_missed <= _FORGOTTEN_AFTER], num_characters)
    held = {one.key: one for one in old}
    wanted = {one.key for one in _best(found, num_characters) if not _is_said(one, held.get(one.key))}
    is_held = hold and sum(one.size for one in old) <= num_characters and wanted.isdisjoint(one.key for one in chosen)
    return old if is_held else chosen


def _seen_again(old: Packed, new: Packed | None) -> Packed:
    """As it stands in the prompt, with the score that it has by now."""
    return replace(old, num_missed=old.num_missed + 1) if new is None else replace(old, score=new.score, num_missed=0)


def _is_said(new: Packed, old: Packed | None) -> bool:
    """A header with its doc line says nothing else than without it."""
    if old is None:
        return False
    texts = old.snippet.text, new.snippet.text
    return texts[0].startswith(texts[1]) or texts[1].startswith(texts[0])


def _filled(news: Mapping[str, Packed], old: Sequence[Packed], num_characters: int) -> tuple[Packed, ...]:
    place = {one.key: number for number, one in enumerate(old)}
    candidates = {**{one.key: one for one in old}, **news}
    chosen: list[Packed] = []
    for one in sorted(candidates.values(), key=lambda one: -_worth(one, one.key in place)):
        if one.size <= num_characters and not any(repeats(one, other) for other in chosen):
            chosen.append(one)
            num_characters -= one.size
    return tuple(sorted(chosen, key=lambda one: place.get(one.key, len(place))))


def repeats(one: Packed, other: Packed) -> bool:
    """Most of its lines stand in the other one: a window that has moved on by a line."""
    if one.snippet.path != other.snippet.path:
        return False
    lines = set(one.snippet.text.split("\n"))
    return 2 * len(lines.intersection(other.snippet.text.split("\n"))) > len(lines)


def _worth(one: Packed, stays: bool) -> float:
    return one.score * _KEPT_SHARE**one.num_missed * (_STAYING_BONUS if stays else 1.0)


def _best(found: Sequence[Packed], num_characters: int) -> list[Packed]:
    fitting = (one for one in found if one.size <= num_characters)
    return sorted(fitting, key=lambda one: -one.score)[:_NUM_BEST]
