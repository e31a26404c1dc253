"""Spends the budget of a prompt: how much of the document before and after the cursor goes into a request.

A keystroke must change only the end of the prompt, or the service's prefix cache is lost. So the start of the prefix
and the end of the suffix move in steps and not with the cursor, and the suffix, which comes first in the prompt, stays
while the same text follows the cursor: typing does not change it, nor do brackets that an editor closes by itself. A
cursor that is moved has another suffix, and all from there on is computed anew.
"""

import re
from dataclasses import dataclass

from lsp_complete.text.document import Document, normalize_eol

# The suffix may take this share of the budget, more if the prefix needs less: what stands before the cursor says more.
_SUFFIX_SHARE = 0.25
# Windows move in steps of this share of the budget: once in as many characters typed, and not with each.
_STEP_SHARE = 0.2
# A window begins and ends between two definitions at the top level, or at a blank line, or at a line, where one of
# these lies within this share of its length.
_SNAP_SHARE = 0.15
_EOL = r"(?:\r\n|\n|\r)"
_BORDERS = tuple(map(re.compile, (rf"{_EOL}[ \t]*{_EOL}(?=[^\s)\]}}])", rf"{_EOL}[ \t]*{_EOL}", _EOL)))
# What editors put behind the cursor by themselves when its partner is typed. Nobody opens more at once.
_CLOSERS = re.compile(r"[)\]}>\"'`]{1,8}")


@dataclass(frozen=True, slots=True)
class Window:
    """Text before and after the cursor, with LF alone."""

    prefix: str
    suffix: str


def pack(document: Document, offset: int, num_characters: int, before: Window | None = None) -> Window:
    """At most `num_characters` of the document around `offset`. `before` is the document's window of the prompt before:
    closing brackets at the cursor that have come since are left out of the suffix, which is as it was."""
    text = document.text
    behind = offset + num_closed(document, offset, before)
    end = _suffix_end(text, behind, num_characters, num_characters - offset)
    start = _prefix_start(text, offset, num_characters - min(len(text) - behind, _suffix_share(num_characters)))
    return Window(normalize_eol(text[start:offset]), normalize_eol(text[behind:end]))


def num_closed(document: Document, offset: int, before: Window | None) -> int:
    """How many characters right of the cursor close what was typed since the prompt before."""
    match = _CLOSERS.match(document.text, offset)
    if match is None or before is None or follows(document, offset, before):
        return 0
    counts = range(1, len(match.group()) + 1)
    return next((count for count in counts if follows(document, offset + count, before)), 0)


def follows(document: Document, offset: int, before: Window) -> bool:
    """Does the text at `offset` begin as the suffix of the prompt before?"""
    text = normalize_eol(document.text[offset : offset + 2 * len(before.suffix) + 1])
    return text.startswith(before.suffix) if before.suffix else not text


def _prefix_start(text: str, offset: int, num_characters: int) -> int:
    if offset <= num_characters:
        return 0
    start = _stepped(offset - num_characters, num_characters)
    last = min(offset, start + int(num_characters * _SNAP_SHARE))
    return next(iter(_borders(text, start, last)), start)


def _suffix_end(text: str, start: int, num_characters: int, num_left: int) -> int:
    """`num_left` is what a prefix leaves that goes back to the start of the document."""
    share = _suffix_share(num_characters)
    if start + max(share, num_left) >= len(text):
        return len(text)
    length = max(share, -_stepped(-num_left, num_characters))
    end = start + length
    return next(reversed(_borders(text, end - int(length * _SNAP_SHARE), end)), end)


def _suffix_share(num_characters: int) -> int:
    return int(num_characters * _SUFFIX_SHARE)


def _stepped(length: int, num_characters: int) -> int:
    """Rounded up to whole steps of a window of `num_characters`."""
    step = max(1, int(num_characters * _STEP_SHARE))
    return -(-length // step) * step


def _borders(text: str, start: int, end: int) -> list[int]:
    """The best kind of borders that there is, in the order of the text."""
    found = ([match.end() for match in border.finditer(text, start, end)] for border in _BORDERS)
    return next(filter(None, found), [])
