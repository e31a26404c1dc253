"""The process `lsp-complete lsp`: reads messages until the editor says exit, closes its end, or dies.

pygls's own loop is not used: it never answers a request whose parameters do not parse, loses the exit code, and
waits for a thread that is blocked in a read.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Awaitable
from concurrent.futures import InvalidStateError, ThreadPoolExecutor
from typing import Any, BinaryIO, Protocol

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.io_ import StdinAsyncReader

from lsp_complete.server.lsp import CompletionServer, create_server

_log = logging.getLogger(__name__)

# More than any editor sends, little enough to refuse a length that is garbage.
_MAX_BODY_BYTES = 256 * 1024 * 1024
# What remains to be done at the end, saying good-bye to the service, may take so long.
_CLOSE_S = 2.0
# The event loop waits so long for a thread that computes; with Python's 5 ms a build or a parse is felt in each answer.
SWITCH_S = 0.001


class Reader(Protocol):
    def readline(self) -> Awaitable[bytes]: ...
    def readexactly(self, n: int, /) -> Awaitable[bytes]: ...


def run_stdio(stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Serve one editor over the given streams, then end the process: 0 after shutdown and exit, 1 otherwise."""
    sys.setswitchinterval(SWITCH_S)
    server = create_server()
    server.protocol.set_writer(_Stdout(stdout, server.stopping))
    reader = StdinAsyncReader(stdin, ThreadPoolExecutor(1, thread_name_prefix="stdin"))
    code = asyncio.run(serve(server, reader))
    logging.shutdown()
    os._exit(code)  # a thread may still be blocked in reading stdin


class _Stdout:
    """The editor's end of the pipe. One that has gone without reading our last answer is no error: it is the end."""

    def __init__(self, stream: BinaryIO, gone: asyncio.Event) -> None:
        self._stream, self._gone = stream, gone

    def write(self, data: bytes) -> None:
        try:
            self._stream.write(data)
            self._stream.flush()
        except (OSError, ValueError):
            self._gone.set()

    def close(self) -> None:
        pass


def run_tcp(host: str, port: int) -> None:
    """Serve the first editor that connects. Prints the port on stderr, for port 0. For tests."""
    sys.exit(asyncio.run(_serve_tcp(host, port)))


async def _serve_tcp(host: str, port: int) -> int:
    server = create_server()
    code: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.close()
        server.protocol.set_writer(writer)
        code.set_result(await serve(server, reader))
        writer.close()

    listener = await asyncio.start_server(connected, host, port)
    print(f"listening on {listener.sockets[0].getsockname()[1]}", file=sys.stderr, flush=True)  # noqa: T201
    return await code


async def serve(server: CompletionServer, reader: Reader) -> int:
    """Handle what is read until the editor says exit, its stream ends, or it dies. Gives the exit code."""
    reading = asyncio.create_task(_read_all(server, reader))
    stopping = asyncio.create_task(server.stopping.wait())
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows
            asyncio.get_running_loop().add_signal_handler(number, server.stopping.set)
    await asyncio.wait([reading, stopping], return_when=asyncio.FIRST_COMPLETED)
    is_orderly = server.was_shut_down and stopping.done()
    for task in (reading, stopping):
        task.cancel()
    try:
        async with asyncio.timeout(_CLOSE_S):
            await server.session.aclose()
    except TimeoutError:
        _log.warning("the service did not take the good-bye in time")
    return 0 if is_orderly else 1


async def _read_all(server: CompletionServer, reader: Reader) -> None:
    try:
        while (body := await _read_body(reader)) is not None:
            _handle(server, body)
            await asyncio.sleep(0)  # a handler takes its snapshot before the next message changes what it sees
    except (EOFError, OSError, ValueError) as error:
        _log.warning("the editor's stream ended: %s", type(error).__name__)


async def _read_body(reader: Reader) -> bytes | None:
    """The next message's body; None at the end of the stream. Raises ValueError where the frame makes no sense, after
    which nobody can tell where the next one begins."""
    length = None
    while line := await reader.readline():
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = int(value)
        elif not line.strip() and length is not None:
            if not 0 <= length <= _MAX_BODY_BYTES:
                raise ValueError("content length")
            body = await reader.readexactly(length)
            return body if len(body) == length else None
    return None


def _handle(server: CompletionServer, body: bytes) -> None:
    """One message; a request that cannot be handled is answered with an error all the same."""
    data = None
    try:
        data = json.loads(body)
        _check(server, data)
        if "method" in data:
            data.setdefault("params", None)  # pygls wants them of methods that LSP does not define
        server.protocol.handle_message(server.protocol.structure_message(data))
    except InvalidStateError:
        _log.debug("a reply that nobody waits for any more")
    except Exception as error:
        _log.warning("a message that makes no sense: %s", type(error).__name__)
        if not isinstance(data, dict) or _is_request(data):
            cause = error if isinstance(error, JsonRpcException) else JsonRpcParseError("not a message of LSP")
            _answer_error(server, data.get("id") if isinstance(data, dict) else None, cause)


def _check(server: CompletionServer, data: Any) -> None:
    """What pygls would leave without an answer. Raises JsonRpcException."""
    if not isinstance(data, dict) or data.get("jsonrpc") != "2.0":
        raise JsonRpcInvalidRequest("not a message of JSON-RPC 2.0")
    if server.was_shut_down and _is_request(data):
        raise JsonRpcInvalidRequest("a request after shutdown")
    if not server.is_initialized and _is_request(data) and data["method"] != types.INITIALIZE:
        raise JsonRpcServerNotInitialized("a request before initialize")


def _is_request(data: dict[str, Any]) -> bool:
    return "method" in data and "id" in data


def _answer_error(server: CompletionServer, message_id: str | int | None, error: JsonRpcException) -> None:
    """Spelled out, because pygls leaves out an id that is null."""
    message = {"jsonrpc": "2.0", "id": message_id, "error": error.to_response_error()}
    server.protocol._send_data(message)
