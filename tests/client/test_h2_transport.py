"""What the transport puts on the wire, read from the frames that a server got over real loopback."""

import asyncio
import random
from collections.abc import AsyncIterator

import h2.errors
import httpx
import pytest

from lsp_complete.client.freshness import Limits
from lsp_complete.client.h2_transport import H2Transport

from .asking import cancelled, cancelled_after_a_step, echo, post, read
from .wire_server import Frame, Peer, Request, WireServer, by_path

CANCEL = int(h2.errors.ErrorCodes.CANCEL)
ONE_CONNECTION = Limits(min_reset_age_s=0, max_connections=1)


# Cancellation.


async def test_cancelling_a_waiting_post_resets_its_stream_and_keeps_the_connection(transport: H2Transport) -> None:
    async with WireServer() as server:
        waiting = asyncio.create_task(post(transport, server.url + "/hang"))
        await server.saw("END_STREAM")
        await cancelled(waiting)
        assert await echo(transport, server, b"next") == b"next"
        assert server.frames == [
            Frame("CONNECTED", 1),
            Frame("REQUEST", 1, 1, "/hang"),
            Frame("END_STREAM", 1, 1),
            Frame("RST_STREAM", 1, 1, CANCEL),
            Frame("REQUEST", 1, 3, "/echo"),
            Frame("END_STREAM", 1, 3),
        ]


async def test_leaving_an_answer_early_resets_its_stream(transport: H2Transport) -> None:
    async with WireServer() as server:
        response = await post(transport, server.url + "/drip")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        assert await anext(aiter(response.stream)) == b"one"
        await response.aclose()
        assert (await server.saw("RST_STREAM")).detail == CANCEL
        assert server.count("CONNECTED") == 1


async def test_cancelling_a_task_that_reads_an_answer_resets_its_stream(transport: H2Transport) -> None:
    async with WireServer() as server:
        response = await post(transport, server.url + "/drip")
        await cancelled(response.aread())
        await response.aclose()
        assert (await server.saw("RST_STREAM")).detail == CANCEL


async def test_a_complete_answer_is_not_reset(transport: H2Transport) -> None:
    async with WireServer() as server:
        await echo(transport, server)
        await echo(transport, server)
        assert server.count("RST_STREAM") == 0


async def test_500_cancelled_requests_leave_no_open_stream(transport: H2Transport) -> None:
    async with WireServer() as server:
        for number in range(1, 501):
            waiting = asyncio.create_task(post(transport, server.url + "/hang"))
            await server.saw("END_STREAM", number)
            await cancelled(waiting)
        await server.saw("RST_STREAM", 500)
        assert server.count("CONNECTED") == 1
        assert server.peers[0].h2.open_inbound_streams == 0
        assert await echo(transport, server, b"still here") == b"still here"


@pytest.mark.parametrize("seed", range(5))
async def test_requests_cancelled_at_any_point_leave_no_open_stream(transport: H2Transport, seed: int) -> None:
    dice = random.Random(seed)

    async def cancelled_somewhere(server: WireServer) -> None:
        path = dice.choice(["/hang", "/drip", "/echo"])
        task = asyncio.create_task(read(transport, server.url + path))
        for _ in range(dice.randrange(12)):
            await asyncio.sleep(0)
        await cancelled(task)

    async with WireServer() as server:
        for _ in range(5):
            await asyncio.gather(*(cancelled_somewhere(server) for _ in range(16)))
        assert await echo(transport, server, b"last") == b"last"
        await server.until(lambda: server.peers[0].h2.open_inbound_streams == 0)
        assert server.count("CONNECTED") == 1


async def test_a_very_young_stream_is_reset_a_little_later() -> None:
    async with WireServer() as server:
        transport = H2Transport(environ={}, limits=Limits(min_reset_age_s=0.03))
        await echo(transport, server)
        await cancelled_after_a_step(post(transport, server.url + "/hang"))
        await echo(transport, server)
        await server.saw("RST_STREAM")
        names = [frame.name for frame in server.frames]
        assert names[-3:] == ["REQUEST", "END_STREAM", "RST_STREAM"]
        await transport.aclose()


async def test_a_request_cancelled_while_connecting_leaves_the_connection_to_the_next(transport: H2Transport) -> None:
    async with WireServer() as server:
        await cancelled_after_a_step(post(transport, server.url + "/hang"))
        assert await echo(transport, server, b"next") == b"next"
        assert server.count("CONNECTED") == 1
        assert server.count("REQUEST") == 1


# What the peer may say.


async def test_streams_in_flight_outlive_a_graceful_goaway(transport: H2Transport) -> None:
    async with WireServer() as server:
        drip = await post(transport, server.url + "/drip")
        hang = asyncio.create_task(post(transport, server.url + "/hang"))
        await server.saw("END_STREAM", 2)
        peer = server.peers[0]
        peer.go_away(2**31 - 1)
        peer.go_away(3)
        peer.send(1, b" two", end=True)
        peer.respond(3, body=b"late")
        assert await drip.aread() == b"one two"
        assert await (await hang).aread() == b"late"
        assert await echo(transport, server, b"next") == b"next"
        assert server.frames[-1].connection == 2
        await server.saw("CLOSED")


async def test_a_stream_above_the_last_of_a_goaway_is_sent_again(transport: H2Transport) -> None:
    def answer(peer: Peer, request: Request) -> None:
        if peer.number == 1:
            peer.go_away(0)
        else:
            by_path(peer, request)

    async with WireServer(answer) as server:
        assert await echo(transport, server, b"again") == b"again"
        assert server.count("REQUEST") == 2


async def test_a_refused_stream_is_sent_again_on_a_fresh_connection(transport: H2Transport) -> None:
    def answer(peer: Peer, request: Request) -> None:
        if peer.number == 1:
            peer.reset(request.stream, h2.errors.ErrorCodes.REFUSED_STREAM)
        else:
            by_path(peer, request)

    async with WireServer(answer) as server:
        assert await echo(transport, server, b"again") == b"again"
        assert [f.connection for f in server.frames if f.name == "REQUEST"] == [1, 2]


async def test_a_request_refused_twice_is_given_up(transport: H2Transport) -> None:
    async with WireServer(lambda peer, r: peer.reset(r.stream, h2.errors.ErrorCodes.REFUSED_STREAM)) as server:
        with pytest.raises(httpx.RemoteProtocolError, match="REFUSED_STREAM"):
            await echo(transport, server)
        assert server.count("REQUEST") == 2


async def test_any_other_reset_is_not_answered_with_a_second_request(transport: H2Transport) -> None:
    async with WireServer(lambda peer, r: peer.reset(r.stream, h2.errors.ErrorCodes.INTERNAL_ERROR)) as server:
        with pytest.raises(httpx.RemoteProtocolError, match="INTERNAL_ERROR"):
            await post(transport, server.url + "/echo", idempotent=True)
        assert server.count("REQUEST") == 1


def die_once(peer: Peer, request: Request) -> None:
    if peer.number == 1:
        peer.transport.abort()
    else:
        by_path(peer, request)


async def test_when_the_connection_dies_an_idempotent_request_is_sent_again(transport: H2Transport) -> None:
    async with WireServer(die_once) as server:
        response = await post(transport, server.url + "/echo", b"again", idempotent=True)
        assert await response.aread() == b"again"


async def test_when_the_connection_dies_any_other_request_is_delivered_once(transport: H2Transport) -> None:
    async with WireServer(die_once) as server:
        with pytest.raises(httpx.ReadError, match=r"was lost|closed the connection"):
            await post(transport, server.url + "/echo")
        assert server.count("REQUEST") == 1


async def test_a_goaway_with_an_error_gives_up_the_streams_in_flight(transport: H2Transport) -> None:
    async with WireServer(
        lambda peer, r: peer.go_away(r.stream, int(h2.errors.ErrorCodes.ENHANCE_YOUR_CALM))
    ) as server:
        with pytest.raises(httpx.ReadError, match="ENHANCE_YOUR_CALM"):
            await echo(transport, server)
        await server.saw("CLOSED")


async def test_an_answer_cut_off_in_the_middle_is_an_error(transport: H2Transport) -> None:
    async with WireServer() as server:
        response = await post(transport, server.url + "/drip")
        server.peers[0].transport.abort()
        with pytest.raises(httpx.ReadError):
            await response.aread()


async def test_no_more_streams_are_opened_than_the_peer_allows() -> None:
    async with WireServer(max_streams=2) as server:
        transport = H2Transport(environ={}, limits=ONE_CONNECTION)
        first = asyncio.create_task(post(transport, server.url + "/hang"))
        second = asyncio.create_task(post(transport, server.url + "/hang"))
        third = asyncio.create_task(echo(transport, server, b"third"))
        await server.saw("END_STREAM", 2)
        assert server.count("REQUEST") == 2
        await cancelled(first)
        assert await third == b"third"
        await cancelled(second)
        assert server.count("CONNECTED") == 1
        await transport.aclose()


async def test_when_one_connection_is_full_another_is_made(transport: H2Transport) -> None:
    async with WireServer(max_streams=1) as server:
        waiting = asyncio.create_task(post(transport, server.url + "/hang"))
        await server.saw("END_STREAM")
        assert await echo(transport, server, b"second") == b"second"
        assert server.count("CONNECTED") == 2
        await cancelled(waiting)


async def test_waiting_for_room_ends_with_the_pool_timeout() -> None:
    async with WireServer(max_streams=1) as server:
        transport = H2Transport(environ={}, limits=ONE_CONNECTION)
        waiting = asyncio.create_task(post(transport, server.url + "/hang"))
        await server.saw("END_STREAM")
        request = httpx.Request("POST", server.url, content=b"x", extensions={"timeout": {"pool": 0.01}})
        with pytest.raises(httpx.PoolTimeout):
            await transport.handle_async_request(request)
        await cancelled(waiting)
        await transport.aclose()


# Flow control.


async def test_bodies_larger_than_the_windows_pass_both_ways(transport: H2Transport) -> None:
    body = random.Random(0).randbytes(3 * 2**20)
    async with WireServer() as server:
        assert await echo(transport, server, body) == body


async def test_an_answer_that_nobody_reads_does_not_hold_up_another(transport: H2Transport) -> None:
    def answer(peer: Peer, request: Request) -> None:
        peer.respond(request.stream, body=b"a" * 2**18)

    async with WireServer(answer) as server:
        unread = [await post(transport, server.url) for _ in range(8)]
        assert len(await (await post(transport, server.url)).aread()) == 2**18
        for response in unread:
            await response.aclose()
        assert len(await (await post(transport, server.url)).aread()) == 2**18
        assert server.count("CONNECTED") == 1


async def test_an_answer_that_comes_before_the_whole_body_counts(transport: H2Transport) -> None:
    def refuse(peer: Peer, request: Request) -> None:
        peer.respond(request.stream, 413, body=b"too large")
        peer.flush()
        peer.reset(request.stream, h2.errors.ErrorCodes.NO_ERROR)

    async with WireServer(on_headers=refuse) as server:
        response = await post(transport, server.url, b"a" * 2**20)
        assert (response.status_code, await response.aread()) == (413, b"too large")


async def test_a_body_that_stays_incomplete_does_not_keep_its_stream(transport: H2Transport) -> None:
    async with WireServer(on_headers=lambda peer, r: peer.respond(r.stream, 413)) as server:
        stopped = asyncio.Event()

        async def body() -> AsyncIterator[bytes]:
            yield b"a" * 100
            await server.saw("REQUEST")
            await stopped.wait()
            yield b"a" * 2**20

        waiting = asyncio.create_task(transport.handle_async_request(httpx.Request("POST", server.url, content=body())))
        await server.saw("REQUEST")
        stopped.set()
        assert (await waiting).status_code == 413
        await (await waiting).aread()
        assert (await server.saw("RST_STREAM")).detail == CANCEL
