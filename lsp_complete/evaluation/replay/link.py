"""The way from a simulated editor to the language server: messages of JSON-RPC, over pipes or within this process.

Within this process it is the server's own loop that reads them, its own handlers that answer, letter by letter what a
pipe would carry; only the pipe is a buffer. Knows no message.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

from lsp_complete.protocol.completion import Completer
from lsp_complete.server.lsp import create_server
from lsp_complete.server.main import SWITCH_S, serve

SERVER = (sys.executable, "-P", "-m", "lsp_complete", "lsp")
_PLACES = {
    "LSP_COMPLETE_CONFIG": "config.toml",
    "LSP_COMPLETE_LOGS": "logs",
    "LSP_COMPLETE_STATE": "state",
    "LSP_COMPLETE_RUNTIME": "run",
    "LSP_COMPLETE_INDEXES": "index",
}
_MAX_MESSAGE_BYTES = 64_000_000
_END_S = 10.0

Message = dict[str, Any]


class _Writer(Protocol):
    def write(self, data: bytes, /) -> object: ...


class Link:
    """`take` is called with each message of the server, from the event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: _Writer) -> None:
        self._reader, self._writer = reader, writer
        self.take: Callable[[Message], None] = lambda message: None
        self._reading = asyncio.create_task(self._read())

    def send(self, **message: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    @property
    def is_over(self) -> bool:
        return self._reading.done()

    async def aclose(self) -> None:
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading

    async def _read(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = await self._reader.readuntil(b"\r\n\r\n")
                length = int(head.partition(b":")[2].split(b"\r\n")[0])
                self.take(json.loads(await self._reader.readexactly(length)))


@contextlib.contextmanager
def places_in(folder: Path) -> Iterator[None]:
    """What is started here meanwhile finds nothing of the user's, and leaves what it writes in `folder`."""
    changes = _environ_in(folder)
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.asynccontextmanager
async def within(folder: Path, completer: Completer) -> AsyncIterator[Link]:
    """A server in this process that is answered by `completer`. There can be one at a time: its settings come by the
    process's environment."""
    with places_in(folder):
        sys.setswitchinterval(SWITCH_S)
        server = create_server()
        server.session.answer_from(completer)
        to_server, to_editor = (asyncio.StreamReader(limit=_MAX_MESSAGE_BYTES) for _ in range(2))
        server.protocol.set_writer(_Buffer(to_editor))
        link, serving = Link(to_editor, _Buffer(to_server)), asyncio.create_task(serve(server, to_server))
        try:
            yield link
        finally:
            to_server.feed_eof()
            await serving
            await link.aclose()


@contextlib.asynccontextmanager
async def over_pipes(
    folder: Path, service: AbstractAsyncContextManager[Mapping[str, str]] | None = None
) -> AsyncIterator[Link]:
    """A server as editors start it. `service` gives the variables by which it finds that; else it has its own."""
    async with service or contextlib.nullcontext({}) as variables, _started(folder, variables) as link:
        yield link


@contextlib.asynccontextmanager
async def _started(folder: Path, more: Mapping[str, str]) -> AsyncIterator[Link]:
    process = await asyncio.create_subprocess_exec(
        *SERVER,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **_environ_in(folder), **more},
        limit=_MAX_MESSAGE_BYTES,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    link = Link(process.stdout, process.stdin)
    try:
        yield link
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(_END_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        await link.aclose()


class _Buffer:
    """The end of a pipe that is written to."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def write(self, data: bytes) -> None:
        self._reader.feed_data(data)

    def close(self) -> None:
        pass


def _environ_in(folder: Path) -> dict[str, str]:
    return {name: str(folder / place) for name, place in _PLACES.items()}
