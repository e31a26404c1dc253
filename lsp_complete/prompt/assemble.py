"""The prompt of a question: which snippets it carries, in which order, and how much of the document.

A pure function of its inputs and of the prompt before, so that consecutive prompts begin alike and the service's prefix
cache holds. The document has its share of the budget first; what a short one does not need goes to the snippets, and
what these leave goes back to the document. Both in steps.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lsp_complete.context.snippets import Snippet
from lsp_complete.prompt.packer import Window, follows, num_closed, pack
from lsp_complete.prompt.snippets import Packed, choose
from lsp_complete.text.document import Document

# Least characters per model token in source code, until the service says better.
CHARACTERS_PER_TOKEN = 3.6
# What stands around the cursor is worth more than anything elsewhere.
_LEAST_WINDOW_TOKENS = 96
# Shares pass between document and snippets in steps of this share of the budget: the document grows with each key.
_STEP_SHARE = 1 / 16


@dataclass(frozen=True, slots=True)
class Prompt:
    """`packed` in the order of the prompt, the most stable first; they had `room`, in characters."""

    window: Window
    packed: tuple[Packed, ...] = ()
    room: int = 0


_NOTHING = Prompt(Window("", ""))


@dataclass(frozen=True, slots=True)
class Budget:
    """In model tokens: all of the prompt, and how much of it snippets may take where the document needs the rest."""

    prompt_tokens: int
    snippet_tokens: int


def assemble(
    document: Document,
    offset: int,
    found: Sequence[Snippet],
    scores: Mapping[str, float],
    budget: Budget,
    before: Prompt | None = None,
) -> Prompt:
    """`scores` has one for each key of `found`; `before` is the document's last prompt."""
    num_characters = int(budget.prompt_tokens * CHARACTERS_PER_TOKEN)
    room = num_characters - _needed(document, budget, num_characters)
    candidates = [Packed(one, scores[one.key]) for one in found]
    before = before or _NOTHING
    is_held = follows(document, offset + num_closed(document, offset, before.window), before.window)
    packed = choose(candidates, room, before.packed, hold=is_held)
    used = min(room, _stepped(sum(one.size for one in packed), num_characters))
    return Prompt(pack(document, offset, num_characters - used, before.window), packed, room)


def _needed(document: Document, budget: Budget, num_characters: int) -> int:
    """What the document takes before snippets take anything."""
    reserved = max(_LEAST_WINDOW_TOKENS, budget.prompt_tokens - budget.snippet_tokens) * CHARACTERS_PER_TOKEN
    return min(num_characters, int(reserved), _stepped(len(document.text), num_characters))


def _stepped(length: int, num_characters: int) -> int:
    """Rounded up to whole steps."""
    step = max(1, int(num_characters * _STEP_SHARE))
    return -(-length // step) * step
