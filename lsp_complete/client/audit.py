"""What left this machine, recorded on it: a private file that grows by a line a request, and is halved when it is full.

Where a request is sent it is recorded, however it ends, so nobody can forget to. A thread writes; whatever goes wrong
there costs the record, not the suggestion. What is kept of a request are paths and numbers, its text only on demand.
"""

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import asdict
from pathlib import Path
from urllib.parse import urlsplit

from lsp_complete.client.audit_file import Entry, SentSnippet, append
from lsp_complete.client.proxies import host_and_port, is_loopback
from lsp_complete.config.paths import audit_file
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import CompletionChunk, CompletionRequest, FinishChunk, Usage
from lsp_complete.protocol.errors import CompletionError

_log = logging.getLogger(__name__)

THIS_MACHINE = "this machine"
# The stream was closed from here: enough had come, or the user typed on.
CLOSED = "closed"
# Of a disk that does not answer: some minutes of typing, then the oldest are given up.
_MAX_WAITING = 1000
# A process that ends waits so long for what is not yet written.
_FLUSH_S = 1.0


class Audit:
    """Without a `file` nothing is kept. Safe in any thread."""

    def __init__(
        self, file: Path | None, *, keeps_text: bool = False, wall_clock: Callable[[], float] = time.time
    ) -> None:
        self._file, self._keeps_text = file, keeps_text
        self._wall_clock = wall_clock
        self._waiting: deque[Entry] = deque(maxlen=_MAX_WAITING)
        self._lock = threading.Lock()
        self._writer: threading.Thread | None = None
        self._has_failed = False

    async def recorded(
        self, chunks: AsyncGenerator[CompletionChunk, None], request: CompletionRequest, num_bytes: int, url: str
    ) -> AsyncGenerator[CompletionChunk, None]:
        """The chunks as they come. The request, of `num_bytes`, is recorded when they end."""
        at_s, outcome, usage = self._wall_clock(), CLOSED, Usage()
        try:
            async with contextlib.aclosing(chunks):
                async for chunk in chunks:
                    if isinstance(chunk, FinishChunk):
                        outcome, usage = chunk.finish.value, chunk.usage
                    yield chunk
        except CompletionError as error:
            outcome = error.type
            raise
        finally:
            self._keep(entry_of(request, at_s, num_bytes, url, outcome, usage, with_text=self._keeps_text))

    async def flush(self) -> None:
        """Wait for what is not yet written, a second at most."""
        if (writer := self._writer) is not None:
            await asyncio.to_thread(writer.join, _FLUSH_S)

    def _keep(self, entry: Entry) -> None:
        if self._file is None:
            return
        with self._lock:
            self._waiting.append(entry)
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_all, args=(self._file,), name="audit", daemon=True)
                try:
                    self._writer.start()
                except RuntimeError:  # the interpreter is ending, or there are too many threads
                    self._writer = None

    def _write_all(self, file: Path) -> None:
        while entries := self._taken():
            try:
                append(file, entries)
            except OSError as error:
                if not self._has_failed:
                    _log.warning("the audit cannot be written: %s", type(error).__name__)
                self._has_failed = True

    def _taken(self) -> list[Entry]:
        with self._lock:
            entries = list(self._waiting)
            self._waiting.clear()
            if not entries:
                self._writer = None
            return entries


NO_AUDIT = Audit(None)


def audit_of(settings: Settings) -> Audit:
    return Audit(None if settings.audit == "off" else audit_file(), keeps_text=settings.audit == "text")


def entry_of(
    request: CompletionRequest,
    at_s: float,
    num_bytes: int,
    url: str,
    outcome: str,
    usage: Usage,
    *,
    with_text: bool = False,
) -> Entry:
    return Entry(
        at_s=round(at_s, 3),
        destination=destination_of(url),
        request_id=request.request_id,
        trigger=request.trigger.value,
        path=request.path,
        language=request.language,
        num_bytes=num_bytes,
        num_prefix_characters=len(request.prefix),
        num_suffix_characters=len(request.suffix),
        snippets=tuple(SentSnippet(one.path, one.source, len(one.text)) for one in request.snippets),
        num_redacted=request.num_redacted,
        outcome=outcome,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        text=json.dumps(asdict(request), ensure_ascii=False) if with_text else "",
    )


def destination_of(url: str) -> str:
    """Where a request goes: scheme, host and port of a URL, never a password in it."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "?"
    return THIS_MACHINE if is_loopback(host) else f"{parts.scheme}://{host_and_port(host, port)}"
