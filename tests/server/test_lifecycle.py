"""When the server ends, with which exit code, and that nothing of it is left (B39)."""

import asyncio
import subprocess
import sys

import psutil
import pytest

from tests.server.editor import Buffer, Refused, started

pytestmark = pytest.mark.asyncio(loop_scope="session")

NOT_INITIALIZED, INVALID_REQUEST = -32002, -32600
# Within which the server must be gone after its editor.
GONE_S = 5.0


async def test_the_protocol_is_kept_from_the_first_request_to_the_last(tmp_path, service):
    service.engine.text, service.engine.gate = "1", asyncio.Semaphore(0)
    async with started(tmp_path) as editor:
        with pytest.raises(Refused) as early:
            await editor.ask("textDocument/inlineCompletion", {})
        await editor.initialize(service.options)
        hanging = Buffer(editor, "x = █\n").complete_later()
        await service.until(lambda: service.engine.num_open == 1)
        assert await editor.ask("shutdown") is None
        with pytest.raises(Refused) as late:
            await editor.ask("lsp-complete/explain")
        await editor.until(lambda: editor.answers[hanging])
        assert editor.children == []
        editor.notify("exit")
        assert await editor.exit_code() == 0
    assert (early.value.code, late.value.code) == (NOT_INITIALIZED, INVALID_REQUEST)
    await service.until(lambda: service.engine.num_open == 0)


async def test_without_a_shutdown_the_exit_code_is_not_zero(tmp_path, service):
    """Without a process to watch, the end of stdin is the editor's end."""
    async with started(tmp_path) as closed, started(tmp_path) as exited:
        await asyncio.gather(closed.initialize(service.options), exited.initialize(service.options))
        await closed.close_stdin()
        exited.notify("exit")
        assert [await closed.exit_code(), await exited.exit_code()] == [1, 1]


@pytest.fixture
def parent():
    """Stands for an editor: a process that waits until its stdin is closed, or until it is killed."""
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


async def test_the_server_ends_with_its_editor_though_stdin_stays_open(tmp_path, service, parent):
    """Killed, and not even taken note of by who has started it. One server is idle; the other waits for the service."""
    service.engine.text, service.engine.gate = "1", asyncio.Semaphore(0)
    async with started(tmp_path) as idle, started(tmp_path) as busy:
        both = (idle, busy)
        await asyncio.gather(*(editor.initialize(service.options, processId=parent.pid) for editor in both))
        Buffer(busy, "x = █\n").complete_later()
        await service.until(lambda: service.engine.num_open == 1)
        known = [process for editor in both for process in (psutil.Process(editor.process.pid), *editor.children)]
        parent.kill()
        async with asyncio.timeout(GONE_S):
            assert [await editor.process.wait() for editor in both] == [1, 1]
        assert not any(process.is_running() for process in known)
        await service.until(lambda: service.engine.num_open == 0)
