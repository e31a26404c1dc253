"""Where events are taken in: an ASGI application over a store. Takes each event once, however often it is sent.

    POST /v1/events   {"events": [...]}   ->   {"new": 2, "known": 1, "refused": 0}

Errors are problem documents. Nothing of what is refused is kept, quoted or logged.
"""

import asyncio
import hmac
import logging
import sqlite3
import threading

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from lsp_complete.protocol.errors import (
    CompletionError,
    InvalidRequest,
    TooLarge,
    Unauthorized,
    Unavailable,
    to_problem,
)
from lsp_complete.protocol.events import Record
from lsp_complete.protocol.events_wire import EVENTS_PATH, records_from_json
from lsp_complete.protocol.wire import PROBLEM_JSON
from lsp_complete.telemetry.store import EventStore

_log = logging.getLogger(__name__)

# A batch of the recorder's has 200 kB.
_MAX_BODY_BYTES = 2_000_000
# Of such a batch, over a slow line.
_BODY_TIMEOUT_S = 10.0
# A full disk is seldom mended sooner.
_RETRY_S = 30.0


def create_ingest(store: EventStore, credential: str) -> ASGIApp:
    """`store` must be nobody else's in this process. An empty credential serves everybody."""
    lock = threading.Lock()

    def keep(records: list[Record]) -> int:
        with lock:
            return store.add(records)

    async def events(request: Request) -> Response:
        try:
            _authorize(request, credential)
            async with asyncio.timeout(_BODY_TIMEOUT_S):
                body = await _body(request)
            records, num_refused = records_from_json(body)
            num_new = await asyncio.to_thread(keep, records)
        except CompletionError as error:
            return _problem(error)
        except TimeoutError:
            return _problem(InvalidRequest("the body did not arrive in time"))
        except ClientDisconnect:
            return Response(status_code=400)
        except (sqlite3.Error, OSError) as error:
            _log.error("events not kept: %s", type(error).__name__)
            return _problem(Unavailable("the events cannot be kept now", _RETRY_S))
        return JSONResponse({"new": num_new, "known": len(records) - num_new, "refused": num_refused})

    return Starlette(routes=[Route(EVENTS_PATH, events, methods=["POST"])])


def _authorize(request: Request, credential: str) -> None:
    given = request.headers.get("authorization", "").encode("latin-1")
    if credential and not hmac.compare_digest(given, f"Bearer {credential}".encode()):
        raise Unauthorized("send it as `Authorization: Bearer CREDENTIAL`")


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MAX_BODY_BYTES:
            raise TooLarge(f"the body may have {_MAX_BODY_BYTES} bytes")
    return bytes(body)


def _problem(error: CompletionError) -> Response:
    headers = {"retry-after": str(round(error.retry_after_s))} if error.retry_after_s else {}
    return JSONResponse(to_problem(error), error.status, headers, PROBLEM_JSON)
