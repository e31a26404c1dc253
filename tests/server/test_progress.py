"""A build of the index as the editor shows it: after a while, in shares, to its end or the user's."""

import asyncio
import contextlib
import json

import pytest

from lsp_complete.server.lsp import create_server
from lsp_complete.server.progress import BuildProgress

PATIENCE_S = 30.0


class Client:
    """The editor's end in this process. It takes each request of the server, or refuses all."""

    def __init__(self, *, shows_progress=True, refuses=False):
        self.values, self.tokens, self.refuses = [], [], refuses
        self.server = create_server()
        self.server.protocol.set_writer(self)
        self.arrived = asyncio.Event()
        self.says(
            id=1,
            method="initialize",
            params={
                "processId": None,
                "rootUri": None,
                "capabilities": {"window": {"workDoneProgress": shows_progress}},
            },
        )

    def says(self, **message):
        data = {"jsonrpc": "2.0", **message}
        self.server.protocol.handle_message(self.server.protocol.structure_message(data))

    def write(self, data):
        message = json.loads(data.partition(b"\r\n\r\n")[2])
        if message.get("method") == "window/workDoneProgress/create":
            self.tokens.append(message["params"]["token"])
            answer = {"error": {"code": -1, "message": "no"}} if self.refuses else {"result": None}
            asyncio.get_running_loop().call_soon(lambda: self.says(id=message["id"], **answer))
        elif message.get("method") == "$/progress":
            self.values.append(message["params"]["value"])
            self.arrived.set()

    def close(self):
        pass

    @property
    def kinds(self):
        return [value["kind"] for value in self.values]

    async def until(self, condition):
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self.arrived.clear()
                await self.arrived.wait()


@contextlib.asynccontextmanager
async def connected(**kwargs):
    client = Client(**kwargs)
    yield client
    await client.server.session.aclose()


async def test_a_build_is_shown_from_beginning_to_end():
    async with connected() as client:
        with BuildProgress(client.server, delay_s=0).shown(lambda: None) as progress:
            progress(50, 200)
            await client.until(lambda: "report" in client.kinds)
        await client.until(lambda: "end" in client.kinds)
        begin, report, *_, end = client.values
        assert (begin["kind"], begin["cancellable"]) == ("begin", True)
        assert (report["percentage"], report["message"]) == (25, "50 of 200 files")
        assert end["kind"] == "end"


async def test_the_user_can_cancel_it():
    async with connected() as client:
        cancelled = asyncio.Event()
        with BuildProgress(client.server, delay_s=0).shown(cancelled.set):
            await client.until(lambda: client.kinds)
            client.says(method="window/workDoneProgress/cancel", params={"token": client.tokens[0]})
            async with asyncio.timeout(PATIENCE_S):
                await cancelled.wait()


@pytest.mark.parametrize("client", [{"shows_progress": False}, {"refuses": True}])
async def test_a_client_that_shows_none_is_not_bothered(client):
    async with connected(**client) as client:
        with BuildProgress(client.server, delay_s=0).shown(lambda: None) as progress:
            progress(1, 2)
            for _ in range(20):
                await asyncio.sleep(0)
        assert client.values == []


async def test_a_short_build_is_not_shown():
    async with connected() as client:
        with BuildProgress(client.server).shown(lambda: None) as progress:
            progress(1, 2)
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert client.tokens == []
