"""Stdout belongs to LSP alone, whatever prints (B40); frames that make no sense; and a log without a word of code."""

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
import pytest_asyncio

from lsp_complete.server.lsp import create_server
from lsp_complete.server.main import serve
from tests.server.editor import PATIENCE_S, SERVER, Buffer, Editor, Refused, answered_once, environ, started

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "secret_word"

# Prints whenever the server imports something or opens a connection: from Python, below it, and from a child process.
NOISE = """
import logging, os, sys

_is_busy = False

def _noise(event, args):
    global _is_busy
    is_guarded = event == "socket.connect" or event == "import" and args[0].startswith(
        ("lsp_complete.config.settings", "lsp_complete.server.main", "lsp_complete.completion", "pygls", "httpx")
    )
    if _is_busy or not is_guarded:
        return
    _is_busy = True
    print("printed", flush=True)
    print("printed past sys.stdout", file=sys.__stdout__, flush=True)
    logging.StreamHandler(sys.stdout).emit(logging.makeLogRecord({"msg": "logged"}))
    os.write(1, b"Content-Length: 3\\r\\n\\r\\nabc")
    if event == "socket.connect":
        os.system("echo a child")
    _is_busy = False

sys.addaudithook(_noise)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("noise")
    (folder / "sitecustomize.py").write_text(NOISE)
    (folder / "config.toml").write_text("slots = 'none'\n")
    return folder


@pytest.fixture(scope="module")
def stderr(folder):
    with open(folder / "stderr", "w+b") as file:
        yield file


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def noisy(running_service, folder, stderr):
    """A server in whose process others print, and that logs all it can."""
    async with started(folder, stderr=stderr, PYTHONPATH=str(folder), LSP_COMPLETE_LOG_LEVEL="debug") as editor:
        await editor.initialize({**running_service.options, "threads": SECRET}, rootUri=f"file:///w/{SECRET}")
        yield editor
        assert await editor.exit() == 0
        assert answered_once(editor)


async def test_whatever_prints_is_on_stderr_and_every_byte_of_stdout_is_a_message(service, noisy, stderr):
    """The strict reader of `Editor` says so; a text that is not ASCII shows that bytes are counted, not letters."""
    service.engine.text = "'«ж😀»'\n"
    (item,) = await Buffer(noisy, "x = (█)\n").complete()
    assert item["insertText"] == "'«ж😀»'"
    stderr.seek(0)
    stray = stderr.read()
    for text in (b"printed\n", b"printed past", b"logged", b"Content-Length: 3", b"a child"):
        assert text in stray


async def test_the_log_has_no_code_no_path_and_no_credential_at_any_level(service, noisy, folder, stderr):
    service.engine.text = f"{SECRET} + 1\n"
    buffer = Buffer(noisy, f"{SECRET} = █\n", uri=f"file:///w/{SECRET}/{SECRET}.py", language=SECRET)
    buffer.type(f"{SECRET} + ")
    (item,) = await buffer.complete()
    params = {"command": item["command"]["command"], "arguments": [SECRET]}
    await noisy.ask("workspace/executeCommand", item["command"])
    with pytest.raises(Refused):
        await noisy.ask("workspace/executeCommand", params)
    assert f"{SECRET} +" not in json.dumps(await noisy.ask("lsp-complete/explain"))  # paths, but no code
    await provoke_errors(noisy, buffer)
    assert len(noisy.notices["window/showMessage"]) == 2
    stderr.seek(0)
    log = read_logs(folder) + stderr.read().decode()
    for expected in ("threads: ", "slots: ", "accepted"):
        assert expected in log
    assert SECRET not in log
    assert service.options["credential"] not in log


def read_logs(folder: Path) -> str:
    """Without the audit, which is there to name paths."""
    logs = (path for path in (folder / "logs").iterdir() if path.name != "audit.jsonl")
    return "".join(path.read_text("utf-8") for path in logs)


async def provoke_errors(editor: Editor, buffer: Buffer) -> None:
    for method, params in (
        ("textDocument/inlineCompletion", {"textDocument": {"uri": 1}, "position": SECRET}),
        ("workspace/executeCommand", {"command": SECRET, "arguments": [SECRET]}),
        (SECRET, {"x": SECRET}),
    ):
        with pytest.raises(Refused):
            await editor.ask(method, params)
    editor.notify("textDocument/didChange", {"textDocument": {"uri": buffer.uri}, "contentChanges": SECRET})
    editor.notify(SECRET, SECRET)
    editor.send_body(f'{{"{SECRET}'.encode())
    editor.send(id=SECRET, error={"code": 1, "message": SECRET})
    await buffer.complete()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"Content-Length: many\r\n\r\n{}",
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: 99999999999999999999\r\n\r\n{}",
        b"Content-Length: 50\r\n\r\n{",
        b"Content-Length: 2",
        b"GET / HTTP/1.1\r\n\r\n" * 1000,
        b"\r\n" * 1000,
        b"x" * 100_000,
    ],
)
async def test_the_server_ends_with_a_stream_that_makes_no_sense(sent):
    """Nobody can tell where the next message begins."""
    reader = asyncio.StreamReader()
    reader.feed_data(sent)
    reader.feed_eof()
    async with asyncio.timeout(PATIENCE_S):
        assert await serve(create_server(), reader) == 1


async def test_a_question_sees_no_change_that_follows_it_in_the_same_packet(service):
    service.engine.text = "1"
    server, reader = create_server(), asyncio.StreamReader()
    document = {"uri": "file:///w/a.py", "version": 1}
    context = {"triggerKind": 1}
    for message in (
        {"id": 1, "method": "initialize", "params": {
            "processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": service.options}},
        {"method": "textDocument/didOpen", "params": {
            "textDocument": {**document, "languageId": "python", "text": "asked"}}},
        {"id": 2, "method": "textDocument/inlineCompletion", "params": {
            "textDocument": document, "position": {"line": 0, "character": 5}, "context": context}},
        {"method": "textDocument/didChange", "params": {
            "textDocument": document, "contentChanges": [{"text": "later"}]}},
    ):  # fmt: skip
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        reader.feed_data(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    serving = asyncio.create_task(serve(server, reader))
    await service.until(lambda: service.engine.jobs)
    reader.feed_eof()
    assert await serving == 1
    assert service.prompt.endswith("asked")


async def test_over_tcp_it_is_the_same_server(service, tmp_path):
    service.engine.text = "1000"
    process = await asyncio.create_subprocess_exec(
        *SERVER, "--tcp", "127.0.0.1:0", stderr=subprocess.PIPE, env=environ(tmp_path), cwd=tmp_path
    )
    assert process.stderr is not None
    port = int((await process.stderr.readuntil(b"\n")).split()[-1])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    editor = Editor(process, reader, writer)
    await editor.initialize(service.options)
    assert await Buffer(editor, "x = █\n").text_with_suggestion() == "x = 1000\n"
    assert await editor.exit() == 0
    await editor.close()
