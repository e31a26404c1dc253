"""What a step of an engine that we drive ourselves has brought, and what its prefix cache may keep of a prompt."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """New tokens, none for a step of the prefill. Of the prompt, `num_cached` tokens were there; of `num_drafted` that
    were proposed in this step, `num_accepted` are among the new ones."""

    tokens: Sequence[int] = ()
    num_cached: int = 0
    num_drafted: int = 0
    num_accepted: int = 0


def num_shared(held: Sequence[int], prompt: Sequence[int]) -> int:
    """Length of the common prefix, short of the whole prompt: its last token must be computed to sample from it."""
    limit = min(len(held), len(prompt) - 1)
    return next((i for i in range(limit) if held[i] != prompt[i]), max(0, limit))
