"""An httpx transport over HTTP/2 that resets cancelled requests on the wire and notices dead connections.

httpx's own never sends RST_STREAM, so a service works on for nobody and after 100 cancelled requests the connection is
full for ever. Speaks HTTP/2 only: cleartext with prior knowledge for http://, TLS with ALPN for https://. Knows nothing
about completions.
"""

import os
import re
import ssl
from collections.abc import AsyncIterable, Mapping
from functools import cached_property
from typing import Self, cast

import httpx

from lsp_complete.client.dial import Route
from lsp_complete.client.freshness import Clocks, Limits
from lsp_complete.client.h2_connection import Connection, Headers
from lsp_complete.client.h2_pool import Pool
from lsp_complete.client.h2_stream import ConnectionDied, NotProcessed, Stream
from lsp_complete.client.proxies import BadProxy, proxy_for

IDEMPOTENT = "idempotent"
"""Request extension: {IDEMPOTENT: True} says that the service may safely get this request twice."""

_IDEMPOTENT_METHODS = {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"}  # RFC 9110 section 9.2.2
_DEFAULT_PORTS = {"http": 80, "https": 443}
# They belong to one connection of HTTP/1.1 and are forbidden in HTTP/2 (RFC 9113 section 8.2.2); host is :authority.
_HEADERS_LEFT_OUT = {
    b"host", b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade",
}  # fmt: skip
# h2 would send it, and a peer may take it for the end of a header (RFC 9113 section 8.2.1).
_FORBIDDEN_IN_VALUE = re.compile(rb"[\0\r\n]")

_Timeouts = dict[str, float | None]


class H2Transport(httpx.AsyncBaseTransport):
    """Timeouts are httpx's, in the request's extensions: `connect`, `read` (also the wait for the first byte), `write`
    and `pool`; a total belongs around the call. `environ` names the proxies and is read at each request."""

    def __init__(
        self,
        *,
        ca_file: str | None = None,
        environ: Mapping[str, str] = os.environ,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        clocks: Clocks = Clocks(),  # noqa: B008 - frozen
    ) -> None:
        self._ca_file = ca_file
        self._environ = environ
        self._pool = Pool(limits, clocks, lambda: self._tls_context)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One retry, on a newer connection, where the service cannot have done the work or may do it twice."""
        route = _route(request.url, self._environ)
        timeouts: _Timeouts = request.extensions.get("timeout", {})
        connection = await self._pool.acquire(route, timeouts)
        try:
            return await _exchange(connection, request, timeouts)
        except (NotProcessed, ConnectionDied, httpx.TimeoutException) as error:
            if not _may_be_sent_again(request, error):
                raise
        connection = await self._pool.acquire(route, timeouts, newer_than=connection.serial)
        return await _exchange(connection, request, timeouts)

    async def aclose(self) -> None:
        await self._pool.aclose()

    @cached_property
    def _tls_context(self) -> ssl.SSLContext:
        """Without a file of our own: certifi's authorities and those of the system, where companies put theirs."""
        context = ssl.create_default_context(cafile=self._ca_file) if self._ca_file else httpx.create_ssl_context()
        if not self._ca_file:
            context.load_default_certs()
        context.set_alpn_protocols(["h2"])
        return context


class _ResponseBody(httpx.AsyncByteStream):
    """The body of an answer. An iterator and no generator: leaving it needs no help from the garbage collector."""

    def __init__(self, connection: Connection, stream: Stream, timeout_s: float | None) -> None:
        self._connection = connection
        self._stream = stream
        self._timeout_s = timeout_s

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            data = await self._connection.read(self._stream, self._timeout_s)
        except BaseException:
            self._connection.finish(self._stream)
            raise
        if data is None:
            self._connection.finish(self._stream)
            raise StopAsyncIteration
        return data

    async def aclose(self) -> None:
        """Leave the answer where it is; a stream that has not ended is reset."""
        self._connection.finish(self._stream)


async def _exchange(connection: Connection, request: httpx.Request, timeouts: _Timeouts) -> httpx.Response:
    """Send the request and wait for the headers of its answer. However this is left, no stream is left open."""
    stream = connection.open(_headers(request), has_body=_has_body(request))
    try:
        await _send_body(connection, stream, request, timeouts.get("write"))
        headers = await connection.headers(stream, timeouts.get("read"))
        return _response(headers, _ResponseBody(connection, stream, timeouts.get("read")))
    except BaseException as error:
        connection.finish(stream)
        if isinstance(error, httpx.TimeoutException):
            connection.retire()
        raise


async def _send_body(connection: Connection, stream: Stream, request: httpx.Request, timeout_s: float | None) -> None:
    if not stream.sent:
        async for data in cast(AsyncIterable[bytes], request.stream):
            await connection.send(stream, data, timeout_s)
        connection.end(stream)


def _response(headers: Headers, body: httpx.AsyncByteStream) -> httpx.Response:
    status = next(int(value) for name, value in headers if name == b":status")
    plain = [(name, value) for name, value in headers if not name.startswith(b":")]
    return httpx.Response(status, headers=plain, stream=body, extensions={"http_version": b"HTTP/2"})


def _route(url: httpx.URL, environ: Mapping[str, str]) -> Route:
    if url.scheme not in _DEFAULT_PORTS or not url.host:
        raise httpx.UnsupportedProtocol("the service's URL begins with neither http:// nor https://")
    host, port = url.raw_host.decode("ascii"), url.port or _DEFAULT_PORTS[url.scheme]
    try:
        return Route(url.scheme, host, port, proxy_for(url.scheme, host, port, environ))
    except BadProxy as error:
        raise httpx.ProxyError(str(error)) from None


def _headers(request: httpx.Request) -> Headers:
    pseudo = [
        (b":method", request.method.encode("ascii")),
        (b":authority", request.url.netloc),
        (b":scheme", request.url.raw_scheme),
        (b":path", request.url.raw_path),
    ]
    kept = [(name.lower(), value) for name, value in request.headers.raw if name.lower() not in _HEADERS_LEFT_OUT]
    if any(_FORBIDDEN_IN_VALUE.search(value) for _, value in kept):
        raise httpx.LocalProtocolError("a header of the request holds a line break")
    return pseudo + kept


def _has_body(request: httpx.Request) -> bool:
    return "transfer-encoding" in request.headers or request.headers.get("content-length", "0") != "0"


def _may_be_sent_again(request: httpx.Request, error: httpx.TransportError) -> bool:
    """The body must still be there, and the service must not have done the work, or not mind doing it twice."""
    if not isinstance(request.stream, httpx.ByteStream):
        return False
    idempotent = request.extensions.get(IDEMPOTENT, request.method in _IDEMPOTENT_METHODS)
    return isinstance(error, NotProcessed) or bool(idempotent)
