"""One id leads from the suggestion in the editor through what was remembered of it to the engine's line in the log."""

import logging

import pytest

from lsp_complete.telemetry.store import FILE, EventStore
from tests.server.editor import Buffer, started

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_request_can_be_followed_by_its_id_from_the_editor_to_the_engine(service, tmp_path, caplog):
    caplog.set_level(logging.INFO, "lsp_complete.backend.record")
    service.engine.text = "price + tax"
    async with started(tmp_path) as editor:
        await editor.initialize({**service.options, "telemetry": "local"})
        (item,) = await Buffer(editor, "total = █\n").complete()
        (request_id,) = item["command"]["arguments"]
        (record,) = await editor.ask("lsp-complete/explain", {"last": 1})
        assert await editor.exit() == 0
    assert record["request_id"] == request_id
    assert any(f"request id={request_id} outcome=" in line for line in caplog.messages)
    with EventStore(tmp_path / "state" / FILE) as store:
        ids = [str(told.event.request) for told in store.since(0)]
    assert request_id in ids
