"""The prompt of a question: which snippets it carries, in which order, and how much of the document.

A pure function of its inputs and of the prompt before, so that consecutive prompts begin alike and the service's prefix
cache holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lsp_complete.context.snippets import Snippet
from lsp_complete.prompt.packer import Window, pack
from lsp_complete.prompt.snippets import Candidate, choose
from lsp_complete.text.document import Document

# Least characters per model token in source code, until the service says better.
CHARACTERS_PER_TOKEN = 3.6
# A snippet that is not found again has lost half its score after six questions, some words of typing later.
_KEPT_SHARE = 0.9
# What stands around the cursor is worth more than anything elsewhere.
_LEAST_WINDOW_TOKENS = 96


@dataclass(frozen=True, slots=True)
class Packed:
    """A snippet of a prompt, with the score that it had."""

    snippet: Snippet
    score: float

    @property
    def size(self) -> int:
        """In characters, with its header."""
        return len(self.snippet.path) + len(self.snippet.text) + 2


@dataclass(frozen=True, slots=True)
class Prompt:
    """`packed` in the order of the prompt, the most stable first."""

    window: Window
    packed: tuple[Packed, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """In model tokens: all of the prompt, and how much of it snippets may take."""

    prompt_tokens: int
    snippet_tokens: int


def assemble(
    document: Document,
    offset: int,
    found: Sequence[Snippet],
    scores: Mapping[str, float],
    budget: Budget,
    before: Sequence[Packed] = (),
) -> Prompt:
    """`scores` has one for each key of `found`; `before` is what the document's last prompt carried."""
    packed = _chosen(found, scores, int(budget.snippet_tokens * CHARACTERS_PER_TOKEN), before)
    num_tokens = max(_LEAST_WINDOW_TOKENS, budget.prompt_tokens - (budget.snippet_tokens if packed else 0))
    return Prompt(pack(document, offset, int(num_tokens * CHARACTERS_PER_TOKEN)), packed)


def _chosen(
    found: Sequence[Snippet], scores: Mapping[str, float], num_characters: int, before: Sequence[Packed]
) -> tuple[Packed, ...]:
    """The best that fit. What was in the last prompt stays a candidate, for less with each question, also where it was
    not found this time."""
    kept = {one.snippet.key: replace(one, score=one.score * _KEPT_SHARE) for one in before}
    candidates = {**kept, **{one.key: Packed(one, scores[one.key]) for one in found}}
    sizes = [Candidate(key, one.size, one.score) for key, one in candidates.items()]
    return tuple(candidates[one.key] for one in choose(sizes, num_characters, tuple(kept)))
