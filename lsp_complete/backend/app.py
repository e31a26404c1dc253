"""The service over HTTP: an ASGI application. Knows the wire, the credential and the limits; the rest is service.py.

Every handler watches `receive()`: a reset stream is the only sign of a cancellation, `send()` is silent about it.
"""

import asyncio
import contextlib
import hmac
import logging
import math
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lsp_complete import __version__
from lsp_complete.backend import openai_api
from lsp_complete.backend.metrics import Metrics
from lsp_complete.backend.service import CHARS_PER_TOKEN, Asked, CompletionService
from lsp_complete.backend.sessions import Sessions
from lsp_complete.protocol.completion import CompletionChunk
from lsp_complete.protocol.errors import (
    CompletionError,
    Draining,
    EngineFailed,
    InvalidRequest,
    ModelLoading,
    TooLarge,
    Unauthorized,
    to_problem,
)
from lsp_complete.protocol.wire import (
    COMPLETE_PATH,
    EVENT_STREAM,
    HEALTH_PATH,
    METRICS_PATH,
    PROBLEM_JSON,
    SESSION_PATH,
    chunk_to_event,
    request_from_json,
)

_log = logging.getLogger(__name__)

# A body that has not arrived by then never will: it is a few kilobytes over a connection that is open already.
_BODY_TIMEOUT_S = 10.0
_RETRY_AFTER_S = 1.0
_MAX_DRAINED_BYTES = 16 * 2**20
_TENANT = "lsp_complete.tenant"
_SESSION_ROUTE = SESSION_PATH.replace("}", ":path}")  # an id may have a slash in it


@dataclass(slots=True)
class Backend:
    """What the handlers share. `service` is None until the model is loaded, `failure` says why it never will be.
    `tenants` are further credentials, with the name of whom each is for. `answering` are the tasks that answer now."""

    credential: str
    max_body_bytes: int
    sessions: Sessions
    metrics: Metrics = field(default_factory=Metrics)
    service: CompletionService | None = None
    failure: str = ""
    model: str = ""
    is_draining: bool = False
    tenants: dict[str, str] = field(default_factory=dict)
    answering: set[asyncio.Future[None]] = field(default_factory=set)

    def ready_service(self) -> CompletionService:
        try:
            return self._ready_service()
        except CompletionError as error:
            self.metrics.requests.labels(error.type).inc()
            raise

    def _ready_service(self) -> CompletionService:
        if self.is_draining:
            raise Draining(retry_after_s=_RETRY_AFTER_S)
        if self.failure:
            raise EngineFailed(self.failure)
        if self.service is None:
            raise ModelLoading()
        return self.service

    def health(self) -> dict[str, Any]:
        service = self.service
        load = (service.admission.num_running + service.admission.num_waiting) if service else 0
        return {
            "ready": service is not None,
            "version": __version__,
            "model": self.model,
            "failure": self.failure,
            "context_tokens": service.engine.context_tokens if service else 0,
            "characters_per_token": CHARS_PER_TOKEN,
            "load": load,
            "num_slots": service.engine.num_slots if service else 0,
            "degradation": service.level() if service else 0,
            "debounce_ms": service.debounce_ms() if service else 0,
            "isolation": service.engine.isolation.value if service else "",
        }


def create_app(backend: Backend) -> ASGIApp:
    async def health(request: Request) -> Response:
        if session_id := request.query_params.get("session_id"):
            backend.sessions.seen(session_id[:200], time.monotonic())
        if backend.is_draining:
            return problem(Draining(retry_after_s=_RETRY_AFTER_S))
        return JSONResponse(backend.health())

    async def metrics(_: Request) -> Response:
        return Response(backend.metrics.exposition(), media_type="text/plain; version=0.0.4")

    async def models(_: Request) -> Response:
        return JSONResponse(openai_api.models(backend.model))

    async def end_session(request: Request) -> Response:
        backend.sessions.end(request.path_params["session_id"][:200], time.monotonic())
        return Response(status_code=204)

    routes = [
        Route(COMPLETE_PATH, _Completion(backend, _own_answer), methods=["POST"]),
        Route(openai_api.COMPLETIONS_PATH, _Completion(backend, _openai_answer), methods=["POST"]),
        Route(HEALTH_PATH, health),
        Route(METRICS_PATH, metrics),
        Route(openai_api.MODELS_PATH, models),
        Route(_SESSION_ROUTE, end_session, methods=["DELETE"]),
    ]
    return _Guard(Starlette(routes=routes, exception_handlers={404: _plain, 405: _plain}), backend)


class _Guard:
    """Nothing is served without the credential, and no error leaves as anything but a problem document."""

    def __init__(self, app: ASGIApp, backend: Backend) -> None:
        self._app = app
        self._expected = {backend.credential: "", **backend.tenants}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            tenant = self._tenant(scope)
            if tenant is None:
                await _drop_body(receive)
                error = Unauthorized("send it as `Authorization: Bearer CREDENTIAL`")
                await problem(error, {"www-authenticate": "Bearer"})(scope, receive, send)
                return
            scope[_TENANT] = tenant
        await self._app(scope, receive, send)

    def _tenant(self, scope: Scope) -> str | None:
        """Whose credential it is. Every one is compared, in a time that tells nothing of it."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        found = None
        for credential, tenant in self._expected.items():
            if len(given) == 1 and hmac.compare_digest(given[0], f"Bearer {credential}".encode()):
                found = tenant
        return found


Answer = Callable[[Backend, str, bytes], tuple[str, AsyncGenerator[bytes, None]]]
"""A tenant's request, its body, to the content type and the pieces of its answer. Raises CompletionError."""


def _own_answer(backend: Backend, tenant: str, body: bytes) -> tuple[str, AsyncGenerator[bytes, None]]:
    request = request_from_json(body)
    backend.sessions.seen(request.session_id[:200], time.monotonic())
    return EVENT_STREAM, _events(backend.ready_service().answer(Asked(request, tenant)))


def _openai_answer(backend: Backend, tenant: str, body: bytes) -> tuple[str, AsyncGenerator[bytes, None]]:
    asked = openai_api.parse(body)
    chunks = backend.ready_service().answer(Asked(asked.request, tenant, asked.stop, may_wait_beside=True))
    if asked.stream:
        return EVENT_STREAM, openai_api.events(asked, chunks, backend.model)
    return "application/json", openai_api.whole(asked, chunks, backend.model)


async def _events(chunks: AsyncGenerator[CompletionChunk, None]) -> AsyncGenerator[bytes, None]:
    async with contextlib.aclosing(chunks):
        async for chunk in chunks:
            yield chunk_to_event(chunk)


class _Completion:
    """Reads a request, sends its answer piece by piece, and stops at once when the client closes the stream."""

    def __init__(self, backend: Backend, answer: Answer) -> None:
        self._backend = backend
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(_BODY_TIMEOUT_S):
                body = await _body(receive, self._backend.max_body_bytes)
            if body is None:
                return
            content_type, pieces = self._answer(self._backend, scope.get(_TENANT, ""), body)
        except CompletionError as error:
            await problem(error)(scope, receive, send)
        except TimeoutError:
            await problem(InvalidRequest("the body did not arrive in time"))(scope, receive, send)
        else:
            sending = asyncio.ensure_future(_send_answer(content_type, pieces, scope, receive, send))
            self._backend.answering.add(sending)
            sending.add_done_callback(self._backend.answering.discard)
            await _until_disconnect(receive, sending)


async def _send_answer(
    content_type: str, pieces: AsyncGenerator[bytes, None], scope: Scope, receive: Receive, send: Send
) -> None:
    """The status is known only with the first piece, so nothing is sent before it."""
    started = False
    try:
        async with contextlib.aclosing(pieces):
            async for piece in pieces:
                if not started:
                    await send(_start(content_type))
                    started = True
                await send({"type": "http.response.body", "body": piece, "more_body": True})
    except CompletionError as error:
        if not started:
            await problem(error)(scope, receive, send)
            return
        # Too late for a status: an answer without its last chunk is what the client takes for a failure.
        _log.warning("request failed in mid-answer: %s", error.type)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_disconnect(receive: Receive, work: asyncio.Future[None]) -> None:
    """Wait for the work, unless the client closes its stream first: then the work is cancelled and its end awaited."""
    tasks = [work, asyncio.ensure_future(_disconnect(receive))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    if isinstance(results[0], Exception):
        raise results[0]


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Receive, limit: int) -> bytes | None:
    """The request's body; None if the client left. Never holds more than `limit` bytes. A larger body is read all the
    same, within bounds: many clients hear no answer before they have sent everything. Raises TooLarge."""
    body, num_bytes = bytearray(), 0
    while True:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece = message.get("body", b"")
        num_bytes += len(piece)
        body += piece if num_bytes <= limit else b""
        if not message.get("more_body") or num_bytes > limit + _MAX_DRAINED_BYTES:
            break
    if num_bytes > limit:
        raise TooLarge(f"the body may have {limit} bytes")
    return bytes(body)


async def _drop_body(receive: Receive) -> None:
    """Of a request that is answered without its body. HTTP/2 resets a stream that is answered before the body is read,
    and the client may see the reset instead of the answer."""
    with contextlib.suppress(TooLarge, TimeoutError):
        async with asyncio.timeout(_BODY_TIMEOUT_S):
            await _body(receive, 0)


def _start(content_type: str) -> Message:
    headers = [(b"content-type", content_type.encode()), (b"cache-control", b"no-store")]
    return {"type": "http.response.start", "status": 200, "headers": headers}


def problem(error: CompletionError, headers: dict[str, str] | None = None) -> Response:
    retry = {"retry-after": str(max(1, math.ceil(error.retry_after_s)))} if error.retry_after_s else {}
    return JSONResponse(to_problem(error), error.status, {**retry, **(headers or {})}, PROBLEM_JSON)


async def _plain(request: Request, error: Any) -> Response:
    await _drop_body(request.receive)
    body = {"type": "about:blank", "title": error.detail, "status": error.status_code}
    return JSONResponse(body, error.status_code, media_type=PROBLEM_JSON)
