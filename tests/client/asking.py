"""How the tests ask: requests over a transport, and their cancellation."""

import asyncio
from collections.abc import Awaitable

import httpx

from lsp_complete.client.h2_transport import IDEMPOTENT, H2Transport

from .wire_server import WireServer


async def post(
    transport: H2Transport, url: str, body: bytes = b"x", *, idempotent: bool = False, read_s: float = 5.0
) -> httpx.Response:
    """The response, its body unread."""
    extensions = {"timeout": {"connect": 5.0, "read": read_s, "write": 5.0, "pool": 5.0}, IDEMPOTENT: idempotent}
    return await transport.handle_async_request(httpx.Request("POST", url, content=body, extensions=extensions))


async def echo(transport: H2Transport, server: WireServer, body: bytes = b"x") -> bytes:
    return await (await post(transport, server.url + "/echo", body)).aread()


async def cancelled(awaitable: Awaitable[object]) -> None:
    task = asyncio.ensure_future(awaitable)
    task.cancel()
    await asyncio.wait([task])


async def read(transport: H2Transport, url: str) -> bytes:
    response = await post(transport, url)
    try:
        return await response.aread()
    finally:
        await response.aclose()


async def cancelled_after_a_step(awaitable: Awaitable[object]) -> None:
    task = asyncio.ensure_future(awaitable)
    await asyncio.sleep(0)
    await cancelled(task)
