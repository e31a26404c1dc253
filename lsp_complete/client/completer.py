"""A `Completer` over HTTP/2: the editor's end of the wire.

Every failure leaves here as a `CompletionError` of the protocol. Knows neither when to ask nor what to do with an
answer, keeps no history of failures (the caller backs off), and never puts a credential into a message.
"""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Mapping
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx

from lsp_complete.client.audit import NO_AUDIT, Audit
from lsp_complete.client.event_stream import ChunkReader
from lsp_complete.client.h2_transport import IDEMPOTENT, H2Transport
from lsp_complete.client.retry_after import parse_retry_after
from lsp_complete.protocol.completion import CompletionChunk, CompletionRequest, TextChunk
from lsp_complete.protocol.errors import BadAnswer, CompletionError, DeadlinePassed, Unreachable, from_problem
from lsp_complete.protocol.wire import (
    COMPLETE_PATH,
    EVENT_STREAM,
    HEALTH_PATH,
    METRICS_PATH,
    SESSION_PATH,
    request_to_json,
)

TIMEOUT = httpx.Timeout(connect=3.0, read=20.0, write=5.0, pool=3.0)
"""Seconds. `read` is long because a processor may need that for a long prompt; a dead connection is found by PING, long
before. The total is the request's `deadline_ms`."""

# A question about health that takes longer is an answer.
_HEALTH_S = 5.0
# The editor is closing, and the service forgets idle sessions by itself.
_END_SESSION_S = 1.0
# Problem documents are short; what is longer is a page for people.
_MAX_PROBLEM_BYTES = 65_536

_T = TypeVar("_T")


class HttpCompleter:
    """`url` is the service's base; `transport` takes the place of our own; `wall_clock` dates a Retry-After; `audit` is
    told of each request."""

    def __init__(
        self,
        url: str,
        credential: str = "",
        *,
        ca_file: str | None = None,
        timeout: httpx.Timeout = TIMEOUT,
        environ: Mapping[str, str] = os.environ,
        transport: httpx.AsyncBaseTransport | None = None,
        wall_clock: Callable[[], float] = time.time,
        audit: Audit = NO_AUDIT,
    ) -> None:
        self._url = url.strip().rstrip("/")
        self._credential = credential.strip()
        self._timeout = timeout
        self._transport = transport or H2Transport(ca_file=ca_file, environ=environ)
        self._wall_clock = wall_clock
        self._audit = audit

    def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        """Closing the generator, or cancelling the task that waits for it, resets the stream of HTTP/2."""
        body = request_to_json(request)
        return self._audit.recorded(self._chunks(request, body), request, len(body), self._url)

    async def _chunks(self, request: CompletionRequest, body: bytes) -> AsyncGenerator[CompletionChunk, None]:
        """The deadline is applied around each wait, not around the whole: a generator must not cancel its consumer."""
        deadline_s = _deadline_s(request.deadline_ms)
        response = await self._send(self._complete_request(request, body), deadline_s)
        try:
            await self._expect(response, EVENT_STREAM, deadline_s)
            reader = ChunkReader(aiter(cast(AsyncIterable[bytes], response.stream)))
            chunk = await _guard(reader.next(), deadline_s)
            while isinstance(chunk, TextChunk):
                yield chunk
                chunk = await _guard(reader.next(), deadline_s)
            yield chunk
            await reader.linger()
        finally:
            await response.aclose()

    async def health(self, session_id: str = "") -> dict[str, Any]:
        """What the service says about itself; `session_id` tells it that this session is still there."""
        path = f"{HEALTH_PATH}?session_id={quote(session_id, safe='')}" if session_id else HEALTH_PATH
        health = _json(await self._get(path, "application/json"))
        if not isinstance(health, dict):
            raise BadAnswer("the service's health is not a JSON object")
        return health

    async def metrics(self) -> str:
        """What the service has counted, in Prometheus's text format."""
        return (await self._get(METRICS_PATH, "text/plain")).decode("utf-8", "replace")

    async def end_session(self, session_id: str) -> None:
        """Tell the service that it may forget the session. Best effort: what goes wrong stays here."""
        path = SESSION_PATH.format(session_id=quote(session_id, safe=""))
        with contextlib.suppress(CompletionError):
            response = await self._send(self._request("DELETE", path), _deadline_s(_END_SESSION_S * 1000))
            await response.aclose()

    async def aclose(self) -> None:
        await self._transport.aclose()
        await self._audit.flush()

    async def _get(self, path: str, content_type: str) -> bytes:
        deadline_s = _deadline_s(_HEALTH_S * 1000)
        response = await self._send(self._request("GET", path), deadline_s)
        try:
            await self._expect(response, content_type, deadline_s)
            return await _guard(_read(response), deadline_s)
        finally:
            await response.aclose()

    def _complete_request(self, request: CompletionRequest, body: bytes) -> Callable[[], httpx.Request]:
        headers = {"accept": EVENT_STREAM, "content-type": "application/json", "x-request-id": request.request_id}
        return self._request("POST", COMPLETE_PATH, headers, body, request.deadline_ms / 1000)

    def _request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        patience_s: float = 0.0,
    ) -> Callable[[], httpx.Request]:
        """Makes the request when called, where a URL that is none is reported like any other failure.
        `patience_s`: for how long at least the service may say nothing.

        Completing twice is harmless: it costs the service some work, and gives the same text.
        """
        all_headers = {"user-agent": "lsp-complete", "accept-encoding": "identity", **(headers or {})}
        if self._credential:
            all_headers["authorization"] = f"Bearer {self._credential}"
        raw_headers = [(name.encode(), value.encode("utf-8", "replace")) for name, value in all_headers.items()]
        timeout = {**self._timeout.as_dict(), "read": max(self._timeout.read or 0.0, patience_s)}
        extensions = {"timeout": timeout, IDEMPOTENT: True}
        return lambda: httpx.Request(method, self._url + path, headers=raw_headers, content=body, extensions=extensions)

    async def _send(self, make_request: Callable[[], httpx.Request], deadline_s: float | None) -> httpx.Response:
        try:
            request = make_request()
        except httpx.InvalidURL as error:
            raise Unreachable("the service's URL is not valid") from error
        return await _guard(self._transport.handle_async_request(request), deadline_s)

    async def _expect(self, response: httpx.Response, content_type: str, deadline_s: float | None) -> None:
        """Raises the error that the answer stands for, unless it is a success of the type asked for."""
        found = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code != httpx.codes.OK:
            raise await self._problem(response, deadline_s)
        if found != content_type:
            raise BadAnswer(f"the service answered with {found or 'no content type'}, not {content_type}")

    async def _problem(self, response: httpx.Response, deadline_s: float | None) -> CompletionError:
        if response.has_redirect_location:
            return BadAnswer("the service answered with a redirection, as login pages of networks do")
        retry_after_s = parse_retry_after(response.headers.get("retry-after"), self._wall_clock())
        body = await _guard(_read(response), deadline_s)
        return from_problem(response.status_code, _json(body), retry_after_s)


async def _guard(answer: Awaitable[_T], deadline_s: float | None) -> _T:
    """Wait for a part of the answer, with the failures of the transport and of the clock in the protocol's words."""
    try:
        async with asyncio.timeout_at(deadline_s):
            return await answer
    except TimeoutError:
        raise DeadlinePassed("the service did not answer within the deadline") from None
    except httpx.TransportError as error:
        raise Unreachable(str(error)) from error
    except (OSError, ValueError, OverflowError) as error:  # a port or a host name that is none
        raise Unreachable("the service's URL is not valid") from error


async def _read(response: httpx.Response) -> bytes:
    """The body, up to a length beyond which it is not for us."""
    body = bytearray()
    async for piece in cast(AsyncIterable[bytes], response.stream):
        body += piece
        if len(body) > _MAX_PROBLEM_BYTES:
            break
    return bytes(body)


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _deadline_s(deadline_ms: float) -> float | None:
    """In the time of the event loop; None for no deadline."""
    return asyncio.get_running_loop().time() + deadline_ms / 1000 if deadline_ms > 0 else None
