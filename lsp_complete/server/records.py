"""The records of a session's last questions: what was done for each, why, and what became of it. No code in them.

Kept in memory, and in a small private file, so that another process can be asked. Files are written by a thread, a
while after. Paths stay on this machine.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsp_complete.client import private_lines
from lsp_complete.client.moment import Clock
from lsp_complete.completion.answer import Answer, explained
from lsp_complete.protocol.completion import Trigger
from lsp_complete.protocol.events import Accepted, Event, Part, Rejected, Shown, TypedThrough
from lsp_complete.text.document import Document

_log = logging.getLogger(__name__)

FILE = "explain.jsonl"
NUM_RECORDS = 200
# Twice as much lies in the two files: some hundred records, of a kilobyte or two.
_MAX_BYTES = 500_000
_WRITE_EVERY_S = 2.0

Row = dict[str, Any]


class Records:
    """`is_kept`: whether they are written down."""

    def __init__(self, file: Path, session_id: str, wall_clock: Clock = time.time) -> None:
        self._file, self._session_id, self._wall_clock = file, session_id, wall_clock
        self.is_kept = False
        self._ring: deque[Row] = deque(maxlen=NUM_RECORDS)
        self._unwritten: dict[str, Row] = {}
        self._writing: asyncio.Task[None] | None = None

    def add(self, answer: Answer, document: Document, offset: int, trigger: Trigger) -> None:
        row: Row = {"at_s": round(self._wall_clock(), 3), "session": self._session_id, "trigger": trigger.value}
        row |= {"path": document.path, "language": document.language, "line": document.line_at(offset) + 1}
        row |= explained(answer) | {"outcome": "shown" if answer.insertion else ""}
        self._ring.append(row)
        self._write_later(answer.request_id, row)

    def came_too_late(self, request_id: str) -> None:
        """What was found for it was given to nobody."""
        self._became(request_id, "too late")

    def heard(self, event: Event) -> None:
        if outcome := _outcome(event):
            self._became(event.request, outcome)

    def last(self, num: int = NUM_RECORDS) -> list[Row]:
        """The oldest first."""
        return list(self._ring)[-num:]

    async def aclose(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait([self._writing])
        await self._write()

    def _became(self, request_id: str, outcome: str) -> None:
        row = next((row for row in reversed(self._ring) if row["request_id"] == request_id), None)
        if row is not None and row["outcome"] != outcome:
            row["outcome"] = outcome
            change = {"session": self._session_id, "request_id": request_id, "outcome": outcome}
            self._write_later(request_id, self._unwritten.get(request_id, change) | {"outcome": outcome})

    def _write_later(self, request_id: str, row: Row) -> None:
        if not self.is_kept:
            return
        self._unwritten[request_id] = row
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_soon())

    async def _write_soon(self) -> None:
        await asyncio.sleep(_WRITE_EVERY_S)
        await self._write()

    async def _write(self) -> None:
        rows, self._unwritten = [dict(row) for row in self._unwritten.values()], {}
        if not rows:
            return
        try:
            await asyncio.to_thread(private_lines.append, self._file, rows, _MAX_BYTES)
        except OSError as error:
            _log.warning("records are not written down: %s", type(error).__name__)


def read(file: Path) -> list[Row]:
    """The records of the session that wrote last, the oldest first. Raises OSError."""
    rows: dict[tuple[str, str], Row] = {}
    session = ""
    for row in filter(_is_row, map(private_lines.parsed, private_lines.read(file))):
        key = session, _ = row["session"], row["request_id"]
        if "at_s" in row:
            rows[key] = row
        elif key in rows:
            rows[key] |= row
    return [row for (of, _), row in rows.items() if of == session][-NUM_RECORDS:]


def _is_row(data: object) -> bool:
    return isinstance(data, Mapping) and all(isinstance(data.get(name), str) for name in ("session", "request_id"))


def _outcome(event: Event) -> str:
    match event:
        case Shown(is_new=False):
            return "shown already"
        case Accepted(part=Part.WHOLE):
            return "accepted"
        case Accepted():
            return f"accepted: a {event.part}"
        case TypedThrough():
            return "typed through"
        case Rejected():
            return f"rejected: {event.reason}"
    return ""
