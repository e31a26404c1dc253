"""Single calls into llama.cpp: one step of one slot, or of several slots in one pass. Each blocks; it is for a thread.

A call names its slot. One for several slots cannot: llama.cpp then chooses by the longest common prefix. So what its
slots hold is kept here, and a step goes along only where that choice is bound to be its own slot.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsp_complete.protocol.errors import EngineFailed

# What stands for bytes that are no whole character.
HALF = "\ufffd"
# llama.cpp chooses a slot by its content only where that is more than so much of the prompt (its own default).
LEAST_SIMILAR = 0.1


@dataclass(frozen=True, slots=True)
class Step:
    """Extend a slot's cache to `tokens` and sample one more, greedily."""

    slot: int
    tokens: tuple[int, ...]
    may_reuse: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """A step's: the sampled token, None where the model ended the text; its text, None where it ends within a
    character; tokens reused and computed; milliseconds."""

    token: int | None
    text: str | None
    num_cached: int = 0
    num_computed: int = 0
    took_ms: float = 0.0


class Calls:
    """One at a time. `most_tokens` is what llama.cpp computes in one pass."""

    def __init__(self, server: Any, num_slots: int, most_tokens: int) -> None:
        self._server = server
        self._most_tokens = most_tokens
        # None: nobody knows, a call has failed.
        self._held: list[tuple[int, ...] | None] = [()] * num_slots

    def together(self, steps: Sequence[Step]) -> list[Step]:
        """Those that can be one pass, the first among them; or the first alone."""
        chosen: list[Step] = []
        room = self._most_tokens
        for step in steps if len(steps) > 1 else ():
            num_shared = self._num_shared_for_certain(step)
            if num_shared and (num_new := len(step.tokens) - num_shared) <= room:
                chosen.append(step)
                room -= num_new
        return chosen if len(chosen) > 1 and chosen[0] is steps[0] else [steps[0]]

    def run(self, steps: Sequence[Step]) -> list[Answer]:
        """What `together` has chosen. Raises EngineFailed."""
        num_shared = [self._num_shared_for_certain(step) for step in steps]
        for step in steps:
            self._held[step.slot] = None
        answers = [self._alone(steps[0])] if len(steps) == 1 else self._joint(steps, num_shared)
        for step in steps:
            self._held[step.slot] = step.tokens
        return answers

    def close(self) -> None:
        """Let the model go: it is freed with the last reference."""
        self._server = None

    def _num_shared_for_certain(self, step: Step) -> int:
        """What the step shares with its slot; 0 where llama.cpp might choose another slot for it."""
        own, tokens = self._held[step.slot], step.tokens
        num = _num_common(own, tokens) if own and step.may_reuse else 0
        others = [held for slot, held in enumerate(self._held) if slot != step.slot]
        is_certain = all(held is not None and held[:num] != tokens[:num] for held in others)
        return num if is_certain and LEAST_SIMILAR * len(tokens) < num < len(tokens) else 0

    def _joint(self, steps: Sequence[Step], num_shared: Sequence[int]) -> list[Answer]:
        started = time.perf_counter()
        answer = _ask(self._server, [list(step.tokens) for step in steps])
        took_ms = (time.perf_counter() - started) * 1000
        choices = {int(choice["index"]): choice for choice in answer["choices"]}
        return [
            self._answer(step, choices[i], num_shared[i], len(step.tokens) - num_shared[i], took_ms)
            for i, step in enumerate(steps)
        ]

    def _alone(self, step: Step) -> Answer:
        answer = _ask(self._server, list(step.tokens), id_slot=step.slot, cache_prompt=step.may_reuse)
        timings = answer.get("timings", {})
        took = int(timings.get("cache_n", 0)), int(timings.get("prompt_n", 0)), float(timings.get("prompt_ms", 0.0))
        return self._answer(step, answer["choices"][0], *took)

    def _answer(self, step: Step, choice: dict[str, Any], *took: Any) -> Answer:
        """Of a token that ends within a character llama.cpp tells nothing but to those who ask for all it knows, at
        some cost."""
        if choice["finish_reason"] == "stop":
            return Answer(None, None, *took)
        if choice["logprobs"] is None:
            asked = {"id_slot": step.slot, "verbose": True, "return_tokens": True}
            everything = _ask(self._server, list(step.tokens), **asked)["__verbose"]
            return Answer(int(everything["tokens"][0]), None, *took)
        token = int(choice["logprobs"]["content"][0]["id"])
        return Answer(token, None if HALF in choice["text"] else choice["text"], *took)


def _ask(server: Any, prompt: list[Any], **options: Any) -> dict[str, Any]:
    answers: list[dict[str, Any]] = []
    server.handle_completions(
        {
            "prompt": prompt, "n_predict": 1, "cache_prompt": True, "stream": False,
            "samplers": ["top_k"], "top_k": 1, "logprobs": 1, "post_sampling_probs": True, **options,
        },
        answers.append,
    )  # fmt: skip
    if not answers or "choices" not in answers[0]:
        raise EngineFailed("llama.cpp refused a step")
    return answers[0]


def _num_common(held: tuple[int, ...], tokens: tuple[int, ...]) -> int:
    """Length of the common prefix. Of a text that is being written it is all that is held."""
    if tokens[: len(held)] == held:
        return len(held)
    return next((i for i, (a, b) in enumerate(zip(held, tokens, strict=False)) if a != b), min(len(held), len(tokens)))
