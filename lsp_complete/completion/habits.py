"""How an editor tells of what its user does, learned from its messages: whether it gathers keys, whether it confirms.

LSP does not say whether a text was typed or put in at a stroke. Some editors send each key, Neovim and coc.nvim what
was typed in 150 ms, Emacs what was typed up to a pause, and some run a suggestion's command once it is accepted. So a
text was put in at a stroke if it is longer than what this editor has been seen to gather. What that gets wrong: a
stroke of one key (of four, where keys are gathered) passes for typing, and so does one behind a pause in an editor that
gathers up to a pause, unless it confirms. Pure functions of a given time.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

# Fast typists reach 50 ms from key to key in bursts.
_KEYS_PER_S = 20
# Neovim and coc.nvim gather keys for 150 ms after a message, and send the first key behind a pause at once. So what
# comes later was not gathered, and no more is typed meanwhile than this.
_GATHERED_S, _NUM_GATHERED = 0.25, 4
# Insertions that are remembered, and how many have to be known before it is believed that keys are not gathered.
_NUM_REMEMBERED, _NUM_ENOUGH = 128, 64
# Two keys in a message are gathered, or the end of a word from a pop-up, which are most often longer.
_PAIR_SHARE = 1 / 50
# Pop-ups and pastes are rarer than this share of the insertions behind a pause.
_LONG_SHARE = 1 / 2
# Editors indent a new line by themselves, and close brackets and quotes.
_ONE_KEY = re.compile(r"[ \t]*(\r\n|\n|\r)[ \t]*|[ \t]+|\"\"|''|``|.", re.DOTALL)
_OPENERS, _CLOSERS = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Habits:
    """`quick` are the keys in each of the last insertions that no suggestion explains and that came right after
    another message, `late` those behind a pause. `confirms`: the editor has told of an acceptance, `confirms_parts`:
    of one in part; `chooses`: of what is chosen in its pop-up."""

    quick: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    confirms: bool = False
    confirms_parts: bool = False
    chooses: bool = False


def num_keys(texts: Sequence[str]) -> int:
    """The keys that the longest of the texts takes: changes that are listed one by one are keys."""
    return max((sum(1 for _ in _ONE_KEY.finditer(_pressed(text))) for text in texts), default=0)


def _pressed(text: str) -> str:
    """Without the brackets at its end that an editor may have closed."""
    most = len(text) - sum(map(text.count, _OPENERS))
    return text[: max(most, len(text.rstrip(_CLOSERS)))]


def heard(habits: Habits, keys: int, elapsed_s: float) -> Habits:
    """An insertion of so many keys, so long after what was heard before it."""
    if not 0 < keys <= typable(elapsed_s):
        return habits
    if elapsed_s <= _GATHERED_S:
        return replace(habits, quick=(*habits.quick, keys)[-_NUM_REMEMBERED:])
    return replace(habits, late=(*habits.late, keys)[-_NUM_REMEMBERED:])


def at_a_stroke(habits: Habits, keys: int, elapsed_s: float) -> bool:
    """Whether an insertion of so many keys was none of typing."""
    return keys > _num_typed(habits, elapsed_s)


def typable(elapsed_s: float) -> float:
    """The keys that a user can have pressed in a while."""
    return 1 + elapsed_s * _KEYS_PER_S


def _num_typed(habits: Habits, elapsed_s: float) -> float:
    """At most so many keys come in one message."""
    if elapsed_s <= _GATHERED_S:
        num_quick = len(habits.quick)
        is_each = num_quick >= _NUM_ENOUGH and habits.quick.count(2) <= num_quick * _PAIR_SHARE
        return 1 if is_each else _NUM_GATHERED
    num_long = sum(keys > _NUM_GATHERED for keys in habits.late)
    return typable(elapsed_s) if num_long > max(1, len(habits.late) * _LONG_SHARE) else 1
