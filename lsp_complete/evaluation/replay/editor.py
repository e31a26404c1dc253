"""A simulated editor: open files, a cursor, ghost text, and the messages that a real one sends for what is done in it.

It draws what it is given and takes it away when the text says something else; it notes when something came up, and
whether it changed under the user's eyes. What to type and what to accept is the user's business.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsp_complete.context.edits import edit_between
from lsp_complete.evaluation.replay.ghost import Ghost, edited, extends, result, standing
from lsp_complete.evaluation.replay.link import Link, Message
from lsp_complete.evaluation.replay.log import Answered, Drawn, Log
from lsp_complete.evaluation.replay.profiles import Cancels, Profile
from lsp_complete.text.document import Document
from lsp_complete.text.positions import Encoding, offset_at, position_at

# Server and tree may have to be read from a disk first.
_PATIENCE_S = 60.0
# A log is kept of the first ones only.
_MAX_FLICKERS = 50


@dataclass(slots=True)
class Buffer:
    uri: str
    path: str
    language: str
    text: str
    cursor: int = 0
    version: int = 1
    sent: str = ""


@dataclass(frozen=True, slots=True)
class _Question:
    buffer: Buffer
    version: int
    cursor: int
    at_s: float


class Editor:
    """One window. `buffer` is the file in it."""

    def __init__(self, link: Link, profile: Profile, root: Path, log: Log) -> None:
        self._link, self.profile, self._root, self._log = link, profile, root, log
        self._loop = asyncio.get_running_loop()
        self._buffers: dict[str, Buffer] = {}
        self._current: Buffer | None = None
        self.on_drawn: Callable[[Ghost], None] = lambda ghost: None
        self._answers: dict[int, asyncio.Future[Message]] = {}
        self._questions: dict[int, _Question] = {}
        self._newest: int | None = None
        self._last_id = self._num_visits = 0
        self._keys: list[Message] = []
        self._sending: asyncio.TimerHandle | None = None
        self._asking: asyncio.TimerHandle | None = None
        self._sent_s = -1.0
        self._encoding: Encoding = "utf-16"
        self._last_result: tuple[str, str] | None = None
        self.key_s = 0.0
        self.ghost: Ghost | None = None
        self.popup: tuple[int, str] | None = None
        self.changed = asyncio.Event()
        link.take = self._take

    # The protocol

    async def start(self, options: Message) -> None:
        document = {"inlineCompletion": {}, "synchronization": {"didSave": True}}
        capabilities = {
            "textDocument": document,
            "general": {"positionEncodings": list(self.profile.encodings)},
            "window": {"workDoneProgress": True},
        }
        folder = {"uri": self._root.as_uri(), "name": self._root.name}
        answer = await self._ask(
            "initialize",
            {
                "processId": None,
                "rootUri": folder["uri"],
                "workspaceFolders": [folder],
                "capabilities": capabilities,
                "initializationOptions": options,
            },
        )
        self._encoding = answer["capabilities"].get("positionEncoding", "utf-16")
        self._notify("initialized", {})

    async def exit(self) -> None:
        self._cancel_timers()
        self._flush()
        for buffer in self._buffers.values():
            self._notify("textDocument/didClose", {"textDocument": {"uri": buffer.uri}})
        await self._ask("shutdown", None)
        self._notify("exit", None)

    # What a user does

    @property
    def buffer(self) -> Buffer:
        assert self._current is not None, "no file is open"
        return self._current

    @property
    def is_asking(self) -> bool:
        return self._asking is not None or self._newest is not None

    def visit(self, path: str, language: str, text: str) -> None:
        """Show a file, with the text that it has where it is not open yet."""
        self._leave()
        self._num_visits += 1
        if path not in self._buffers:
            buffer = Buffer((self._root / path).as_uri(), path, language, text, sent=text)
            self._buffers[path] = buffer
            item = {"uri": buffer.uri, "languageId": language, "version": 1, "text": text}
            self._notify("textDocument/didOpen", {"textDocument": item})
        self._current = self._buffers[path]
        if self.profile.tells_shown:
            self._notify("textDocument/didFocus", {"textDocument": {"uri": self.buffer.uri}})

    def save(self) -> None:
        self._flush()
        (self._root / self.buffer.path).write_text(self.buffer.text, "utf-8", newline="")
        self._notify("textDocument/didSave", {"textDocument": {"uri": self.buffer.uri}})

    def close(self) -> None:
        self._leave()
        self._notify("textDocument/didClose", {"textDocument": {"uri": self.buffer.uri}})
        del self._buffers[self.buffer.path]

    def put(self, text: str, cursor: int | None = None, *, start: int | None = None, end: int | None = None) -> None:
        """One key, or one stroke: `text` in the place of what stands from `start` to `end`, by default nothing at the
        cursor, which goes to `cursor`, by default behind the text."""
        buffer = self.buffer
        first = buffer.cursor if start is None else start
        last = max(first, buffer.cursor) if end is None else end
        if self.profile.cancels is Cancels.BEFORE_CHANGE:
            self._cancel()
        self._keys.append(self._change(first, last, text))
        buffer.text = buffer.text[:first] + text + buffer.text[last:]
        buffer.cursor = first + len(text) if cursor is None else cursor
        self._tend_ghost(first, last, len(text))
        self._pressed()
        self._send_in_time()
        if self.profile.cancels is Cancels.AFTER_CHANGE:
            self._cancel()
        self._ask_later()

    def move(self, cursor: int) -> None:
        """By an arrow, or to jump: nobody asks where nothing is written."""
        self.buffer.cursor = cursor
        self._pressed()
        self._hide()

    def dismiss(self) -> None:
        """Escape."""
        self._pressed()
        self._hide()

    def accept(self) -> Ghost:
        """The whole of it, with one key."""
        ghost = self._taken()
        self.put(ghost.visible, end=ghost.end)
        self._hide()
        if "whole" in self.profile.commands:
            self._run(ghost.command)
        return ghost

    def accept_word(self, word: str) -> None:
        """The next word of it, with one key."""
        ghost = self._taken()
        is_last = word == ghost.visible
        self.put(word, end=ghost.end if is_last else None)
        if is_last and "whole" in self.profile.commands:
            self._run(ghost.command)
        elif not is_last and "word" in self.profile.commands:
            self._tell_partial(ghost, len(word))

    # Keys and questions

    def _pressed(self) -> None:
        self._log.num_keys += 1
        self.key_s = self._loop.time()

    def _taken(self) -> Ghost:
        assert self.ghost is not None, "nothing is shown"
        return self.ghost

    def _leave(self) -> None:
        self._cancel()
        self._cancel_timers()
        self._hide()
        self.popup = None
        if self._current is not None:
            self._flush()

    def _change(self, start: int, end: int, text: str) -> Message:
        return {"range": self._range(self.buffer.text, start, end), "text": text}

    def _range(self, text: str, start: int, end: int) -> Message:
        document = Document("", text)
        first, last = (position_at(document, at, self._encoding) for at in (start, end))
        return {
            "start": {"line": first[0], "character": first[1]},
            "end": {"line": last[0], "character": last[1]},
        }

    def _send_in_time(self) -> None:
        """Keys are gathered for a while: since the last message, or until nothing more comes."""
        profile, now_s = self.profile, self._loop.time()
        if self._sending is not None and not profile.idles:
            return
        if self._sending is not None:
            self._sending.cancel()
        due_s = max(now_s, (now_s if profile.idles else self._sent_s) + profile.gathers_s)
        if due_s <= now_s:
            self._flush()
        else:
            self._sending = self._loop.call_at(due_s, self._flush)

    def _flush(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        buffer, keys = self.buffer, self._keys
        self._keys = []
        if not keys:
            return
        buffer.version += 1
        if not self.profile.lists_keys and len(keys) > 1:
            edit = edit_between(buffer.sent, buffer.text)
            new = buffer.text[edit.start : edit.start + edit.length]
            keys = [{"range": self._range(buffer.sent, edit.start, edit.end), "text": new}]
        buffer.sent, self._sent_s = buffer.text, self._loop.time()
        identifier = {"uri": buffer.uri, "version": buffer.version}
        self._notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": keys})

    def _ask_later(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
        self._asking = self._loop.call_later(self.profile.asks_s, self._question)

    def _question(self) -> None:
        self._asking = None
        if self.popup is not None and not self.profile.tells_popup:
            return
        self._flush()
        self._cancel()
        buffer = self.buffer
        context: Message = {"triggerKind": 2}
        if self.popup is not None:
            start, word = self.popup
            chosen = {"range": self._range(buffer.text, start, buffer.cursor), "text": word}
            context["selectedCompletionInfo"] = chosen
        position = self._range(buffer.text, buffer.cursor, buffer.cursor)["start"]
        params = {"textDocument": {"uri": buffer.uri}, "position": position, "context": context}
        self._log.num_requests += 1
        self._newest = self._last_id + 1
        self._questions[self._newest] = _Question(buffer, buffer.version, buffer.cursor, self._loop.time())
        self._request("textDocument/inlineCompletion", params)

    def _cancel(self) -> None:
        if self._newest is not None:
            self._notify("$/cancelRequest", {"id": self._newest})
            self._newest = None

    def _cancel_timers(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    # Ghost text

    def _answered(self, number: int, message: Message) -> None:
        question = self._questions.pop(number)
        if number != self._newest:
            return
        self._newest = None
        self.changed.set()
        answer = message.get("result")
        items = answer["items"] if answer else []
        if question.buffer is not self.buffer or question.version != self.buffer.version or self._keys:
            return
        if items:
            self._note_answer(items[0], question)
        self._draw(self._ghost_of(items[0]) if items else None)

    def _note_answer(self, item: Message, question: _Question) -> None:
        took_ms = (self._loop.time() - question.at_s) * 1000
        self._log.answered.append(Answered(_request_id(item), took_ms, self._num_visits))

    def _ghost_of(self, item: Message) -> Ghost | None:
        buffer, span = self.buffer, item["range"]
        document = Document("", buffer.text)
        start, end = (
            offset_at(document, span[side]["line"], span[side]["character"], self._encoding)
            for side in ("start", "end")
        )
        ghost = Ghost(_request_id(item), item["insertText"], start, end, item["command"], self._loop.time())
        return standing(ghost, buffer.text, buffer.cursor)

    def _flickers(self, before: Ghost, ghost: Ghost | None) -> bool:
        """Is other text on the screen than since the last key? Not where the same text no longer takes the place of a
        bracket right of it."""
        return ghost is None or (ghost.visible != before.visible and self._result(ghost) != self._result(before))

    def _draw(self, ghost: Ghost | None) -> None:
        """What the server has answered."""
        before = self.ghost
        if before is not None and self._flickers(before, ghost):
            self._log.num_flickers += 1
            if len(self._log.flickers) < _MAX_FLICKERS:
                self._log.flickers.append((before.visible, ghost.visible if ghost else ""))
        self.ghost = replace(ghost, at_s=before.at_s) if ghost and before else ghost
        if ghost is not None and before is None:
            outcome = self._result(ghost)
            since_ms = (self._loop.time() - self.key_s) * 1000
            is_new = outcome != self._last_result
            self._log.drawn.append(Drawn(ghost.request_id, self.buffer.path, since_ms, is_new))
            self._last_result = outcome
            if self.profile.tells_shown:
                self._notify("textDocument/didShowCompletion", {"item": {"command": ghost.command}})
        if ghost is not None:
            self.on_drawn(ghost)
        self.changed.set()

    def _result(self, ghost: Ghost) -> tuple[str, str]:
        return self.buffer.path, result(ghost, self.buffer.text)

    def _tend_ghost(self, start: int, end: int, num_new: int) -> None:
        """Keep it while what is typed is what it says."""
        before, self.ghost = self.ghost, None
        if before is not None and self.profile.keeps_ghost and (after := edited(before, start, end, num_new)):
            self.ghost = standing(after, self.buffer.text, self.buffer.cursor)
        if self.ghost is not None and self.popup is not None and not extends(self.ghost, self.buffer.text, *self.popup):
            self.ghost = None

    def _hide(self) -> None:
        self.ghost = None

    # Messages

    def _run(self, command: Message) -> None:
        self._flush()
        params = {"command": command["command"], "arguments": command["arguments"]}
        self._request("workspace/executeCommand", params)

    def _tell_partial(self, ghost: Ghost, length: int) -> None:
        self._flush()
        params = {"item": {"command": ghost.command}, "acceptedLength": ghost.num_typed + length}
        self._notify("textDocument/didPartiallyAcceptCompletion", params)

    def _notify(self, method: str, params: Any) -> None:
        self._link.send(method=method, params=params)

    def _request(self, method: str, params: Any) -> int:
        self._last_id += 1
        self._link.send(id=self._last_id, method=method, params=params)
        return self._last_id

    async def _ask(self, method: str, params: Any) -> Any:
        answer = self._answers[self._request(method, params)] = self._loop.create_future()
        async with asyncio.timeout(_PATIENCE_S):
            return (await answer).get("result")

    def _take(self, message: Message) -> None:
        if "method" in message:
            if "id" in message:
                self._link.send(id=message["id"], result=None)
        elif message["id"] in self._questions:
            self._answered(message["id"], message)
        elif answer := self._answers.pop(message["id"], None):
            answer.set_result(message)


def _request_id(item: Message) -> str:
    return str(item["command"]["arguments"][0])
