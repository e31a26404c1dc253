"""Without a URL the server starts the local service; on a machine without a model it says what to do, once."""

import pytest

from tests.server.editor import Buffer, answered_once, started

pytestmark = pytest.mark.asyncio


async def test_a_missing_model_costs_suggestions_only_and_the_user_is_told_once(tmp_path):
    async with started(tmp_path) as editor:
        await editor.initialize({"debounce_ms": 0})
        buffer = Buffer(editor, "x = █\n")
        assert await buffer.complete() == []
        await editor.until(lambda: editor.notices["window/showMessage"])
        assert await buffer.complete() == []
        (record,) = await editor.ask("lsp-complete/explain", {"last": 1})
        assert (record["reason"], "model pull" in record["detail"]) == ("service", True)
        (notice,) = editor.notices["window/showMessage"]
        assert "lsp-complete model pull" in notice["message"]
        states = [notice["state"] for notice in editor.notices["lsp-complete/status"]]
        assert list(dict.fromkeys(states)) == ["loading", "offline"]
        await editor.until(
            lambda: editor.notices["$/progress"][-1:] and kind(editor.notices["$/progress"][-1]) == "end"
        )
        assert kind(editor.notices["$/progress"][0]) == "begin"
        assert await editor.exit() == 0
        assert answered_once(editor)


def kind(progress):
    return progress["value"]["kind"]


async def test_a_client_that_does_not_ask_for_the_status_is_not_sent_it(tmp_path):
    async with started(tmp_path) as editor:
        await editor.initialize(capabilities={"textDocument": {"inlineCompletion": {}}})
        await editor.until(lambda: editor.notices["window/showMessage"])
        assert "lsp-complete/status" not in editor.notices
        assert await editor.exit() == 0
