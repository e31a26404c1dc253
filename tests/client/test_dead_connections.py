"""Connections that stand but lead nowhere: after sleep, a change of network, or a router that has forgotten them."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import httpx
import pytest

from lsp_complete.client.freshness import Clocks, Freshness, Limits, Trust
from lsp_complete.client.h2_transport import IDEMPOTENT, H2Transport

from .wire_server import Peer, Request, WireServer, by_path

# As in production, but for the waits that a test really waits for.
IMPATIENT = Limits(min_reset_age_s=0, silence_s=0.05, probe_s=0.05)
# For connections that do answer: however busy the machine is, none is given up by mistake.
PATIENT = Limits(min_reset_age_s=0, silence_s=0.02, probe_s=5.0)


@dataclass
class Time:
    """Both clocks of a machine, moved by hand."""

    monotonic_s: float = 1000.0
    wall_s: float = 1_800_000_000.0
    clocks: Clocks = field(init=False)

    def __post_init__(self) -> None:
        self.clocks = Clocks(lambda: self.monotonic_s, lambda: self.wall_s)

    def passes(self, seconds: float) -> None:
        self.monotonic_s += seconds
        self.wall_s += seconds

    def is_slept_through(self, seconds: float) -> None:
        self.wall_s += seconds


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
async def transport(time: Time) -> AsyncIterator[H2Transport]:
    transport = H2Transport(environ={}, limits=IMPATIENT, clocks=time.clocks)
    yield transport
    await transport.aclose()


async def post(
    transport: H2Transport, server: WireServer, path: str = "/echo", *, idempotent: bool = True, read_s: float = 5.0
) -> str:
    extensions = {"timeout": {"connect": 5.0, "read": read_s, "write": 5.0, "pool": 5.0}, IDEMPOTENT: idempotent}
    request = httpx.Request("POST", server.url + path, content=b"text", extensions=extensions)
    response = await transport.handle_async_request(request)
    return (await response.aread()).decode()


def connections_of_requests(server: WireServer) -> list[int]:
    return [frame.connection for frame in server.frames if frame.name == "REQUEST"]


def test_trust_is_lost_by_silence_and_by_sleep(time: Time) -> None:
    def trust_after(silent_s: float, slept_s: float) -> Trust:
        freshness = Freshness(Limits(), time.clocks)
        time.passes(silent_s)
        time.is_slept_through(slept_s)
        return freshness.trust()

    assert trust_after(1, 0) is Trust.FRESH
    assert trust_after(6, 0) is Trust.DOUBTFUL
    assert trust_after(91, 0) is Trust.STALE
    assert trust_after(0, 3600) is Trust.STALE
    assert trust_after(1, 2) is Trust.FRESH  # a correction of the clock
    assert trust_after(1, -3600) is Trust.FRESH  # somebody has set it back


def test_a_sign_of_life_restores_trust(time: Time) -> None:
    freshness = Freshness(Limits(), time.clocks)
    time.passes(60)
    freshness.heard()
    assert freshness.trust() is Trust.FRESH


async def test_after_sleep_three_requests_are_answered_on_a_fresh_connection(
    transport: H2Transport, time: Time
) -> None:
    async with WireServer() as server:
        await post(transport, server)
        server.peers[0].fall_silent()
        time.is_slept_through(3600)
        assert [await post(transport, server) for _ in range(3)] == ["text"] * 3
        assert connections_of_requests(server) == [1, 2, 2, 2]


async def test_the_connection_from_before_the_sleep_is_closed(transport: H2Transport, time: Time) -> None:
    async with WireServer() as server:
        await post(transport, server)
        time.is_slept_through(3600)
        await post(transport, server)
        assert (await server.saw("CLOSED")).connection == 1


async def test_a_long_idle_connection_is_not_used_again(transport: H2Transport, time: Time) -> None:
    async with WireServer() as server:
        await post(transport, server)
        time.passes(91)
        await post(transport, server)
        assert connections_of_requests(server) == [1, 2]
        assert server.count("PING") == 0


async def test_after_a_pause_the_connection_is_asked_before_it_is_used(time: Time) -> None:
    transport = H2Transport(environ={}, limits=PATIENT, clocks=time.clocks)
    async with WireServer() as server:
        await post(transport, server)
        time.passes(30)
        await post(transport, server)
        assert [frame.name for frame in server.frames[-3:]] == ["PING", "REQUEST", "END_STREAM"]
        assert server.count("CONNECTED") == 1
        await transport.aclose()


async def test_a_connection_that_does_not_answer_a_ping_gets_no_request(transport: H2Transport, time: Time) -> None:
    async with WireServer() as server:
        await post(transport, server, idempotent=False)
        server.peers[0].fall_silent()
        time.passes(30)
        assert await post(transport, server, idempotent=False) == "text"
        assert connections_of_requests(server) == [1, 2]


async def test_a_ping_goes_on_when_the_request_that_waits_for_it_is_cancelled(
    transport: H2Transport, time: Time
) -> None:
    """Who types faster than a PING takes would otherwise never find out."""
    async with WireServer() as server:
        await post(transport, server)
        server.peers[0].fall_silent()
        time.passes(30)
        async with asyncio.timeout(5):
            while server.count("CONNECTED") == 1:
                typed_over = asyncio.create_task(post(transport, server))
                await asyncio.sleep(0)
                typed_over.cancel()
                await asyncio.wait([typed_over])
        assert await post(transport, server) == "text"


async def test_a_black_hole_is_noticed_while_a_request_waits(transport: H2Transport) -> None:
    async with WireServer(fall_silent_once) as server:
        assert await post(transport, server) == "text"
        assert connections_of_requests(server) == [1, 2]


async def test_a_request_that_may_not_be_repeated_fails_in_a_black_hole(transport: H2Transport) -> None:
    async with WireServer(fall_silent_once) as server:
        with pytest.raises(httpx.ReadError, match="no sign of life"):
            await post(transport, server, idempotent=False)
        assert connections_of_requests(server) == [1]


async def test_a_slow_answer_is_no_black_hole(time: Time) -> None:
    transport = H2Transport(environ={}, limits=PATIENT, clocks=time.clocks)
    async with WireServer() as server:
        waiting = asyncio.create_task(post(transport, server, "/hang"))
        await server.saw("PING", 3)
        server.peers[0].respond(1, body=b"late")
        assert await waiting == "late"
        assert server.count("CONNECTED") == 1
        await transport.aclose()


async def test_a_connection_without_a_first_byte_in_time_is_left_and_the_request_repeated(time: Time) -> None:
    transport = H2Transport(environ={}, limits=Limits(min_reset_age_s=0), clocks=time.clocks)

    def answer(peer: Peer, request: Request) -> None:
        if peer.number > 1:
            by_path(peer, request)

    async with WireServer(answer) as server:
        assert await post(transport, server, read_s=0.05) == "text"
        assert await post(transport, server, read_s=5.0) == "text"
        assert connections_of_requests(server) == [1, 2, 2]
        assert (await server.saw("CLOSED")).connection == 1
        await transport.aclose()


async def test_a_request_is_repeated_only_once(transport: H2Transport) -> None:
    async with WireServer() as server:
        with pytest.raises(httpx.ReadTimeout):
            await post(transport, server, "/hang", read_s=0.02)
        assert connections_of_requests(server) == [1, 2]


async def test_other_live_streams_keep_a_connection_that_is_left(transport: H2Transport) -> None:
    async with WireServer() as server:
        drip = await transport.handle_async_request(httpx.Request("GET", server.url + "/drip"))
        with pytest.raises(httpx.ReadTimeout):
            await post(transport, server, "/hang", idempotent=False, read_s=0.02)
        server.peers[0].send(1, b" two", end=True)
        assert await drip.aread() == b"one two"
        assert (await server.saw("CLOSED")).connection == 1


def fall_silent_once(peer: Peer, request: Request) -> None:
    if peer.number == 1:
        peer.fall_silent()
    else:
        by_path(peer, request)
