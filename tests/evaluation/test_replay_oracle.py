"""The simulated service: what it knows, when it answers, what it counts."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import pairwise
from typing import Any

from lsp_complete.evaluation.replay import clock
from lsp_complete.evaluation.replay.oracle import Latency, Oracle, Place, Truth
from lsp_complete.protocol.completion import CompletionRequest, FinishChunk, Mode, TextChunk

HEAD = "".join(f"value_{number} = compute(number_{number}, {number})\n" for number in range(30))
GOAL = "".join(f"result_{number} = combine(value_{number}, value_{number + 1})\n" for number in range(20))
TAIL = "print(results)\n"


def service(seed: int = 1) -> Oracle:
    return Oracle(Truth({"a.py": Place(HEAD, GOAL, TAIL)}), seed, Latency(100.0, 1000.0, 10.0))


def request(num_typed: int = 0, *, mode: Mode = Mode.BLOCK, path: str = "a.py", **more: Any) -> CompletionRequest:
    prefix = HEAD + GOAL[:num_typed]
    return CompletionRequest(f"r{num_typed}", "s", prefix, TAIL, path=path, mode=mode, max_tokens=100, **more)


async def told(oracle: Oracle, asked: CompletionRequest) -> tuple[str, float, float, FinishChunk]:
    """The text, when it began, when it ended, the last chunk."""
    loop, text, first_s, finish = asyncio.get_running_loop(), "", 0.0, None
    started_s = loop.time()
    async for chunk in oracle.complete(asked):
        first_s = first_s or loop.time() - started_s
        if isinstance(chunk, TextChunk):
            text += chunk.text
        else:
            finish = chunk
    assert finish is not None
    return text, first_s, loop.time() - started_s, finish


def played(main: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return clock.run(main(), is_virtual=True)


def test_a_cold_prompt_takes_longer_than_one_that_goes_on() -> None:
    async def main() -> list[float]:
        oracle = service()
        asked = [request(), request(3), request(path="b.py"), request(5)]
        return [(await told(oracle, one))[1] for one in asked]

    first, warm, other_file, back = played(main)
    assert 1.0 <= first < 1.1
    assert 0.1 <= warm < 0.2
    assert other_file >= 1.0
    assert 0.1 <= back < 0.2


def test_a_prompt_that_was_computed_ahead_is_warm_and_has_no_text() -> None:
    async def main() -> tuple[str, float]:
        oracle = service()
        text, *_ = await told(oracle, request(prefill_only=True))
        return text, (await told(oracle, request(1)))[1]

    text, first_s = played(main)
    assert text == ""
    assert first_s < 0.2


def test_a_line_ends_with_the_line() -> None:
    text, *_ = played(lambda: told(service(), request(mode=Mode.LINE)))
    assert text
    assert "\n" not in text


def test_each_token_takes_its_time_and_is_counted() -> None:
    text, first_s, all_s, finish = played(lambda: told(service(), request()))
    num = finish.usage.completion_tokens
    assert text
    assert num * 0.01 <= all_s - first_s + 0.01 < num * 0.02 + 0.1


def test_questions_that_follow_one_another_agree() -> None:
    """What is typed of an answer, or of another text, leaves the rest of what is known as it was."""

    async def main() -> list[str]:
        oracle = service()
        return [(await told(oracle, request(num_typed)))[0] for num_typed in range(60)]

    texts = played(main)
    known = [_common(text, GOAL[num_typed:]) for num_typed, text in enumerate(texts)]
    ends = [num_typed + len(text) for num_typed, text in enumerate(known)]
    assert any(ends)
    for num_typed, (before, after) in enumerate(pairwise(ends)):
        assert before == after or before <= num_typed + 8  # the next token was not known


def test_a_stream_that_is_closed_generates_no_more() -> None:
    async def main() -> int:
        oracle = service()
        async with contextlib.aclosing(oracle.complete(request())) as chunks:
            await anext(chunks)
        await asyncio.sleep(100)
        return oracle.served[0].usage.completion_tokens

    assert played(main) == 1


def test_what_it_does_not_know_is_another_text() -> None:
    asked = replace(request(), prefix="nothing that it knows")
    text, *_ = played(lambda: told(service(), asked))
    assert not GOAL.startswith(text)


def _common(one: str, other: str) -> str:
    num = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:num]
