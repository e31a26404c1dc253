"""Spends the budget of a prompt: how much of the document before and after the cursor goes into a request.

A keystroke must change only the end of the prompt, or the service's prefix cache is lost. So the start of the prefix
moves in steps and not with the cursor, and the suffix, which comes first in the prompt, depends on nothing before the
cursor.
"""

from dataclasses import dataclass

from lsp_complete.text.document import Document, normalize_eol

# The suffix may take this share of the budget, more if the prefix needs less: what stands before the cursor says more.
_SUFFIX_SHARE = 0.25
# Windows move in steps of this share of the budget: once in as many characters typed, and not with each.
_STEP_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Window:
    """Text before and after the cursor, with LF alone."""

    prefix: str
    suffix: str


def pack(document: Document, offset: int, num_characters: int) -> Window:
    """At most `num_characters` of the document around `offset`, cut on line borders where there are any near."""
    text = document.text
    after = min(len(text) - offset, int(num_characters * _SUFFIX_SHARE))
    before = num_characters - after
    start = _prefix_start(document, offset, before)
    end = _suffix_end(document, offset, max(after, _floor(num_characters - offset, num_characters)))
    return Window(normalize_eol(text[start:offset]), normalize_eol(text[offset:end]))


def _prefix_start(document: Document, offset: int, num_characters: int) -> int:
    if offset <= num_characters:
        return 0
    step = max(1, int(num_characters * _STEP_SHARE))
    start = -(-(offset - num_characters) // step) * step
    line = document.line_at(start)
    border = document.line_starts[line + 1] if line + 1 < len(document.line_starts) else len(document.text)
    return border if border <= offset - num_characters // 2 else start


def _floor(length: int, num_characters: int) -> int:
    step = max(1, int(num_characters * _STEP_SHARE))
    return length // step * step


def _suffix_end(document: Document, offset: int, num_characters: int) -> int:
    end = offset + num_characters
    if end >= len(document.text):
        return len(document.text)
    border = document.line_starts[document.line_at(end)]
    return border if border > offset else end
