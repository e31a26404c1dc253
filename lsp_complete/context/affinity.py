"""How well a definition's name goes with the words around the cursor. Knows no index.

`textFromEventDict` goes with `text = log.` below a line that has `eventDict`: of hundreds of names that could be used
next, those that are made of the words at hand come first.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from lsp_complete.context.scope import word_start
from lsp_complete.text.symbols import subwords

# The line itself says most; a dozen lines above it say what the code is about.
_LINE_WEIGHT, _ABOVE_WEIGHT = 3.0, 1.0
_ABOVE_CHARACTERS = 700
_NAME = re.compile(r"[^\W\d]\w{2,}")
_MIN_PART = 3
# What the repository uses everywhere is likely next, too; a word shared with the line says more than any popularity.
_POPULAR_WEIGHT = 0.7
_NO_NAMES: Mapping[str, int] = {}
One = TypeVar("One")


def words_near(text: str, offset: int) -> dict[str, float]:
    """Parts of the names around the cursor with their weight, without the word that is being typed."""
    offset = word_start(text, offset)
    line = text.rfind("\n", 0, offset) + 1
    weights: dict[str, float] = {}
    for start, weight in ((max(0, line - _ABOVE_CHARACTERS), _ABOVE_WEIGHT), (line, _LINE_WEIGHT)):
        end = line if weight == _ABOVE_WEIGHT else offset
        for name in _NAME.findall(text, start, end):
            weights.update(dict.fromkeys(_parts(name), weight))
    return weights


def ranked(
    found: Sequence[One], name: Callable[[One], str], near: dict[str, float], popular: Mapping[str, int] = _NO_NAMES
) -> list[One]:
    """The best first; those with nothing to be said for stay in their order."""
    names = [name(one) for one in found]
    counts = Counter(part for one in names for part in _parts(one) & near.keys())
    scores = [_score(_parts(one), near, counts, len(found)) + _gain(popular.get(one, 0)) for one in names]
    order = sorted(range(len(found)), key=lambda place: -scores[place])
    return [found[place] for place in order]


def _score(parts: frozenset[str], near: dict[str, float], counts: Counter[str], total: int) -> float:
    gain = sum(near[part] * math.log(1 + total / counts[part]) for part in parts & near.keys())
    return gain / math.sqrt(1 + len(parts))


def _gain(num_chunks: int) -> float:
    return _POPULAR_WEIGHT * math.log(1 + num_chunks)


# Names come again with each keystroke, and taking them apart is slow.
@lru_cache(maxsize=50_000)
def _parts(name: str) -> frozenset[str]:
    return frozenset(part for part in subwords(name) if len(part) >= _MIN_PART)
