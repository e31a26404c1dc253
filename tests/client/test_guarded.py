"""A completer in trouble is left alone: by a service that is played, clocks that are set, and no waiting."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

import pytest

from lsp_complete.client.completer import HttpCompleter
from lsp_complete.client.guarded import Guarded, Trouble
from lsp_complete.client.load import INVOKED_ONLY, NO_BLOCKS
from lsp_complete.protocol import errors
from lsp_complete.protocol.completion import (
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
    Mode,
    TextChunk,
    Trigger,
)
from tests.fakes import request

from .wire_server import Peer, Request, WireServer

WALL_S = 1_800_000_000.0
GONE = errors.Unreachable("gone")


class Scripted:
    """Answers with the next of `script`: chunks, an error, or a wait that never ends. The last one is for good."""

    def __init__(self, *script: object) -> None:
        self.script, self.num_asked = list(script), 0

    async def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        self.num_asked += 1
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        await asyncio.sleep(0)
        if isinstance(step, errors.CompletionError):
            raise step
        if step == "hang":
            await asyncio.Event().wait()
        yield TextChunk("x")
        yield FinishChunk(Finish.STOP, level=step if isinstance(step, int) else 0)


class Played:
    """A guarded completer, and the wall clock that it looks at. `troubles` are those it has told of."""

    def __init__(self, *script: object) -> None:
        self.service, self.wall_s = Scripted(*script), WALL_S
        self.troubles: list[Trouble | None] = []
        self.guarded = Guarded(self.service, self._changed, lambda: self.wall_s, lambda: 0.5)

    def _changed(self) -> None:
        self.troubles.append(self.guarded.trouble)

    async def ask(self, trigger: Trigger = Trigger.AUTOMATIC, **fields: Any) -> str:
        """What came of it: ok, or the type of the error."""
        try:
            asked = request(trigger=trigger, **fields)
            self.guarded.admit(trigger, asked.mode)
            _ = [chunk async for chunk in self.guarded.complete(asked)]
        except errors.CompletionError as error:
            return error.type
        return "ok"


@pytest.fixture
def play() -> Iterator[Callable[..., Played]]:
    played: list[Played] = []

    def make(*script: object) -> Played:
        played.append(Played(*script))
        return played[-1]

    yield make
    for one in played:
        one.guarded.close()


async def test_a_failure_pauses_and_a_success_behind_the_pause_ends_it(play) -> None:
    played = play(GONE, GONE, "ok")
    assert [await played.ask() for _ in range(3)] == ["unreachable", "paused", "paused"]
    played.wall_s += 1
    assert [await played.ask() for _ in range(2)] == ["unreachable", "paused"]
    played.wall_s += 1.9
    assert await played.ask() == "paused"
    played.wall_s += 0.1
    assert [await played.ask() for _ in range(2)] == ["ok", "ok"]
    assert played.service.num_asked == 4
    assert played.guarded.trouble is None


async def test_an_explicit_question_goes_in_any_state_and_its_success_ends_the_pause_at_once(play) -> None:
    played = play(errors.Unauthorized(), errors.Unauthorized(), "ok")
    assert await played.ask() == "unauthorized"
    played.wall_s += 10**6
    assert await played.ask() == "paused"
    assert await played.ask(Trigger.INVOKED) == "unauthorized"
    assert await played.ask() == "paused"
    assert await played.ask(Trigger.INVOKED) == "ok"
    assert await played.ask() == "ok"


async def test_a_service_that_is_known_to_be_there_again_is_asked_at_once(play) -> None:
    played = play(GONE, "ok")
    assert await played.ask() == "unreachable"
    played.guarded.recovered()
    assert await played.ask() == "ok"


async def test_behind_the_pause_one_question_goes_and_a_cancelled_one_makes_room(play) -> None:
    played = play(GONE, "hang", "ok")
    await played.ask()
    played.wall_s += 1
    probe = asyncio.create_task(played.ask())
    for _ in range(3):
        await asyncio.sleep(0)
    assert await played.ask() == "paused"
    probe.cancel()
    await asyncio.wait([probe])
    assert await played.ask() == "ok"


@pytest.mark.parametrize("end", ["hang", errors.TooLarge("")])
async def test_a_question_by_hand_that_comes_to_nothing_lets_no_second_one_go_beside_the_probe(play, end) -> None:
    played = play(GONE, "hang", end, "ok")
    await played.ask()
    played.wall_s += 1
    probe, by_hand = (asyncio.create_task(played.ask(kind)) for kind in (Trigger.AUTOMATIC, Trigger.INVOKED))
    for _ in range(3):
        await asyncio.sleep(0)
    by_hand.cancel()
    await asyncio.wait([by_hand])
    assert await played.ask() == "paused"
    probe.cancel()
    await asyncio.wait([probe])
    assert await played.ask() == "ok"


async def test_questions_that_fail_together_are_one_failure(play) -> None:
    played = play(GONE)
    asked = [played.guarded.complete(request()) for _ in range(5)]
    results = await asyncio.gather(*(anext(one) for one in asked), return_exceptions=True)
    assert {type(result) for result in results} == {errors.Unreachable}
    assert played.guarded._breaker.num_failures == 1


async def test_a_failure_counts_though_another_question_has_left_since(play) -> None:
    played = play(GONE, "hang")
    first = played.guarded.complete(request())
    failing = asyncio.create_task(anext(first))
    await asyncio.sleep(0)
    other = asyncio.create_task(played.ask())
    await asyncio.wait([failing])
    assert isinstance(failing.exception(), errors.Unreachable)
    assert await played.ask() == "paused"
    other.cancel()
    await asyncio.wait([other])


@pytest.mark.parametrize("kind", [{"prefill_only": True}, {"ahead": True}])
async def test_what_nobody_waits_for_proves_nothing_by_failing_and_pauses_with_the_rest(play, kind) -> None:
    played = play(GONE)
    assert await played.ask(**kind) == "unreachable"
    assert played.guarded.trouble is None
    assert await played.ask() == "unreachable"
    assert await played.ask(**kind) == "paused"
    assert await played.ask(Trigger.INVOKED, **kind) == "paused"


async def test_one_failure_is_a_hiccup_the_second_is_worth_a_word(play) -> None:
    played = play(GONE)
    await played.ask()
    assert not played.guarded.trouble.is_notable
    played.wall_s += 1
    await played.ask()
    assert played.guarded.trouble.is_notable


@pytest.mark.parametrize("error", [errors.Unauthorized(), errors.RateLimited("", 30.0)])
async def test_what_waits_for_the_user_is_worth_a_word_at_once(play, error) -> None:
    played = play(error)
    await played.ask()
    assert played.guarded.trouble.is_notable


async def test_who_asks_by_hand_and_gets_nothing_is_told_why(play) -> None:
    played = play(GONE)
    await played.ask(Trigger.INVOKED)
    assert played.guarded.trouble.is_notable


async def test_a_limit_of_rate_says_until_when_and_is_over_by_itself(play) -> None:
    played = play(errors.RateLimited("Rate limited", 30.0))
    await played.ask()
    assert played.guarded.trouble.until_s == WALL_S + 30
    played.wall_s += 30
    assert played.guarded.trouble is None


async def test_who_cannot_be_reached_stays_in_trouble_behind_the_pause_without_a_time(play) -> None:
    played = play(GONE)
    await played.ask()
    played.wall_s += 5
    assert played.guarded.trouble == Trouble(GONE)


# Load


async def test_under_load_a_line_is_asked_for_in_place_of_a_block(play) -> None:
    played = play(NO_BLOCKS)
    await played.ask()
    assert played.guarded.admit(Trigger.AUTOMATIC, Mode.BLOCK) is Mode.LINE
    assert played.guarded.admit(Trigger.INVOKED, Mode.BLOCK) is Mode.BLOCK
    played.wall_s += 60
    assert played.guarded.admit(Trigger.AUTOMATIC, Mode.BLOCK) is Mode.BLOCK


async def test_under_full_load_only_who_asks_by_hand_is_answered(play) -> None:
    played = play(INVOKED_ONLY, 0)
    await played.ask()
    assert await played.ask() == "paused"
    assert await played.ask(Trigger.INVOKED) == "ok"
    assert await played.ask() == "ok"


@pytest.mark.parametrize(("mode", "then"), [(Mode.BLOCK, "overloaded"), (Mode.LINE, "paused")])
async def test_what_a_service_refuses_says_what_it_leaves_out(play, mode, then) -> None:
    played = play(errors.Overloaded("", 2.0))
    assert await played.ask(mode=mode) == "overloaded"
    assert await played.ask(mode=mode) == then
    assert played.guarded.trouble is None


# B29, over the real wire


@contextlib.asynccontextmanager
async def typing_against(status: int, headers: dict[str, str], body: bytes):
    """8 keys a second for a minute, against a service that always says the same."""

    def answer(peer: Peer, request: Request) -> None:
        peer.respond(request.stream, status, headers, body)

    async with WireServer(answer) as server:
        clock = [WALL_S]
        completer = HttpCompleter(server.url, environ={}, wall_clock=lambda: clock[0])
        played = Played()
        played.guarded = Guarded(completer, played._changed, lambda: clock[0], lambda: 0.5)
        ends = []
        for _ in range(8 * 60):
            ends.append(await played.ask())
            clock[0] += 1 / 8
        yield ends, played
        played.guarded.close()
        await completer.aclose()


PLAIN, PAGE = {"content-type": "text/plain"}, {"content-type": "text/html"}


@pytest.mark.parametrize(
    ("status", "headers", "body", "kind", "num_asked"),
    [
        (429, PLAIN | {"retry-after": "30"}, b"Rate limited", "rate-limited", 2),
        (429, PLAIN | {"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, b"Rate limited", "rate-limited", 5),
        (429, PLAIN, b"Rate limited", "rate-limited", 6),
        (429, PLAIN | {"retry-after": "0"}, b"Rate limited", "rate-limited", 6),
        (429, PLAIN | {"retry-after": "99999999"}, b"Rate limited", "rate-limited", 1),
        (503, PAGE, b"<html>", "unavailable", 6),
        (502, PAGE, b"<html>", "unavailable", 6),
        (200, PAGE, b"<html>Log in</html>", "bad-answer", 6),
        (404, PAGE, b"<html>", "bad-answer", 6),
        (401, PLAIN, b"no", "unauthorized", 1),
        (403, PAGE, b"no", "unauthorized", 1),
    ],
)
async def test_a_minute_of_typing_asks_a_few_times_and_never_more(status, headers, body, kind, num_asked) -> None:
    async with typing_against(status, headers, body) as (ends, played):
        assert set(ends) == {kind, "paused"}
        assert ends.count(kind) == num_asked
        told = [trouble for trouble in played.troubles if trouble is not None]
        assert all(trouble.cause.type == kind for trouble in told)


@pytest.mark.parametrize("status", [413, 422])
async def test_a_request_that_is_wrong_pauses_nothing(status) -> None:
    async with typing_against(status, PLAIN, b"no") as (ends, _):
        assert "paused" not in ends
