"""Makes the way to a service: TCP, through a proxy's tunnel if there is one, then TLS, until the service's SETTINGS.

Knows how to get there and whose fault it is when it fails; nothing about requests. A failing proxy is called by its
name, for the service has no part in that, and never by its credentials.
"""

import asyncio
import ssl
from dataclasses import dataclass
from typing import cast

import httpx

from lsp_complete.client.h2_connection import Connection
from lsp_complete.client.proxies import Proxy, host_and_port

_ALPN = "h2"
# No proxy has so much to say before the tunnel begins.
_MAX_HEAD_BYTES = 16_384
_HEAD_END = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Route:
    """Where a connection leads, and the key under which it is kept: a new proxy is a new route."""

    scheme: str
    host: str
    port: int
    proxy: Proxy | None = None

    @property
    def name(self) -> str:
        return host_and_port(self.host, self.port)


async def dial(route: Route, connection: Connection, tls: ssl.SSLContext | None, timeout_s: float | None) -> None:
    """Connect. Raises httpx.ConnectError, ConnectTimeout or ProxyError; then nothing is left open."""
    try:
        async with asyncio.timeout(timeout_s):
            await _reach(route, connection, tls)
            await connection.ready.wait()
    except TimeoutError:
        silent = route.name if connection.is_made else _who(route)
        connection.close()
        raise httpx.ConnectTimeout(f"{silent} did not answer in {timeout_s:g} s") from None
    except BaseException:
        connection.close()
        raise
    if connection.retired:
        raise httpx.ConnectError(f"{route.name}: {connection.error or 'the service is going away'}")


async def _reach(route: Route, connection: Connection, tls: ssl.SSLContext | None) -> None:
    if route.proxy:
        transport = await _through_proxy(route, route.proxy, connection, tls)
    else:
        transport = await _direct(route, connection, tls)
    if tls and transport.get_extra_info("ssl_object").selected_alpn_protocol() != _ALPN:
        raise httpx.ConnectError(f"{route.name} does not speak HTTP/2")


async def _direct(route: Route, connection: Connection, tls: ssl.SSLContext | None) -> asyncio.Transport:
    loop = asyncio.get_running_loop()
    try:
        transport, _ = await loop.create_connection(
            lambda: connection, route.host, route.port, ssl=tls, server_hostname=route.host if tls else None
        )
    except OSError as error:
        raise httpx.ConnectError(f"{route.name}: {error}") from error
    return transport


async def _through_proxy(
    route: Route, proxy: Proxy, connection: Connection, tls: ssl.SSLContext | None
) -> asyncio.Transport:
    tunnel = await _open_tunnel(route, proxy)
    try:
        return await _enter(tunnel, route, connection, tls)
    except BaseException:
        tunnel.transport.abort()
        raise


async def _enter(
    tunnel: "_Tunnel", route: Route, connection: Connection, tls: ssl.SSLContext | None
) -> asyncio.Transport:
    """Hand the far end of the tunnel over to the connection."""
    if tls:
        return await _start_tls(tunnel, route, connection, tls)
    tunnel.transport.set_protocol(connection)
    connection.connection_made(tunnel.transport)
    if tunnel.rest:
        connection.data_received(tunnel.rest)
    tunnel.transport.resume_reading()
    return tunnel.transport


async def _start_tls(tunnel: "_Tunnel", route: Route, connection: Connection, tls: ssl.SSLContext) -> asyncio.Transport:
    loop = asyncio.get_running_loop()
    try:
        transport = await loop.start_tls(tunnel.transport, connection, tls, server_hostname=route.host)
    except OSError as error:
        raise httpx.ConnectError(f"{route.name} through {_who(route)}: {error}") from error
    if transport is None:
        raise httpx.ConnectError(f"{route.name}: the tunnel was closed")
    connection.connection_made(transport)
    return transport


async def _open_tunnel(route: Route, proxy: Proxy) -> "_Tunnel":
    loop = asyncio.get_running_loop()
    request = _connect_request(route, proxy)
    try:
        _, tunnel = await loop.create_connection(lambda: _Tunnel(request), proxy.host, proxy.port)
    except OSError as error:
        raise httpx.ProxyError(f"{proxy.name} cannot be reached: {error.strerror or error}") from error
    try:
        status = await tunnel.status
    except BaseException:
        tunnel.transport.abort()
        raise
    if not 200 <= status < 300:
        tunnel.transport.abort()
        reason = f"HTTP status {status}" if status else "no HTTP answer"
        raise httpx.ProxyError(f"{proxy.name} refuses a tunnel: {reason}")
    return tunnel


class _Tunnel(asyncio.Protocol):
    """The conversation with the proxy. `status` is that of its answer, 0 for none; `rest` came after the answer."""

    transport: asyncio.Transport

    def __init__(self, request: bytes) -> None:
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.rest = b""
        self._request = request
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._head += data
        head, end, self.rest = self._head.partition(_HEAD_END)
        if end or len(head) > _MAX_HEAD_BYTES:
            self.transport.pause_reading()
            self._answer(_status(head))

    def connection_lost(self, error: Exception | None) -> None:
        self._answer(0)

    def _answer(self, status: int) -> None:
        if not self.status.done():
            self.status.set_result(status)


def _connect_request(route: Route, proxy: Proxy) -> bytes:
    target = route.name.encode()
    lines = [b"CONNECT " + target + b" HTTP/1.1", b"Host: " + target]
    if proxy.authorization:
        lines.append(b"Proxy-Authorization: " + proxy.authorization)
    return b"\r\n".join(lines) + _HEAD_END


def _status(head: bytes) -> int:
    words = head.split(None, 2)
    is_http = len(words) > 1 and words[0].startswith(b"HTTP/1.") and words[1].isdigit()
    return int(words[1]) if is_http else 0


def _who(route: Route) -> str:
    return route.proxy.name if route.proxy else route.name
