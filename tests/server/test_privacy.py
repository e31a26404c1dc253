"""What the real server sends is recorded when it ends, and what must stay stays, with and without a folder."""

import pytest

from lsp_complete.client.audit_file import read
from tests.server.editor import Buffer, started

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_each_question_is_in_the_audit_once_the_editor_has_gone(service, tmp_path):
    service.engine.text = "1"
    async with started(tmp_path) as editor:
        await editor.initialize(service.options)
        await Buffer(editor, "x = █\n", uri=(tmp_path / "a.py").as_uri()).complete()
        await Buffer(editor, "api_key = '" + "9f8a7b6c" + "5d4e3f2a'\nx = █\n", uri="untitled:Untitled-1").complete()
        assert await editor.exit() == 0
    entries, num_bad = read(tmp_path / "logs" / "audit.jsonl")
    assert [(one.destination, one.num_redacted) for one in entries] == [("this machine", 0), ("this machine", 1)]
    assert num_bad == 0
    assert all("/" not in one.path for one in entries)
    assert "9f8a7b6c" not in service.prompt


async def test_a_secret_file_without_a_folder_gets_no_question(service, tmp_path):
    async with started(tmp_path) as editor:
        await editor.initialize({**service.options, "index": False})
        assert await Buffer(editor, "KEY=█\n", uri=(tmp_path / ".env").as_uri()).complete() == []
        assert await editor.exit() == 0
    assert service.engine.jobs == []


async def test_scopes_and_languages_are_switched_off_while_it_runs(service, tmp_path):
    service.engine.text = "1"
    async with started(tmp_path) as editor:
        await editor.initialize(service.options)
        for change, marked, reason in (
            ({"disabled_scopes": ["comment"]}, "x = 1  # why█\n", "scope-off"),
            ({"disabled_scopes": ["string"]}, "x = 'a█'\n", "scope-off"),
            ({"disabled_languages": ["python"]}, "x = █\n", "language-off"),
            ({"max_file_kib": 1}, "x = 1\n" * 300 + "y = █\n", "file-too-large"),
            ({}, "x = █\n", None),
        ):
            editor.configure(**{**service.options, **change})
            await Buffer(editor, marked, uri=(tmp_path / "a.py").as_uri()).complete()
            (record,) = await editor.ask("lsp-complete/explain", {"last": 1})
            assert record["reason"] == reason, change
        assert await editor.exit() == 0
