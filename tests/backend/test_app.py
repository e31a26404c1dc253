"""The service over real HTTP/2: status codes, problem documents, limits, and resets that reach the engine."""

import asyncio
import contextlib
import json
import sys

import httpx
import pytest
import trustme

from lsp_complete.client.completer import HttpCompleter
from lsp_complete.client.h2_transport import H2Transport
from lsp_complete.protocol.completion import FinishChunk
from lsp_complete.protocol.errors import ModelLoading, RateLimited, Unauthorized, Unreachable
from lsp_complete.protocol.wire import PROBLEM_JSON, request_to_json
from tests.fakes import RecitingEngine, request
from tests.serving import CREDENTIAL, backend_over, serving

BEARER = {"authorization": f"Bearer {CREDENTIAL}"}


@contextlib.asynccontextmanager
async def http(backend):
    async with (
        serving(backend) as url,
        httpx.AsyncClient(transport=H2Transport(), base_url=url, headers=BEARER) as client,
    ):
        yield client


@contextlib.asynccontextmanager
async def completer(backend, credential=CREDENTIAL):
    async with serving(backend) as url:
        found = HttpCompleter(url, credential)
        try:
            yield found
        finally:
            await found.aclose()


async def collect(asked, service):
    return [chunk async for chunk in service.complete(asked)]


def is_problem(response, status, name):
    body = response.json()
    assert response.headers["content-type"] == PROBLEM_JSON
    assert (response.status_code, body["status"], body["type"]) == (status, status, f"urn:lsp-complete:{name}")


async def test_an_answer_streams_over_http2():
    async with completer(backend_over(RecitingEngine("x + 1 é😀"))) as service:
        *texts, finish = await collect(request(), service)
    assert "".join(chunk.text for chunk in texts) == "x + 1 é😀"
    assert isinstance(finish, FinishChunk)


async def test_nothing_is_served_without_the_credential():
    async with http(backend_over(RecitingEngine("x"))) as client:
        for path in ("/v1/health", "/metrics", "/nowhere"):
            is_problem(await client.get(path, headers={"authorization": "Bearer wrong"}), 401, "unauthorized")
    async with completer(backend_over(RecitingEngine("x")), credential="") as service:
        with pytest.raises(Unauthorized):
            await collect(request(), service)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'"x"', b'{"request_id":1}', b"\xff\xfe", b"[" * 50_000])
async def test_a_body_that_is_no_request_is_refused_without_being_quoted(body):
    async with http(backend_over(RecitingEngine("x"))) as client:
        is_problem(await client.post("/v1/complete", content=body), 422, "invalid-request")


async def test_unknown_fields_are_ignored_and_missing_ones_have_defaults():
    body = {"request_id": "r", "session_id": "s", "prefix": "a", "suffix": "b", "of_the_future": [1]}
    async with http(backend_over(RecitingEngine("x"))) as client:
        assert (await client.post("/v1/complete", json=body)).status_code == 200


async def test_a_body_over_the_limit_is_refused_declared_or_not():
    async def undeclared():
        for _ in range(10):
            yield b"x" * 1000

    async with http(backend_over(RecitingEngine("x"), max_body_bytes=5000)) as client:
        is_problem(await client.post("/v1/complete", content=b"x" * 5001), 413, "too-large")
        is_problem(await client.post("/v1/complete", content=undeclared()), 413, "too-large")


async def test_a_client_that_only_listens_when_it_has_sent_everything_hears_of_its_size():
    async with serving(backend_over(RecitingEngine("x"), max_body_bytes=5000)) as url:
        host, port = url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        head = f"POST /v1/complete HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {CREDENTIAL}\r\n"
        writer.write(f"{head}Content-Length: 1000000\r\n\r\n".encode() + b"x" * 1_000_000)
        await writer.drain()
        assert (await reader.readline()).split()[1] == b"413"
        writer.close()


async def test_tls_is_never_left_out_for_a_missing_file(tmp_path):
    here = tmp_path / "here.pem"
    here.write_text("")
    for files in ({"tls_cert": str(here)}, {"tls_key": str(here)}, {"tls_cert": str(here), "tls_key": "/nowhere"}):
        with pytest.raises(OSError, match=r"TLS needs|nowhere"):
            async with serving(backend_over(RecitingEngine("x")), **files):
                pass


async def test_headers_over_the_limit_are_refused():
    async with http(backend_over(RecitingEngine("x"))) as client:
        response = await client.get("/v1/health", headers={"x-large": "x" * 60_000})
        assert response.status_code == 431


async def test_a_service_without_its_model_says_so():
    backend = backend_over(None)
    async with completer(backend) as service:
        with pytest.raises(ModelLoading):
            await collect(request(), service)
        assert (await service.health())["ready"] is False
        backend.service = backend_over(RecitingEngine("x")).service
        assert (await service.health())["ready"] is True
        assert len(await collect(request(), service)) == 2


async def test_a_full_queue_is_429_with_a_time_to_come_back():
    engine = RecitingEngine("x", num_slots=1)
    engine.gate = asyncio.Semaphore(0)
    async with completer(backend_over(engine, queue_length=0)) as service:
        running = asyncio.create_task(collect(request(), service))
        while not engine.jobs:
            await asyncio.sleep(0)
        with pytest.raises(RateLimited) as refused:
            await collect(request(), service)
        assert refused.value.retry_after_s == 1
        running.cancel()
        await asyncio.wait([running])


async def test_an_engine_that_fails_at_once_is_500_and_the_service_goes_on():
    engine = RecitingEngine("xy", fails_after=0)
    async with http(backend_over(engine)) as client:
        is_problem(await client.post("/v1/complete", content=request_to_json(request())), 500, "engine-failed")
        engine.fails_after = None
        assert (await client.post("/v1/complete", content=request_to_json(request()))).status_code == 200


@pytest.mark.parametrize("num_steps", [0, 2])
async def test_a_reset_reaches_the_engine_and_the_next_request_is_served(num_steps):
    engine = RecitingEngine("abcdef", num_slots=1)
    engine.gate = asyncio.Semaphore(num_steps)
    backend = backend_over(engine, queue_length=0)
    async with completer(backend) as service:
        task = asyncio.create_task(collect(request(), service))
        while not (engine.stats().steps == num_steps and engine.stats().busy):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        while engine.num_open:
            await asyncio.sleep(0)
        assert engine.stats().steps == num_steps
        engine.gate = None
        assert len(await collect(request(), service)) == 7
    assert backend.metrics.registry.get_sample_value("lsp_complete_in_flight") == 0


async def test_health_and_metrics_tell_numbers_only():
    async with http(backend_over(RecitingEngine("secret_word"))) as client:
        await client.post("/v1/complete", content=request_to_json(request("secret_word")))
        health, metrics = await client.get("/v1/health"), await client.get("/metrics")
    expected = {"ready", "model", "context_tokens", "characters_per_token", "load", "degradation", "debounce_ms"}
    assert expected <= health.json().keys()
    assert "lsp_complete_cached_tokens_total" in metrics.text
    assert "secret_word" not in metrics.text + json.dumps(health.json())


async def test_sessions_are_seen_and_can_end():
    backend = backend_over(RecitingEngine("x"))
    async with completer(backend) as service:
        for name in ("one", "a/b ü"):
            await service.health(name)
            assert name in backend.sessions._last_seen
            await service.end_session(name)
            assert name not in backend.sessions._last_seen


OPENAI = "/v1/completions"


async def test_clients_of_openai_are_answered_whole_or_in_a_stream():
    async with http(backend_over(RecitingEngine("x = 1\ny = 2\n"))) as client:
        body = {"prompt": "a", "suffix": "b", "max_tokens": 50}
        answer = (await client.post(OPENAI, json=body)).json()
        stream = (await client.post(OPENAI, json={**body, "stream": True})).text
    assert answer["choices"][0]["text"] == "x = 1\ny = 2\n"
    assert answer["usage"]["completion_tokens"] == 12
    assert answer["choices"][0]["finish_reason"] == "stop"
    *events, done = [line.removeprefix("data: ") for line in stream.split("\n") if line]
    assert "".join(json.loads(event)["choices"][0]["text"] for event in events) == "x = 1\ny = 2\n"
    assert done == "[DONE]"


async def test_their_stops_end_the_text_and_senseless_bodies_are_refused():
    async with http(backend_over(RecitingEngine("x = 1\ny = 2"))) as client:
        answer = await client.post(OPENAI, json={"prompt": "a", "stop": "\ny", "max_tokens": 50})
        assert answer.json()["choices"][0]["text"] == "x = 1"
        bodies: list[object] = [{}, {"prompt": 1}, {"prompt": "a", "stop": [1]}, {"prompt": "a", "max_tokens": -1}, []]
        for body in bodies:
            is_problem(await client.post(OPENAI, json=body), 422, "invalid-request")


async def test_over_tls_the_certificate_is_checked(tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    for blob in certificate.cert_chain_pems:
        blob.write_to_path(tmp_path / "chain.pem", append=True)
    files = {"tls_cert": str(tmp_path / "chain.pem"), "tls_key": str(tmp_path / "key.pem")}
    async with serving(backend_over(RecitingEngine("x")), **files) as url:
        assert url.startswith("https://")
        for ca_file, works in ((str(tmp_path / "ca.pem"), True), (None, False)):
            service = HttpCompleter(url, CREDENTIAL, ca_file=ca_file)
            with contextlib.nullcontext() if works else pytest.raises(Unreachable):
                assert len(await collect(request(), service)) == 2
            await service.aclose()


_DYING_CLIENT = """
import asyncio, os, sys
from lsp_complete.client.completer import HttpCompleter
from lsp_complete.protocol.completion import CompletionRequest

async def main(url, credential):
    async for _ in HttpCompleter(url, credential).complete(CompletionRequest("r", "s", "a", "b")):
        os._exit(9)

asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_client_that_dies_frees_its_slot():
    engine = RecitingEngine("abcdef", num_slots=1)
    engine.gate = asyncio.Semaphore(1)
    backend = backend_over(engine, queue_length=0)
    async with serving(backend) as url:
        client = await asyncio.create_subprocess_exec(sys.executable, "-c", _DYING_CLIENT, url, CREDENTIAL)
        assert await client.wait() == 9
        async with asyncio.timeout(5):
            while engine.num_open:
                await asyncio.sleep(0)
    assert engine.stats().steps == 1
    assert backend.service is not None
    assert backend.service.admission.num_running == 0
