"""An editor for tests: starts the language server as a child over stdio and reads what it writes by the letter.

Every byte of the server's stdout has to belong to a message, and every request has to be answered exactly once.
"""

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil

from tests.text.letters import CODECS, UNIT_BYTES

SERVER = [sys.executable, "-P", "-m", "lsp_complete", "lsp"]
CURSOR = "█"
# Only a test that fails waits so long.
PATIENCE_S = 30.0

_HEADER = re.compile(rb"Content-Length: (\d+)\r\n(Content-Type: [!-~ ]+\r\n)?\r\n")
_MAX_MESSAGE_BYTES = 10_000_000


def environ(folder: Path, **changes: str) -> dict[str, str]:
    """The environment of a server that finds nothing of the user's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LSP_COMPLETE_", "COV_"))}
    places = {
        "LSP_COMPLETE_CONFIG": "config.toml",
        "LSP_COMPLETE_LOGS": "logs",
        "LSP_COMPLETE_STATE": "state",
        "LSP_COMPLETE_RUNTIME": "run",
        "LSP_COMPLETE_MODELS": "models",
        "LSP_COMPLETE_INDEXES": "index",
    }
    return {**kept, **{name: str(folder / place) for name, place in places.items()}, **changes}


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]


class Editor:
    """`answers` holds all answers by id, `notices` all notifications and requests of the server by method."""

    def __init__(
        self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.process, self._reader, self._writer = process, reader, writer
        self.answers: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        self.notices: dict[str, list[Any]] = defaultdict(list)
        self.capabilities: dict[str, Any] = {}
        self.asked: list[int] = []
        self._arrived = asyncio.Condition()
        self._reading = asyncio.create_task(self._read_all())

    # What goes out

    def send(self, **message: Any) -> None:
        self.send_body(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode())

    def send_body(self, body: bytes) -> None:
        self.send_bytes(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send_bytes(self, data: bytes) -> None:
        self._writer.write(data)

    def notify(self, method: str, params: Any = None) -> None:
        self.send(method=method, params=params)

    def request(self, method: str, params: Any = None) -> int:
        """Returns the id."""
        self.asked.append(len(self.asked) + 1)
        self.send(id=self.asked[-1], method=method, params=params)
        return self.asked[-1]

    # What comes in

    async def until(self, condition: Any) -> None:
        """Until the condition holds; it is looked at again after each message."""
        async with asyncio.timeout(PATIENCE_S), self._arrived:
            await self._arrived.wait_for(lambda: self._reading.done() or condition())
        if self._reading.done() and not condition():
            self._reading.result()
            raise EOFError("the server has closed its stdout")

    async def answer(self, request_id: int | str | None) -> Any:
        """The result. Raises Refused."""
        await self.until(lambda: self.answers[request_id])
        (answer,) = self.answers[request_id]
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    async def ask(self, method: str, params: Any = None) -> Any:
        return await self.answer(self.request(method, params))

    async def _read_all(self) -> None:
        try:
            while (message := await _read_message(self._reader)) is not None:
                self._take(message)
                async with self._arrived:
                    self._arrived.notify_all()
        finally:
            async with self._arrived:
                self._arrived.notify_all()

    def _take(self, message: dict[str, Any]) -> None:
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            self.notices[message["method"]].append(message.get("params"))
            if "id" in message:
                self.send(id=message["id"], result=None)
        else:
            assert ("result" in message) != ("error" in message)
            self.answers[message["id"]].append(message)

    # What an editor does

    async def initialize(self, options: Any = None, **params: Any) -> None:
        capabilities = {
            "textDocument": {"inlineCompletion": {}},
            "window": {"workDoneProgress": True},
            "experimental": {"lspComplete": {"status": True}},
        }
        defaults = {"processId": None, "rootUri": None, "capabilities": capabilities}
        result = await self.ask("initialize", {**defaults, "initializationOptions": options, **params})
        self.capabilities = result["capabilities"]
        self.notify("initialized", {})

    def configure(self, **settings: Any) -> None:
        self.notify("workspace/didChangeConfiguration", {"settings": {"lsp-complete": settings}})

    def complete_later(self, uri: str, position: dict[str, int], *, automatic: bool = False, **context: Any) -> int:
        trigger = {"triggerKind": 2 if automatic else 1}
        params = {"textDocument": {"uri": uri}, "position": position, "context": {**trigger, **context}}
        return self.request("textDocument/inlineCompletion", params)

    async def complete(self, *args: Any, **kwargs: Any) -> list[dict[str, Any]]:
        return items(await self.answer(self.complete_later(*args, **kwargs)))

    async def exit(self) -> int:
        """Shut down as the protocol has it. Gives the exit code."""
        if self.process.returncode is None:
            await self.ask("shutdown")
            self.notify("exit")
        return await self.exit_code()

    async def exit_code(self) -> int:
        async with asyncio.timeout(PATIENCE_S):
            return await self.process.wait()

    async def close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await asyncio.wait([self._reading])
        await self.close_stdin()
        self._reading.result()

    async def close_stdin(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    @property
    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)


def items(result: Any) -> list[dict[str, Any]]:
    return list(result["items"])


async def _read_message(stream: asyncio.StreamReader) -> dict[str, Any] | None:
    try:
        header = await stream.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise AssertionError(f"stray bytes: {error.partial[:80]!r}") from None
        return None
    match = _HEADER.fullmatch(header)
    assert match, f"stray bytes: {header[:80]!r}"
    message = json.loads((await stream.readexactly(int(match[1]))).decode("utf-8"))
    assert isinstance(message, dict)
    return message


@contextlib.asynccontextmanager
async def started(folder: Path, stderr: Any = subprocess.DEVNULL, **changes: str) -> AsyncIterator[Editor]:
    """A server that has been sent nothing yet. On leaving, each request must have got one answer."""
    process = await asyncio.create_subprocess_exec(
        *SERVER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=environ(folder, **changes),
        cwd=folder,
        limit=_MAX_MESSAGE_BYTES,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    editor = Editor(process, process.stdout, process.stdin)
    try:
        yield editor
    finally:
        await editor.close()


def answered_once(editor: Editor) -> bool:
    return all(len(editor.answers[request_id]) == 1 for request_id in editor.asked)


class Buffer:
    """An open document as an editor has it; columns are counted by Python's encoders."""

    _num = 0

    def __init__(
        self, editor: Editor, marked: str, *, uri: str = "", language: str = "python", encoding: str = "utf-16"
    ):
        Buffer._num += 1
        self.editor, self.encoding, self.language = editor, encoding, language
        self.uri = uri or f"file:///w/number_{Buffer._num}.py"
        self.offset = marked.index(CURSOR)
        self.text = marked.replace(CURSOR, "")
        self.version = 1
        item = {"uri": self.uri, "languageId": language, "version": 1, "text": self.text}
        editor.notify("textDocument/didOpen", {"textDocument": item})

    def position(self, offset: int | None = None) -> dict[str, int]:
        before = self.text[: self.offset if offset is None else offset].replace("\r\n", "\n").split("\n")
        units = len(before[-1].encode(CODECS[self.encoding])) // UNIT_BYTES[self.encoding]
        return {"line": len(before) - 1, "character": units}

    def range(self, start: int, end: int) -> dict[str, Any]:
        return {"start": self.position(start), "end": self.position(end)}

    def type(self, text: str) -> None:
        self.become(f"{self.text[: self.offset]}{text}{CURSOR}{self.text[self.offset :]}")

    def become(self, marked: str) -> None:
        """By one change of what differs."""
        offset, text = marked.index(CURSOR), marked.replace(CURSOR, "")
        start = _num_shared(self.text[: self.offset], text[:offset])
        tail = _num_shared(self.text[start:][::-1], text[start:][::-1])
        self.change([(start, len(self.text) - tail, text[start : len(text) - tail])])
        self.offset = offset

    def change(self, edits: list[tuple[int, int, str]]) -> None:
        """In one message: each edit of the text as the one before it has left it; the cursor stays where it is."""
        changes = []
        for start, end, text in edits:
            changes.append({"range": self.range(start, end), "text": text})
            self.text = self.text[:start] + text + self.text[end:]
        self.version += 1
        identifier = {"uri": self.uri, "version": self.version}
        self.editor.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})

    def complete_later(self, **context: Any) -> int:
        return self.editor.complete_later(self.uri, self.position(), **context)

    async def complete(self, **context: Any) -> list[dict[str, Any]]:
        return items(await self.editor.answer(self.complete_later(**context)))

    async def text_with_suggestion(self, **context: Any) -> str:
        (item,) = await self.complete(**context)
        return self.text_with(item)

    def text_with(self, item: dict[str, Any]) -> str:
        start, end = (self._offset_at(item["range"][name]) for name in ("start", "end"))
        return f"{self.text[:start]}{item['insertText']}{self.text[end:]}"

    def _offset_at(self, position: dict[str, int]) -> int:
        """Where that position is, and nowhere else: not clamped, not inside a letter."""
        (offset,) = (at for at in range(len(self.text) + 1) if self.position(at) == position)
        return offset


def _num_shared(one: str, other: str) -> int:
    """Letters at the beginning of both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
