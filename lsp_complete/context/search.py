"""Ranks chunks of lines by the rare words that they share with a query. Knows no database."""

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

# A word in more chunks than this tells little, and reading all of them would take the time of ten rare words.
COMMON = 128
# Each word costs some 50 µs to look up.
MAX_WORDS = 16
# Where all words are common, a few of them still find something that is better than nothing.
_NUM_COMMON = 4

Key = TypeVar("Key")


def rank(
    words: Iterable[str],
    postings: Callable[[str, int], list[Key]],
    num_chunks: int,
    limit: int,
    common: set[str],
) -> list[tuple[Key, float]]:
    """The best chunks first. `postings(word, limit)` gives the chunks that hold a word; `common` remembers words that
    have too many.

    A chunk's score is the sum of log(1 + N / n) over its words: what BM25 comes to where all chunks are of one length
    and only the presence of a word counts, as here.
    """
    scores: dict[Key, float] = {}
    asked = list(words)
    for word in [word for word in asked if word not in common][:MAX_WORDS]:
        found = postings(word, COMMON + 1)
        if len(found) > COMMON:
            common.add(word)
        else:
            _add(scores, found, num_chunks)
    if not scores:
        for word in asked[:_NUM_COMMON]:
            _add(scores, postings(word, COMMON), num_chunks)
    return sorted(scores.items(), key=lambda item: -item[1])[:limit]


def _add(scores: dict[Key, float], found: list[Key], num_chunks: int) -> None:
    gain = math.log(1 + num_chunks / max(1, len(found)))
    for key in found:
        scores[key] = scores.get(key, 0.0) + gain
