"""The completer over real loopback: what it sends, what it makes of each answer, and how it is cancelled."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import h2.errors
import httpx
import pytest

from lsp_complete.client.completer import HttpCompleter
from lsp_complete.protocol import errors
from lsp_complete.protocol.completion import (
    Completer,
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
    TextChunk,
)
from lsp_complete.protocol.wire import chunk_to_event, request_from_json

from .wire_server import Peer, Request, Script, WireServer

NOW_S = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT
CREDENTIAL = "s3cret"
REQUEST = CompletionRequest("r1", "s1", "def add(a, b):\n    return ", "\n", path="add.py", deadline_ms=10_000)
EVENTS = {"content-type": "text/event-stream; charset=utf-8"}
ANSWER: list[CompletionChunk] = [TextChunk("a +"), TextChunk(" b"), FinishChunk(Finish.STOP, "tiny")]


def answering(
    status: int = 200, body: bytes = b"", headers: dict[str, str] | None = None, *, end: bool = True
) -> Script:
    return lambda peer, request: peer.respond(request.stream, status, headers or EVENTS, body, end=end)


def events(*chunks: CompletionChunk) -> bytes:
    return b"".join(map(chunk_to_event, chunks))


@pytest.fixture
async def completer_for() -> AsyncIterator[Callable[[str], HttpCompleter]]:
    async with contextlib.AsyncExitStack() as stack:

        def make(url: str) -> HttpCompleter:
            completer = HttpCompleter(url, CREDENTIAL, environ={}, wall_clock=lambda: NOW_S)
            stack.push_async_callback(completer.aclose)
            return completer

        yield make


Make = Callable[[str], HttpCompleter]


async def complete(completer: Completer, request: CompletionRequest = REQUEST) -> list[CompletionChunk]:
    return [chunk async for chunk in completer.complete(request)]


async def failure(make: Make, script: Script) -> errors.CompletionError:
    async with WireServer(script) as server:
        with pytest.raises(errors.CompletionError) as raised:
            await complete(make(server.url))
        return raised.value


async def test_chunks_arrive_in_order_up_to_the_finish_chunk(completer_for: Make) -> None:
    async with WireServer(answering(body=events(*ANSWER))) as server:
        completer = completer_for(server.url + "/")
        assert await complete(completer) == ANSWER
        assert await complete(completer) == ANSWER
        assert server.count("CONNECTED") == 1
        assert server.count("RST_STREAM") == 0


async def test_the_request_carries_credential_and_id_and_the_whole_question(completer_for: Make) -> None:
    seen: list[Request] = []

    def answer(peer: Peer, request: Request) -> None:
        seen.append(request)
        peer.respond(request.stream, 200, EVENTS, events(*ANSWER))

    async with WireServer(answer) as server:
        await complete(completer_for(server.url))
    headers = seen[0].headers
    assert (headers[":method"], headers[":path"]) == ("POST", "/v1/complete")
    assert headers["authorization"] == f"Bearer {CREDENTIAL}"
    assert headers["x-request-id"] == "r1"
    assert request_from_json(bytes(seen[0].body)) == REQUEST


async def test_without_a_credential_none_is_sent() -> None:
    seen: list[Request] = []

    def refuse(peer: Peer, request: Request) -> None:
        seen.append(request)
        peer.respond(request.stream, 401)

    async with WireServer(refuse) as server:
        completer = HttpCompleter(server.url, environ={})
        with pytest.raises(errors.Unauthorized):
            await complete(completer)
        assert "authorization" not in seen[0].headers
        await completer.aclose()


# Cancellation.


async def test_closing_the_generator_resets_the_stream(completer_for: Make) -> None:
    async with WireServer(answering(body=events(ANSWER[0]), end=False)) as server:
        chunks = completer_for(server.url).complete(REQUEST)
        assert await anext(chunks) == ANSWER[0]
        await chunks.aclose()
        assert (await server.saw("RST_STREAM")).detail == int(h2.errors.ErrorCodes.CANCEL)


@pytest.mark.parametrize("script", [lambda peer, request: None, answering(end=False)], ids=["silent", "headers"])
async def test_cancelling_the_task_that_waits_resets_the_stream(completer_for: Make, script: Script) -> None:
    async with WireServer(script) as server:
        waiting = asyncio.create_task(complete(completer_for(server.url)))
        await server.saw("END_STREAM")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await server.saw("RST_STREAM")).detail == int(h2.errors.ErrorCodes.CANCEL)


@pytest.mark.parametrize("end", [True, False], ids=["ended", "left open"])
async def test_an_answer_is_complete_with_its_finish_chunk(completer_for: Make, end: bool) -> None:
    async with WireServer(answering(body=events(*ANSWER), end=end)) as server:
        assert await complete(completer_for(server.url)) == ANSWER
        if not end:
            await server.saw("RST_STREAM")


async def test_the_deadline_bounds_the_wait_for_the_first_chunk(completer_for: Make) -> None:
    async with WireServer(lambda peer, request: None) as server:
        with pytest.raises(errors.Unavailable, match="deadline"):
            await complete(completer_for(server.url), CompletionRequest("r", "s", "", "", deadline_ms=30))
        await server.saw("RST_STREAM")


async def test_the_deadline_bounds_the_wait_for_the_last_chunk(completer_for: Make) -> None:
    async with WireServer(answering(body=events(ANSWER[0]), end=False)) as server:
        chunks = completer_for(server.url).complete(CompletionRequest("r", "s", "", "", deadline_ms=50))
        assert await anext(chunks) == ANSWER[0]
        with pytest.raises(errors.Unavailable, match="deadline"):
            await anext(chunks)


# What goes wrong.


@pytest.mark.parametrize(
    ("retry_after", "expected_s"),
    [("30", 30.0), ("Fri, 15 Jan 2027 08:00:30 GMT", 30.0), (None, None), ("0", 0.0), ("99999999", 600.0)],
)
async def test_429_says_how_long_to_wait(
    completer_for: Make, retry_after: str | None, expected_s: float | None
) -> None:
    headers = {"content-type": "text/plain"} | ({"retry-after": retry_after} if retry_after else {})
    error = await failure(completer_for, answering(429, b"Rate limited", headers))
    assert type(error) is errors.RateLimited
    assert error.retry_after_s == expected_s


async def test_503_with_a_page_is_unavailable(completer_for: Make) -> None:
    error = await failure(completer_for, answering(503, b"<html>" + b"x" * 10**5, {"content-type": "text/html"}))
    assert type(error) is errors.Unavailable
    assert "html" not in str(error)


async def test_a_problem_document_becomes_its_error(completer_for: Make) -> None:
    body = json.dumps(errors.to_problem(errors.ModelLoading("40 %"))).encode()
    error = await failure(completer_for, answering(503, body, {"content-type": "application/problem+json"}))
    assert (type(error), error.detail) == (errors.ModelLoading, "40 %")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, errors.Unauthorized),
        (413, errors.TooLarge),
        (422, errors.InvalidRequest),
        (403, errors.Unauthorized),
        (400, errors.InvalidRequest),
        (404, errors.BadAnswer),
        (500, errors.EngineFailed),
        (502, errors.Unavailable),
    ],
)
async def test_a_status_without_a_problem_becomes_the_error_that_fits(
    completer_for: Make, status: int, expected: type[errors.CompletionError]
) -> None:
    assert type(await failure(completer_for, answering(status))) is expected


@pytest.mark.parametrize(
    "script",
    [
        answering(200, b"<html>Log in</html>", {"content-type": "text/html"}),
        answering(200, b"{}", {"x": "no type"}),
        answering(302, b"", {"location": "https://portal.example/login"}),
        answering(200, b"<html>"),
        answering(200, events(ANSWER[0])),
        answering(200, b"data: nonsense\n\n"),
    ],
    ids=["html", "no type", "redirect", "html as events", "no finish", "no chunk"],
)
async def test_an_answer_of_something_else_is_a_bad_answer(completer_for: Make, script: Script) -> None:
    assert type(await failure(completer_for, script)) is errors.BadAnswer


async def test_a_connection_lost_in_the_middle_is_unreachable(completer_for: Make) -> None:
    async with WireServer(answering(body=events(ANSWER[0]), end=False)) as server:
        chunks = completer_for(server.url).complete(REQUEST)
        assert await anext(chunks) == ANSWER[0]
        server.peers[0].transport.abort()
        with pytest.raises(errors.Unreachable):
            await anext(chunks)


async def test_the_request_is_repeated_once_when_the_connection_dies(completer_for: Make) -> None:
    def answer(peer: Peer, request: Request) -> None:
        if peer.number == 1:
            peer.transport.abort()
        else:
            peer.respond(request.stream, 200, EVENTS, events(*ANSWER))

    async with WireServer(answer) as server:
        assert await complete(completer_for(server.url)) == ANSWER


async def test_nobody_at_the_address_is_unreachable(completer_for: Make, unused_port: int) -> None:
    with pytest.raises(errors.Unreachable) as raised:
        await complete(completer_for(f"http://127.0.0.1:{unused_port}"))
    assert str(unused_port) in str(raised.value)
    assert CREDENTIAL not in str(raised.value)
    assert "return" not in str(raised.value)


@pytest.mark.parametrize("url", ["", "localhost:8765", "ftp://x", "http://", "http://[", "http://a b", "http://x:port"])
async def test_a_url_that_leads_nowhere_is_unreachable(completer_for: Make, url: str) -> None:
    with pytest.raises(errors.Unreachable):
        await complete(completer_for(url))


async def test_a_credential_that_no_header_can_hold_is_not_shown() -> None:
    async with WireServer() as server:
        completer = HttpCompleter(server.url, "geheim\nnis", environ={})
        with pytest.raises(errors.Unreachable) as raised:
            await complete(completer)
        assert "geheim" not in str(raised.value)
        await completer.aclose()


# Health and sessions.


async def test_health_is_what_the_service_says(completer_for: Make) -> None:
    paths: list[str] = []

    def answer(peer: Peer, request: Request) -> None:
        paths.append(request.headers[":method"] + " " + request.path)
        peer.respond(request.stream, 200, {"content-type": "application/json"}, b'{"ready": true}')

    async with WireServer(answer) as server:
        completer = completer_for(server.url)
        assert await completer.health() == {"ready": True}
        assert await completer.health("a b&c") == {"ready": True}
    assert paths == ["GET /v1/health", "GET /v1/health?session_id=a%20b%26c"]


@pytest.mark.parametrize("body", [b"[]", b"nonsense", b""])
async def test_health_that_is_no_object_is_a_bad_answer(completer_for: Make, body: bytes) -> None:
    async with WireServer(answering(200, body, {"content-type": "application/json"})) as server:
        with pytest.raises(errors.BadAnswer):
            await completer_for(server.url).health()


async def test_the_end_of_a_session_is_told(completer_for: Make) -> None:
    paths: list[str] = []

    def answer(peer: Peer, request: Request) -> None:
        paths.append(request.headers[":method"] + " " + request.path)
        peer.respond(request.stream, 204)

    async with WireServer(answer) as server:
        await completer_for(server.url).end_session("a/b")
    assert paths == ["DELETE /v1/sessions/a%2Fb"]


async def test_the_end_of_a_session_never_fails(completer_for: Make, unused_port: int) -> None:
    await completer_for(f"http://127.0.0.1:{unused_port}").end_session("s")
    async with WireServer(answering(500)) as server:
        await completer_for(server.url).end_session("s")


async def test_any_httpx_transport_can_stand_below_it() -> None:
    def handle(request: httpx.Request) -> Any:
        return httpx.Response(200, headers=EVENTS, content=events(*ANSWER))

    assert await complete(HttpCompleter("http://x", transport=httpx.MockTransport(handle))) == ANSWER
