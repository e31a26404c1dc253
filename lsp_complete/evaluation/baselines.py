"""What retrieval is compared with: BM25 over the whole repository, and what the best-known product does.

Both answer with windows of lines, the best first. Knows no prompt.
"""

import math
import posixpath
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lsp_complete.text.document import Document
from lsp_complete.text.symbols import identifiers

# The usual constants (Robertson and Zaragoza 2009).
_K1, _B = 1.5, 0.75
_BM25_LINES = 10
# Windows overlap by half, so that no ten lines are torn apart.
_BM25_STEP = 5
_JACCARD_LINES = 60
_JACCARD_FILES = 20
# More windows than any budget takes.
_MAX_WINDOWS = 40
# A posting holds the number of a window and how often the word stands in it, up to this.
_COUNT_BITS = 6


@dataclass(frozen=True, slots=True)
class LineWindow:
    """Lines of a file from `first` on (from 0)."""

    path: str
    first: int
    text: str


class Bm25:
    """Windows of ten lines of all files; the query is the last ten lines."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._windows = [window for path, text in texts.items() for window in _windows(path, text)]
        self._postings: dict[str, array[int]] = {}
        self._lengths = array("i")
        for number, window in enumerate(self._windows):
            counts = Counter(identifiers(window.text))
            self._lengths.append(counts.total())
            for word, count in counts.items():
                posting = number << _COUNT_BITS | min(count, (1 << _COUNT_BITS) - 1)
                self._postings.setdefault(word, array("q")).append(posting)
        self._mean = sum(self._lengths) / max(1, len(self._lengths))

    def windows(self, document: Document, offset: int) -> list[LineWindow]:
        """The best first, none of the document's own, no line twice."""
        scores: dict[int, float] = {}
        for word in set(identifiers(_last_lines(document, offset, _BM25_LINES))):
            postings = self._postings.get(word, ())
            weight = math.log(1 + (len(self._windows) - len(postings) + 0.5) / (len(postings) + 0.5))
            for posting in postings:
                number = posting >> _COUNT_BITS
                scores[number] = scores.get(number, 0.0) + weight * self._gain(posting)
        best = sorted(scores, key=lambda number: (-scores[number], number))
        return list(_apart((self._windows[number] for number in best), document.path))

    def _gain(self, posting: int) -> float:
        count, length = posting & ((1 << _COUNT_BITS) - 1), self._lengths[posting >> _COUNT_BITS]
        return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / self._mean))


def jaccard(texts: Mapping[str, str], document: Document, offset: int) -> list[LineWindow]:
    """The best window of 60 lines of each of up to 20 files of the document's folder, and of near ones where it has
    fewer; compared with the last 60 lines."""
    query = frozenset(identifiers(_last_lines(document, offset, _JACCARD_LINES)))
    near = sorted((path for path in texts if path != document.path), key=lambda path: _distance(path, document.path))
    found = [_best_window(path, texts[path], query) for path in near[:_JACCARD_FILES]]
    return [window for _, window in sorted(found, key=lambda one: -one[0])]


def _windows(path: str, text: str) -> Iterator[LineWindow]:
    lines = text.split("\n")
    for first in range(0, max(1, len(lines) - _BM25_STEP), _BM25_STEP):
        yield LineWindow(path, first, "\n".join(lines[first : first + _BM25_LINES]))


def _last_lines(document: Document, offset: int, num: int) -> str:
    return document.text[document.line_start(document.line_at(offset) + 1 - num) : offset]


def _apart(windows: Iterator[LineWindow], own_path: str) -> Iterator[LineWindow]:
    """The first windows that do not overlap each other."""
    taken: dict[str, list[int]] = {}
    num = 0
    for window in windows:
        others = taken.setdefault(window.path, [])
        if window.path == own_path or any(abs(first - window.first) < _BM25_LINES for first in others):
            continue
        others.append(window.first)
        yield window
        num += 1
        if num == _MAX_WINDOWS:
            return


def _distance(path: str, other: str) -> tuple[int, str]:
    relative = posixpath.relpath(posixpath.dirname(path) or ".", posixpath.dirname(other) or ".")
    return (0 if relative == "." else relative.count("/") + 1), path


def _best_window(path: str, text: str, query: frozenset[str]) -> tuple[float, LineWindow]:
    """Slides by a line; how many words the window has, and shares, is counted along the way."""
    lines = text.split("\n")
    words = [identifiers(line) for line in lines]
    counts: Counter[str] = Counter()
    shared, best = 0, (-1.0, 0)
    for end, entering in enumerate(words, start=1):
        for word in entering:
            shared += not counts[word] and word in query
            counts[word] += 1
        for word in words[end - _JACCARD_LINES - 1] if end > _JACCARD_LINES else ():
            counts[word] -= 1
            if not counts[word]:
                del counts[word]
                shared -= word in query
        if end >= min(_JACCARD_LINES, len(lines)):
            score = shared / max(1, len(counts) + len(query) - shared)
            best = max(best, (score, -max(0, end - _JACCARD_LINES)))
    first = -best[1]
    return best[0], LineWindow(path, first, "\n".join(lines[first : first + _JACCARD_LINES]))
