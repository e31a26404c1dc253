"""Reports of other tools' users, played over real connections: cancellation, load, errors, what leaves the machine."""

import asyncio
import contextlib
import logging

import httpx
import pytest
from lsprotocol import types

from lsp_complete.client.completer import HttpCompleter
from lsp_complete.client.h2_transport import H2Transport
from lsp_complete.protocol.completion import Mode, Trigger
from lsp_complete.protocol.errors import CompletionError
from lsp_complete.server.lsp import create_server
from lsp_complete.server.main import _handle
from lsp_complete.telemetry.store import FILE, EventStore
from tests.fakes import RecitingEngine, request
from tests.server.editor import Buffer, started
from tests.serving import CREDENTIAL, backend_over, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

NUM_AT_ONCE = 200


@pytest.mark.parametrize("num_steps", [0, 2])
async def test_an_answer_in_one_piece_that_nobody_waits_for_is_given_up(num_steps):
    """B26: while the prompt is computed, and while the text is."""
    engine = RecitingEngine("abcdef", num_slots=1)
    engine.gate = asyncio.Semaphore(num_steps)
    backend = backend_over(engine, queue_length=0)
    headers = {"authorization": f"Bearer {CREDENTIAL}"}
    async with serving(backend) as url, httpx.AsyncClient(transport=H2Transport(), headers=headers) as client:
        asked = asyncio.create_task(client.post(f"{url}/v1/completions", json={"prompt": "a", "max_tokens": 500}))
        while not (engine.stats().steps == num_steps and engine.stats().busy):
            await asyncio.sleep(0)
        asked.cancel()
        while engine.num_open:
            await asyncio.sleep(0)
        assert engine.stats().steps == num_steps
        while backend.metrics.registry.get_sample_value("lsp_complete_in_flight"):
            await asyncio.sleep(0)


async def test_a_burst_is_answered_or_refused_and_the_service_goes_on():
    async with serving(backend_over(RecitingEngine("abc"), queue_length=8)) as url:
        completer = HttpCompleter(url, CREDENTIAL)

        async def ask(number, **fields):
            asked = request(request_id=f"{number}", session_id=f"{number}", **fields)
            return [one async for one in completer.complete(asked)]

        found = await asyncio.gather(*map(ask, range(NUM_AT_ONCE)), return_exceptions=True)
        assert all(isinstance(one, list | CompletionError) for one in found)
        assert any(isinstance(one, list) for one in found)
        by_hand = await ask("last", mode=Mode.LINE, trigger=Trigger.INVOKED)  # the rest is refused for a while
        assert len(by_hand) == 4
        await completer.aclose()


async def test_an_editor_that_asks_for_two_hundred_documents_at_once_is_answered(editor, service):
    service.engine.text = "1"
    asked = [Buffer(editor, "x = █\n").complete_later() for _ in range(NUM_AT_ONCE)]
    await asyncio.gather(*map(editor.answer, asked))
    assert len(await Buffer(editor, "x = █\n").complete()) == 1


async def test_a_reply_to_what_nobody_waits_for_any_more_is_no_error(caplog):
    caplog.set_level(logging.INFO, "lsp_complete")
    server = create_server()
    asked = server.protocol.send_request_async(types.WINDOW_WORK_DONE_PROGRESS_CREATE, {"token": "t"}, "7")
    asked.cancel()
    await asyncio.sleep(0)
    _handle(server, b'{"jsonrpc": "2.0", "id": "7", "result": null}')
    assert [record.message for record in caplog.records if record.name.startswith("lsp_complete")] == []


async def test_a_service_that_does_not_know_us_is_told_of_once(editor, service):
    editor.configure(**{**service.options, "url": f"{service.url}/elsewhere"})
    buffer = Buffer(editor, "x = █\n")
    for _ in range(3):
        assert await buffer.complete() == []
        buffer.type("a")
    assert len(editor.notices["window/showMessage"]) <= 1
    editor.configure(**service.options)
    service.engine.text = "1"
    assert len(await buffer.complete()) == 1


@contextlib.asynccontextmanager
async def endpoint():
    """Where figures would go. Gives its URL and the connections to it."""
    connections: list[object] = []
    listener = await asyncio.start_server(lambda reader, writer: connections.append(writer), "127.0.0.1", 0)
    async with listener:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}", connections


async def session_of(editor, service):
    """Ten suggestions, one of them accepted, and an error."""
    service.engine.text = "value"
    for _ in range(10):
        buffer = Buffer(editor, "x = █\n")
        assert await buffer.complete()
    buffer.type("value")
    editor.configure(**{**service.options, "credential": "wrong"})
    await Buffer(editor, "x = █\n").complete()


@pytest.mark.parametrize(
    ("in_file", "in_environment", "in_options"),
    [
        ("off", {}, "on"),
        ("on", {"LSP_COMPLETE_TELEMETRY": "off"}, "on"),
        ("on", {}, "off"),
        ("on", {"DO_NOT_TRACK": "1"}, "on"),
    ],
)
async def test_where_it_is_off_nothing_is_sent_and_nothing_is_kept(
    service, tmp_path, in_file, in_environment, in_options
):
    """B32."""
    async with endpoint() as (url, connections):
        (tmp_path / "config.toml").write_text(f'telemetry = "{in_file}"\ntelemetry_url = "{url}"\n')
        async with started(tmp_path, **in_environment) as editor:
            await editor.initialize({**service.options, "telemetry": in_options})
            await session_of(editor, service)
            assert await editor.exit() == 0
        assert connections == []
    assert not (tmp_path / "state" / FILE).exists()


async def test_what_is_queued_is_not_sent_once_it_is_switched_off(service, tmp_path):
    """B32."""
    async with endpoint() as (url, connections):
        async with started(tmp_path) as editor:
            await editor.initialize({**service.options, "telemetry": "local", "telemetry_url": url})
            await session_of(editor, service)
            editor.configure(**service.options, telemetry="off", telemetry_url=url)
            await Buffer(editor, "x = █\n").complete()
            assert await editor.exit() == 0
        assert connections == []
    with EventStore(tmp_path / "state" / FILE) as store:
        assert store.queued(99) == []
