"""What cannot be asked, who cannot be asked, and how asking ends: the errors of the transport."""

import asyncio
from collections.abc import Awaitable, Callable

import httpx
import pytest

from lsp_complete.client.h2_transport import H2Transport

from .asking import echo, post
from .wire_server import Peer, WireServer


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "localhost:80/x", "/v1/complete"])
async def test_a_url_that_is_not_http_is_refused(transport: H2Transport, url: str) -> None:
    with pytest.raises(httpx.UnsupportedProtocol):
        await transport.handle_async_request(httpx.Request("GET", url))


async def test_a_service_that_speaks_another_protocol_is_named(transport: H2Transport) -> None:
    async def speak_http_1(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    await refused_by(transport, speak_http_1, "HTTP/2")


async def test_a_service_that_hangs_up_at_once_is_named(transport: H2Transport) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    await refused_by(transport, hang_up, "closed the connection|was lost")


async def refused_by(
    transport: H2Transport, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], why: str
) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(httpx.ConnectError, match=rf"127\.0\.0\.1:{port}.*({why})"):
            await transport.handle_async_request(httpx.Request("GET", f"http://127.0.0.1:{port}"))


async def test_a_service_that_never_says_hello_is_given_up(transport: H2Transport) -> None:
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        request = httpx.Request("GET", f"http://127.0.0.1:{port}", extensions={"timeout": {"connect": 0.02}})
        with pytest.raises(httpx.ConnectTimeout, match=f":{port} did not answer"):
            await transport.handle_async_request(request)


async def test_a_service_that_is_always_going_away_is_given_up(transport: H2Transport) -> None:
    class Leaving(Peer):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            self.go_away(0)

    async with WireServer(peer=Leaving) as server:
        with pytest.raises((httpx.ConnectError, httpx.RemoteProtocolError), match="going away"):
            await echo(transport, server)


async def test_a_header_that_is_not_valid_is_not_quoted(transport: H2Transport) -> None:
    async with WireServer() as server:
        request = httpx.Request("GET", server.url, headers=[(b"authorization", b"Bearer secret\nx")])
        with pytest.raises(httpx.LocalProtocolError) as failure:
            await transport.handle_async_request(request)
        assert "secret" not in str(failure.value)


async def test_closing_the_transport_fails_what_waits(transport: H2Transport) -> None:
    async with WireServer() as server:
        waiting = asyncio.create_task(post(transport, server.url + "/hang"))
        await server.saw("END_STREAM")
        await transport.aclose()
        with pytest.raises(httpx.ReadError):
            await waiting
        with pytest.raises(httpx.ConnectError, match="closed"):
            await echo(transport, server)
        assert (await server.saw("GOAWAY")).detail == 0


async def test_it_works_under_an_httpx_client(transport: H2Transport) -> None:
    async with WireServer() as server, httpx.AsyncClient(transport=transport) as client:
        response = await client.post(server.url + "/echo", json={"a": 1})
        assert response.json() == {"a": 1}
        assert response.http_version == "HTTP/2"


@pytest.mark.parametrize("num_steps", range(6))
async def test_closing_the_transport_fails_what_is_connecting(transport: H2Transport, num_steps: int) -> None:
    async with WireServer() as server:
        waiting = asyncio.create_task(post(transport, server.url + "/hang"))
        for _ in range(num_steps):
            await asyncio.sleep(0)
        await transport.aclose()
        with pytest.raises(httpx.NetworkError):
            await waiting
