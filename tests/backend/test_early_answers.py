"""An answer that needs no body waits for it all the same: over HTTP/2 a stream that is answered before is reset, and a
client may see the reset alone."""

import asyncio

import pytest

from lsp_complete.protocol.wire import request_to_json
from tests.backend.wire_client import wire_client
from tests.fakes import RecitingEngine, request
from tests.serving import CREDENTIAL, backend_over, serving

PATIENCE_S = 60
BODY = b" " * 30_000


@pytest.mark.parametrize(
    ("path", "credential", "body", "status"),
    [
        ("/v1/complete", "wrong", BODY, "401"),
        ("/v1/complete", CREDENTIAL, BODY, "413"),
        ("/v1/complete", CREDENTIAL, request_to_json(request()), "503"),
        ("/v1/health", CREDENTIAL, BODY, "405"),
        ("/nowhere", CREDENTIAL, BODY, "404"),
    ],
)
async def test_an_early_answer_comes_behind_the_body_and_is_no_reset(path, credential, body, status):
    backend = backend_over(None, max_body_bytes=20_000)
    async with asyncio.timeout(PATIENCE_S), serving(backend) as url, wire_client(url) as client:
        stream = client.begin("POST", path, credential)
        for _ in range(5):
            await client.round_trip()
        assert client.of(stream) == []
        client.send(stream, body)
        while not {"StreamEnded", "StreamReset"} & set(client.of(stream)):
            await client.receive()
        for _ in range(5):
            await client.round_trip()
        assert client.status(stream) == status
        assert "StreamReset" not in client.of(stream)


async def test_a_full_queue_is_told_on_a_stream_that_ends_well():
    engine = RecitingEngine("x", num_slots=1)
    engine.gate = asyncio.Semaphore(0)
    backend = backend_over(engine, queue_length=0)
    async with asyncio.timeout(PATIENCE_S), serving(backend) as url, wire_client(url) as client:
        running = client.begin("POST", "/v1/complete", CREDENTIAL)
        client.send(running, request_to_json(request()))
        while not engine.jobs:
            await asyncio.sleep(0)
        refused = client.begin("POST", "/v1/complete", CREDENTIAL)
        client.send(refused, request_to_json(request("another")))
        while "StreamEnded" not in client.of(refused):
            await client.receive()
        await client.round_trip()
        assert client.status(refused) == "429"
        assert "StreamReset" not in client.of(refused)
