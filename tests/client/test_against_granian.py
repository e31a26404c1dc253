"""The transport against the server that we ship with: each cancellation reaches the application as a disconnect."""

import asyncio
import contextlib
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
from granian.constants import HTTPModes, Interfaces
from granian.server.embed import Server

from lsp_complete.client.h2_transport import H2Transport

# Only a test that fails waits so long.
_PATIENCE_S = 10.0

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Application:
    """/hang waits until the client is gone, /drip begins an answer first, everything else is answered at once."""

    def __init__(self) -> None:
        self.started: Counter[str] = Counter()
        self.disconnected: Counter[str] = Counter()
        self.client_ports: set[int] = set()
        self._changed = asyncio.Event()

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        assert scope["type"] == "http"
        path = scope["path"]
        self.client_ports.add(int(scope["client"][1]))
        while (await receive()).get("more_body"):
            pass
        self._count(self.started, path)
        if path != "/hang":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"text", "more_body": path == "/drip"})
        if path in ("/hang", "/drip"):
            while (await receive())["type"] != "http.disconnect":
                pass
            self._count(self.disconnected, path)

    async def until(self, counter: Counter[str], path: str, number: int) -> None:
        async with asyncio.timeout(_PATIENCE_S):
            while counter[path] < number:
                self._changed.clear()
                await self._changed.wait()

    def _count(self, counter: Counter[str], path: str) -> None:
        counter[path] += 1
        self._changed.set()


@contextlib.asynccontextmanager
async def served(application: Application) -> AsyncIterator[str]:
    port = free_port()
    server = Server(
        application,
        "127.0.0.1",
        port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.auto,
        websockets=False,
        log_enabled=False,
    )
    serving = asyncio.create_task(server.serve())
    try:
        await until_open(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()
        await asyncio.wait([serving], timeout=_PATIENCE_S)


async def until_open(port: int) -> None:
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            await asyncio.sleep(0)
            with contextlib.suppress(ConnectionRefusedError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                await writer.wait_closed()
                return


def free_port() -> int:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


@contextlib.asynccontextmanager
async def connected() -> AsyncIterator[tuple[Application, H2Transport, str]]:
    """The client leaves first: granian waits for the streams that are open."""
    application, transport = Application(), H2Transport(environ={})
    async with served(application) as url:
        try:
            yield application, transport, url
        finally:
            await transport.aclose()


async def post(transport: H2Transport, url: str) -> httpx.Response:
    return await transport.handle_async_request(httpx.Request("POST", url, content=b"x"))


async def cancelled(task: asyncio.Task[httpx.Response]) -> None:
    task.cancel()
    await asyncio.wait([task])


async def test_each_cancelled_request_reaches_the_application() -> None:
    async with connected() as (application, transport, url):
        for number in range(1, 101):
            waiting = asyncio.create_task(post(transport, url + "/hang"))
            await application.until(application.started, "/hang", number)
            await cancelled(waiting)
            await application.until(application.disconnected, "/hang", number)
        assert await (await post(transport, url + "/")).aread() == b"text"
        assert len(application.client_ports) == 1


async def test_each_answer_left_early_reaches_the_application() -> None:
    async with connected() as (application, transport, url):
        for number in range(1, 51):
            response = await post(transport, url + "/drip")
            await response.aclose()
            await application.until(application.disconnected, "/drip", number)
        assert len(application.client_ports) == 1


async def test_requests_cancelled_at_once_do_not_cost_the_connection() -> None:
    """More than 20 streams, opened and reset within one read of the server, would (see `min_reset_age_s`)."""
    async with connected() as (application, transport, url):
        innocent = asyncio.create_task(post(transport, url + "/hang"))
        await application.until(application.started, "/hang", 1)
        tasks = [asyncio.create_task(post(transport, url + "/hang")) for _ in range(60)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert await (await post(transport, url + "/")).aread() == b"text"
        assert not innocent.done()
        await cancelled(innocent)
        await application.until(application.disconnected, "/hang", application.started["/hang"])
        assert len(application.client_ports) == 1
