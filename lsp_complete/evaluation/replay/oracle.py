"""A completion service that knows the text to come, and makes the mistakes of a small model in writing it.

Whether a token of that text is known depends on its place alone, so questions that follow one another agree as those
to a greedy model do. At the first unknown token the answer goes astray, in one of the ways that models have: another
name in the same shape, other code, the lines above or below once more, brackets closed twice. Its latency is given, in
the time of the event loop; it counts what it computes, and of that what was for nobody. Knows no editor.
"""

import asyncio
import hashlib
import re
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field

from lsp_complete.protocol.completion import (
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
    Mode,
    TextChunk,
    Timing,
    Usage,
)

MODEL = "oracle"
# How much of the text to come is known: of lines that follow from those above nearly all, of others most tokens. So
# that a third of what is shown is accepted, as users of such services do (Ziegler and others, "Productivity assessment
# of neural code completion", 2022: 27 %).
EASY_LINES = 0.5
KNOWN_OF_EASY, KNOWN_OF_HARD = 0.985, 0.5
# Of a model that most of what is shown is accepted of.
KNOWN_TO_BETTER = 0.95
# Of a service's own slots, each with the prompt that it has last computed: the embedded service's default.
_NUM_SLOTS = 2
_CHARACTERS_PER_TOKEN = 3.4
# More of a prompt than this is computed, and the answer is cold.
_LEAST_SHARED = 0.5
# So much of the end of a prefix says which place of the document it is; and how far a question may be behind or ahead.
_TAIL = 160
_MAX_AHEAD = 600
_TOKEN = re.compile(r"[^\W\d_]{1,6}|\d{1,3}|_+|\n[ \t]*| +|\t+|[^\w\s]{1,2}|.", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_NUM_ASTRAY = (3, 24)


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds to the first token, of a prompt that is mostly cached and of another; then for each one."""

    warm_ms: float = 120.0
    cold_ms: float = 600.0
    token_ms: float = 8.0


SIMULATED = Latency()


@dataclass(frozen=True, slots=True)
class Place:
    """What is written in a file just now: `goal`, from `start` of a text that is `head` before and `tail` behind it;
    `done` characters of it stand."""

    head: str
    goal: str
    tail: str
    done: int = 0


@dataclass(slots=True)
class Served:
    """One question as the service saw it. `is_used` is for whoever knows what became of the text."""

    request_id: str
    path: str
    before: str
    at_s: float
    is_cold: bool
    is_prefill: bool
    is_ahead: bool
    usage: Usage
    text: str = ""
    is_whole: bool = False
    is_used: bool = False


@dataclass(slots=True)
class Truth:
    """What the user is about to write, by path: told by the user, read by the oracle."""

    places: dict[str, Place] = field(default_factory=dict)


class Oracle:
    """A `Completer`."""

    def __init__(self, truth: Truth, seed: int, latency: Latency, known_of_hard: float = KNOWN_OF_HARD) -> None:
        self._truth, self._seed, self._latency = truth, seed, latency
        self._known_of_hard = known_of_hard
        self._slots: deque[str] = deque(maxlen=_NUM_SLOTS)
        self._known_paths: set[str] = set()
        self.served: list[Served] = []

    async def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        served, prompt = self._admitted(request)
        first_ms = self._latency.cold_ms if served.is_cold else self._latency.warm_ms
        await asyncio.sleep(first_ms / 1000)
        self._computed(prompt, request.path)
        num_tokens, finish = 0, Finish.STOP
        if not request.prefill_only:
            for token in _ended(self._writes(request), request.mode):
                if num_tokens >= request.max_tokens:
                    finish = Finish.LENGTH
                    break
                num_tokens += 1
                served.text += token
                served.usage = _usage(served.usage, num_tokens)
                yield TextChunk(token)
                await asyncio.sleep(self._latency.token_ms / 1000)
        served.is_whole = True
        decode_ms = num_tokens * self._latency.token_ms
        yield FinishChunk(finish, MODEL, served.usage, Timing(0.0, first_ms, decode_ms))

    async def aclose(self) -> None:
        pass

    def _admitted(self, request: CompletionRequest) -> tuple[Served, str]:
        prompt = "".join([*(f"{one.path}\n{one.text}\n" for one in request.snippets), request.suffix, request.prefix])
        num_shared = max((_num_shared(prompt, slot) for slot in self._slots), default=0)
        is_cold = request.path not in self._known_paths or num_shared < _LEAST_SHARED * len(prompt)
        usage = Usage(_tokens(len(prompt)), _tokens(num_shared))
        now_s = asyncio.get_running_loop().time()
        kind = request.prefill_only, request.ahead
        served = Served(request.request_id, request.path, request.prefix[-400:], now_s, is_cold, *kind, usage)
        self.served.append(served)
        return served, prompt

    def _computed(self, prompt: str, path: str) -> None:
        """The slot that shares the most with the prompt holds it from now on."""
        best = max(self._slots, key=lambda slot: _num_shared(prompt, slot), default="")
        if best and _num_shared(prompt, best) >= _LEAST_SHARED * min(len(prompt), len(best)):
            self._slots.remove(best)
        self._slots.append(prompt)
        self._known_paths.add(path)

    def _writes(self, request: CompletionRequest) -> Iterator[str]:
        place = self._truth.places.get(request.path)
        done = _found(place, request.prefix) if place else None
        if place is None or done is None:
            yield from self._other(request, self._number(request.path, request.prefix[-20:]), 1)
            return
        start, line = len(place.head), 0
        for match in _TOKEN.finditer(place.goal):
            if match.end() <= done:
                continue
            line = place.goal.count("\n", 0, match.start())
            token = place.goal[max(done, match.start()) : match.end()]
            number = self._number(request.path, str(start + match.start()))
            if not self._is_known(number, self._number(request.path, f"{start}/{line}")):
                yield from self._astray(request, place, match.end(), number, token)
                return
            yield token
        number = self._number(request.path, f"{start}/end")
        if number % 100 >= 60:
            yield from self._beyond(request, place, number)

    def _is_known(self, number: int, line_number: int) -> bool:
        known = KNOWN_OF_EASY if line_number % 1000 < EASY_LINES * 1000 else self._known_of_hard
        return number % 10_000 < known * 10_000

    def _astray(self, request: CompletionRequest, place: Place, rest_at: int, number: int, token: str) -> Iterator[str]:
        """From the first token that is not known: another name and on in the same shape, or something else."""
        kind = number // 10_000 % 10
        if kind < 4 and _NAME.match(token):
            yield _one_of(_NAME.findall(request.prefix + request.suffix), number) or "value"
            rest = (match[0] for match in _TOKEN.finditer(place.goal, rest_at))
            yield from (one for one, _ in zip(rest, range(number % 12), strict=False))
        elif kind < 5:
            yield from (")", *self._other(request, number, 2))
        elif kind < 6:
            yield from _TOKEN.findall(request.suffix[:200])
        elif kind < 7:
            yield from _TOKEN.findall("\n".join(request.prefix.split("\n")[-4:-1]))
        else:
            yield from self._other(request, number, 2)

    def _beyond(self, request: CompletionRequest, place: Place, number: int) -> Iterator[str]:
        """All is written, and it runs on: what stands below once more, brackets once more, or something else."""
        kind = number // 100 % 4
        if kind == 0:
            yield from _TOKEN.findall(place.tail[: 40 + number // 1000 % 200])
        elif kind == 1:
            rest = place.tail.split("\n")[0]
            yield from _TOKEN.findall(rest or "}")
            yield from self._other(request, number, 1)
        elif kind == 2:
            yield from _TOKEN.findall(re.sub(r"[^)\]}]", "", place.tail[:120])[:2] or ")")
        else:
            indentation = re.match(r"[ \t]*", request.prefix.split("\n")[-1])
            yield "\n" + (indentation[0] if indentation else "")
            yield from self._other(request, number, 2)

    def _other(self, request: CompletionRequest, number: int, num_lines: int) -> Iterator[str]:
        """Other lines of the same file."""
        lines = [line.strip() for line in (request.prefix + "\n" + request.suffix).split("\n") if len(line) > 8]
        lines = lines or ["pass"]
        text = "\n".join(lines[at % len(lines)] for at in (number, number // 7)[:num_lines])
        least, most = _NUM_ASTRAY
        yield from _TOKEN.findall(text)[: least + number // 3 % (most - least)]

    def _number(self, path: str, place: str) -> int:
        key = f"{self._seed}/{path}/{place}".encode()
        return int.from_bytes(hashlib.blake2b(key, digest_size=6).digest())


def _found(place: Place, prefix: str) -> int | None:
    """How much of the goal stands before the cursor of a question; None where something else does."""
    text, end = place.head + place.goal, prefix[-_TAIL:]
    for step in range(_MAX_AHEAD):
        for done in dict.fromkeys((place.done + step, place.done - step)):
            if 0 <= done <= len(place.goal) and text.endswith(end, 0, len(place.head) + done):
                return done
    return None


def _ended(tokens: Iterator[str], mode: Mode) -> Iterator[str]:
    """Where the service stops a line. A block it stops at its end; here the client does that."""
    has_text = False
    for token in tokens:
        if mode is Mode.LINE and has_text and token.startswith("\n"):
            return
        has_text = has_text or bool(token.strip())
        yield token


def _usage(usage: Usage, num_tokens: int) -> Usage:
    return Usage(usage.prompt_tokens, usage.cached_tokens, num_tokens)


def _num_shared(one: str, other: str) -> int:
    """Length of the common start."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _tokens(num_characters: int) -> int:
    return round(num_characters / _CHARACTERS_PER_TOKEN)


def _one_of(names: list[str], number: int) -> str:
    return names[number % len(names)] if names else ""
