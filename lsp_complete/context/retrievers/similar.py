"""Lines elsewhere that share rare words with those around the cursor."""

import math

from lsp_complete.context.index import Index
from lsp_complete.context.remembered import Lines
from lsp_complete.context.scope import word_start
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.text.symbols import identifiers

# The lines above the cursor that say what is being written.
_QUERY_LINES = 10
# Long enough to show what comes next to what is alike, short enough for a few to fit.
_WINDOW_LINES = 10
_BEHIND = 3
_MAX_CHUNKS = 12
# Sums that come about in another order differ in their last digits.
_LEAST_GAIN = 1e-9
_MAX_SIMILAR = 8


def similar(question: Question, index: Index) -> list[Snippet]:
    """Windows of a few lines, each the best of a chunk that the index found by its words."""
    query = _query(question)
    chunks = index.search(query, _MAX_CHUNKS, exclude={question.path})
    places = [index.lines(chunk.path, chunk.first_line, chunk.end_line + _WINDOW_LINES) for chunk in chunks]
    weights = _weights(query, places)
    windows = sorted((_best(place, weights) for place in places), key=lambda window: -window[0])
    return [_snippet(place, first) for score, place, first in windows[:_MAX_SIMILAR] if score > 0]


def _query(question: Question) -> list[str]:
    """Names of the lines above, the nearest first."""
    document = question.document
    start = document.line_start(document.line_at(question.offset) - _QUERY_LINES + 1)
    end = word_start(document.text, question.offset)
    return list(dict.fromkeys(reversed(identifiers(document.text[start:end]))))


def _weights(query: list[str], chunks: list[Lines]) -> dict[str, float]:
    """A word that stands on many of the lines says less."""
    num_lines = sum(len(chunk.lines) for chunk in chunks)
    counts = {word: sum(len(chunk.places.get(word, ())) for chunk in chunks) for word in query}
    return {word: math.log(1 + num_lines / count) for word, count in counts.items() if count}


def _best(chunk: Lines, weights: dict[str, float]) -> tuple[float, Lines, int]:
    """Where the window begins that has most of the query in its lines but the last ones."""
    found: dict[int, list[str]] = {}
    for word in weights:
        for line in chunk.places.get(word, ()):
            found.setdefault(line, []).append(word)
    counts = dict.fromkeys(weights, 0)
    score, best, start, height = 0.0, 0.0, 0, _WINDOW_LINES - _BEHIND
    for end in range(min(len(chunk.lines), max(height, len(chunk.lines) - _BEHIND))):
        for word in found.get(end, ()):
            score += 0.0 if counts[word] else weights[word]
            counts[word] += 1
        for word in found.get(end - height, ()):
            counts[word] -= 1
            score -= 0.0 if counts[word] else weights[word]
        first = max(0, end - height + 1)
        if score > best + _LEAST_GAIN and (first in found or not first):
            best, start = score, first
    return best, chunk, start


def _snippet(place: Lines, first: int) -> Snippet:
    lines = place.lines[first : first + _WINDOW_LINES]
    start = place.first + first
    reason = f"lines {start + 1} to {start + len(lines)}"
    return Snippet(place.path, "\n".join(lines), "similar", reason, f"{place.path}#{start}")
