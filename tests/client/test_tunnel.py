"""The way to the service: TLS with ALPN, and HTTP proxies. Hosts that are not this machine are never really asked."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import trustme

from lsp_complete.client.completer import HttpCompleter
from lsp_complete.client.h2_transport import H2Transport
from lsp_complete.protocol.completion import CompletionRequest
from lsp_complete.protocol.errors import Unreachable

from .wire_server import WireServer

SERVICE = "ai.corp"


class ConnectProxy:
    """A small HTTP proxy that leads every tunnel to one port of this machine, and writes down what it was asked.

    With `waits` it answers together with the first words of the service, which must speak first.
    """

    def __init__(
        self, target_port: int, answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n", *, waits: bool = False
    ) -> None:
        self._target_port = target_port
        self._answer = answer
        self._waits = waits
        self._relays: list[asyncio.Task[None]] = []
        self.heads: list[str] = []

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        yield server.sockets[0].getsockname()[1]
        server.close()
        for relay in self._relays:
            relay.cancel()
        await asyncio.gather(*self._relays, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        if b" 200 " not in self._answer:
            writer.write(self._answer)
            writer.close()
            return
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        writer.write(self._answer + (await far_reader.read(9) if self._waits else b""))
        self._relays += [
            asyncio.create_task(_relay(reader, far_writer)),
            asyncio.create_task(_relay(far_reader, writer)),
        ]


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
    finally:
        writer.close()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    return str(file)


def server_tls(authority: trustme.CA, *protocols: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost", SERVICE).configure_cert(context)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


async def echo(url: str, *, ca_file: str | None = None, environ: dict[str, str] | None = None) -> bytes:
    transport = H2Transport(ca_file=ca_file, environ=environ or {})
    try:
        extensions = {"timeout": {"connect": 5.0, "read": 5.0}}
        request = httpx.Request("POST", url + "/echo", content=b"text", extensions=extensions)
        return await (await transport.handle_async_request(request)).aread()
    finally:
        await transport.aclose()


# TLS.


async def test_https_is_http_2_over_tls(authority: trustme.CA, ca_file: str) -> None:
    async with WireServer(tls=server_tls(authority, "h2")) as server:
        assert await echo(server.url, ca_file=ca_file) == b"text"


@pytest.mark.parametrize("protocols", [(), ("http/1.1",)])
async def test_a_service_without_http_2_is_refused(
    authority: trustme.CA, ca_file: str, protocols: tuple[str, ...]
) -> None:
    async with WireServer(tls=server_tls(authority, *protocols)) as server:
        with pytest.raises(httpx.ConnectError, match=r"does not speak HTTP/2|(?i:no.application.protocol)"):
            await echo(server.url, ca_file=ca_file)


async def test_a_certificate_of_a_stranger_is_refused(authority: trustme.CA) -> None:
    async with WireServer(tls=server_tls(authority, "h2")) as server:
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await echo(server.url)


async def test_a_file_of_authorities_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(httpx.ConnectError, match="certificates cannot be read"):
        await echo("https://127.0.0.1:1", ca_file=str(tmp_path / "none.pem"))


# Proxies.


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_this_machine_is_reached_past_a_dead_proxy(unused_port: int, host: str) -> None:
    dead = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), f"http://127.0.0.1:{unused_port}")
    async with WireServer() as server:
        assert await echo(f"http://{host}:{server.port}", environ=dead) == b"text"


async def test_a_dead_proxy_is_named_and_the_service_is_not(unused_port: int) -> None:
    environ = {"HTTP_PROXY": f"http://user:s3cret@127.0.0.1:{unused_port}"}
    completer = HttpCompleter(f"http://{SERVICE}", environ=environ)
    with pytest.raises(Unreachable, match=f"proxy 127.0.0.1:{unused_port} cannot be reached") as raised:
        await anext(completer.complete(CompletionRequest("r", "s", "", "")))
    assert SERVICE not in str(raised.value)
    assert "s3cret" not in str(raised.value)
    await completer.aclose()


@pytest.mark.parametrize("waits", [False, True])
async def test_a_service_in_cleartext_is_reached_through_a_proxy(waits: bool) -> None:
    async with WireServer() as server:
        proxy = ConnectProxy(server.port, waits=waits)
        async with proxy.running() as port:
            environ = {"http_proxy": f"http://user:s3cret@127.0.0.1:{port}"}
            assert await echo(f"http://{SERVICE}:8080", environ=environ) == b"text"
        lines = proxy.heads[0].split("\r\n")
        assert lines[:2] == [f"CONNECT {SERVICE}:8080 HTTP/1.1", f"Host: {SERVICE}:8080"]
        assert lines[2] == "Proxy-Authorization: Basic dXNlcjpzM2NyZXQ="


async def test_a_service_over_tls_is_reached_through_a_proxy(authority: trustme.CA, ca_file: str) -> None:
    async with WireServer(tls=server_tls(authority, "h2")) as server:
        proxy = ConnectProxy(server.port)
        async with proxy.running() as port:
            environ = {"HTTPS_PROXY": f"127.0.0.1:{port}"}
            assert await echo(f"https://{SERVICE}", ca_file=ca_file, environ=environ) == b"text"
        assert proxy.heads[0].startswith(f"CONNECT {SERVICE}:443 HTTP/1.1\r\n")


async def test_a_stranger_at_the_end_of_a_tunnel_is_refused(authority: trustme.CA) -> None:
    async with WireServer(tls=server_tls(authority, "h2")) as server, ConnectProxy(server.port).running() as port:
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await echo(f"https://{SERVICE}", environ={"ALL_PROXY": f"127.0.0.1:{port}"})


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "HTTP status 407"),
        (b"HTTP/1.1 502 Bad Gateway\r\nX: y\r\n\r\n<html>", "HTTP status 502"),
        (b"nonsense\r\n\r\n", "no HTTP answer"),
        (b"", "no HTTP answer"),
    ],
)
async def test_a_proxy_that_refuses_the_tunnel_is_named(answer: bytes, why: str) -> None:
    async with ConnectProxy(0, answer).running() as port:
        with pytest.raises(httpx.ProxyError, match=rf"proxy 127\.0\.0\.1:{port} refuses a tunnel: {why}"):
            await echo(f"http://{SERVICE}", environ={"ALL_PROXY": f"127.0.0.1:{port}"})


async def test_a_proxy_that_says_nothing_is_named() -> None:
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        transport = H2Transport(environ={"ALL_PROXY": f"127.0.0.1:{port}"})
        request = httpx.Request("GET", f"http://{SERVICE}", extensions={"timeout": {"connect": 0.02}})
        with pytest.raises(httpx.ConnectTimeout, match=f"^proxy 127.0.0.1:{port} did not answer"):
            await transport.handle_async_request(request)
        await transport.aclose()


async def test_a_service_that_says_nothing_is_named_and_not_the_proxy() -> None:
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    async with server, ConnectProxy(server.sockets[0].getsockname()[1]).running() as port:
        transport = H2Transport(environ={"ALL_PROXY": f"127.0.0.1:{port}"})
        request = httpx.Request("GET", f"http://{SERVICE}", extensions={"timeout": {"connect": 0.1}})
        with pytest.raises(httpx.ConnectTimeout, match=f"^{SERVICE}:80 did not answer"):
            await transport.handle_async_request(request)
        await transport.aclose()


async def test_a_proxy_that_cannot_be_used_is_reported() -> None:
    with pytest.raises(httpx.ProxyError, match="only http://"):
        await echo(f"http://{SERVICE}", environ={"ALL_PROXY": "socks5://127.0.0.1:1"})


async def test_an_exception_is_reached_directly(unused_port: int) -> None:
    """127.1 is this machine and does not look like it: the name is not loopback, the way is."""
    environ = {"ALL_PROXY": f"http://127.0.0.1:{unused_port}", "no_proxy": "127.1"}
    async with WireServer() as server:
        assert await echo(f"http://127.1:{server.port}", environ=environ) == b"text"


async def test_a_new_proxy_takes_effect_with_the_next_request(unused_port: int) -> None:
    environ = {"http_proxy": f"http://127.0.0.1:{unused_port}"}
    transport = H2Transport(environ=environ)
    async with WireServer() as server, ConnectProxy(server.port).running() as port:
        with pytest.raises(httpx.ProxyError):
            await transport.handle_async_request(httpx.Request("GET", f"http://{SERVICE}"))
        environ["http_proxy"] = f"http://127.0.0.1:{port}"
        response = await transport.handle_async_request(httpx.Request("GET", f"http://{SERVICE}/echo"))
        assert response.status_code == 200
        await transport.aclose()
