"""The service under load: what passing a cancellation on is worth, and what becomes of sixteen times too many.

No session is named: of a session the queue would keep the newest question alone, which is a cancellation, too.
"""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field

from bench._serve_scene import PATIENT_MS, Answered, Scene, answer, ask, code, question, scene
from lsp_complete.protocol.completion import CompletionRequest

_NUM_TYPING, _TYPING_CONTEXT = 8, 1024
_TYPED_TOKENS, _ASKED, _QUICK_ASKED = 24, 8, 2
# Between a question and the key that makes it pointless.
_KEY_S = (0.05, 0.3)

_NUM_CROWD, _CROWD_ASKED, _QUICK_CROWD = 32, 4, 1
_CROWD_TOKENS = 8
# So many times what a request takes alone and cold.
_DEADLINE_FACTOR = 4
# What a clock, a busy loop and a wire may add to the end of an answer.
_GRACE_MS = 100.0
# What is not over by then, of deadlines, hangs.
_HANGS = 3


async def cancelled(*, is_quick: bool) -> float:
    """Useful tokens a second, with cancellations passed on by without. Each of eight sessions asks, and takes every
    second answer; of the others it asks again before they have come. The same questions in both runs."""
    num_asked = _QUICK_ASKED if is_quick else _ASKED
    async with scene(_NUM_TYPING, _TYPING_CONTEXT, queue_length=10 * _NUM_TYPING * num_asked) as one:
        await asyncio.gather(*(ask(one.completer, _typed(session, 0)) for session in range(_NUM_TYPING)))
        rates = [await _typing(one, num_asked, is_passed_on=is_passed_on) for is_passed_on in (True, False)]
    return round(rates[0] / rates[1], 2)


async def _typing(one: Scene, num_asked: int, *, is_passed_on: bool) -> float:
    started, left = time.perf_counter(), set[asyncio.Task[Answered]]()
    sessions = (_session(one, number, num_asked, None if is_passed_on else left) for number in range(_NUM_TYPING))
    num_useful = sum(await asyncio.gather(*sessions))
    rate = num_useful / (time.perf_counter() - started)
    await asyncio.gather(*left)
    return rate


async def _session(one: Scene, session: int, num_asked: int, left: set[asyncio.Task[Answered]] | None) -> int:
    """The tokens of the answers that were taken. Those that were not are cancelled, or go into `left` and run on."""
    rng, num_useful = random.Random(session), 0
    for number in range(1, 2 * num_asked + 1):
        asking = asyncio.create_task(answer(one.completer, _typed(session, number)))
        if number % 2:
            await asyncio.wait([asking], timeout=rng.uniform(*_KEY_S))
            if left is not None:
                left.add(asking)
            elif not asking.done():
                asking.cancel()
                await asyncio.wait([asking])
        else:
            num_useful += (await asking).num_tokens
    return num_useful


def _typed(session: int, number: int) -> CompletionRequest:
    return question(code(f"part{session}", 6) + "x =" + " value" * number + "\ndef ", max_tokens=_TYPED_TOKENS)


@dataclass(frozen=True, slots=True)
class Crowd:
    """`late`: requests that ended behind their deadline, or never, or were refused only when it had come. `served` and
    `refused` ended before, with an answer or by type of the refusal; `cut` are answers that the deadline has ended with
    part of their text."""

    late: int
    served: int
    served_p99_ms: float
    deadline_ms: int
    refused_p99_ms: float
    evictions: int
    refused: dict[str, int] = field(default_factory=dict)
    cut: int = 0


async def crowd(*, is_quick: bool) -> Crowd:
    """32 sessions, each with a text of its own, over two slots."""
    num_asked = _QUICK_CROWD if is_quick else _CROWD_ASKED
    async with scene() as one:
        deadline_ms = int(_DEADLINE_FACTOR * (await answer(one.completer, _crowded(-1, 0, PATIENT_MS))).total_ms)
        evictions = one.engine.stats().evictions
        asking = (_member(one, number, num_asked, deadline_ms) for number in range(_NUM_CROWD))
        answers = [answer for answers in await asyncio.gather(*asking) for answer in answers]
        return _crowd(answers, deadline_ms, one.engine.stats().evictions - evictions)


async def _member(one: Scene, session: int, num_asked: int, deadline_ms: int) -> list[Answered | None]:
    rng, answers = random.Random(session), list[Answered | None]()
    for number in range(num_asked):
        await asyncio.sleep(rng.uniform(0, deadline_ms / 1000))
        try:
            async with asyncio.timeout(_HANGS * deadline_ms / 1000):
                answers.append(await ask(one.completer, _crowded(session, number, deadline_ms)))
        except TimeoutError:
            answers.append(None)
    return answers


def _crowded(session: int, number: int, deadline_ms: int) -> CompletionRequest:
    text = f"# of {session}\n" + code(f"part{session}", 3) + "x =" + " value" * number + "\ndef "
    return question(text, max_tokens=_CROWD_TOKENS, session=f"crowd-{session}", deadline_ms=deadline_ms)


def _crowd(answers: list[Answered | None], deadline_ms: int, evictions: int) -> Crowd:
    ended = [answer for answer in answers if answer and answer.total_ms <= _latest_ms(answer, deadline_ms)]
    served = [answer for answer in ended if answer.finish]
    return Crowd(
        late=len(answers) - len(ended),
        served=len(served),
        served_p99_ms=_p99([answer.total_ms for answer in served]),
        deadline_ms=deadline_ms,
        refused_p99_ms=_p99([answer.total_ms for answer in ended if answer.error]),
        evictions=evictions,
        refused=dict(Counter(answer.error for answer in ended if answer.error)),
        cut=sum(1 for answer in served if answer.finish and answer.finish.finish == "deadline"),
    )


def _latest_ms(answer: Answered, deadline_ms: int) -> float:
    return deadline_ms if answer.error else deadline_ms + _GRACE_MS


def _p99(values: list[float]) -> float:
    return round(sorted(values)[min(len(values) - 1, len(values) * 99 // 100)], 1) if values else 0.0
