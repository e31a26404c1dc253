"""Events on their way from a session to the store of this machine and, where that was allowed, to an endpoint.

`record` puts an event into a queue and returns. One thread writes the queue to the store a few times a second, so that
a killed process loses a moment. Sending is a task of its own, over the same HTTP/2 as completions: at least once, with
ids by which the endpoint tells what it has already. Without consent nothing is queued, no file is made and nothing is
sent. Nothing that goes wrong here is anybody else's trouble: what cannot be kept is lost.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
from filelock import Timeout

from lsp_complete.config.consent import Consent
from lsp_complete.protocol.events import Event, Hex, Record
from lsp_complete.protocol.events_wire import EVENTS_PATH, records_to_json
from lsp_complete.telemetry.store import EventStore

_log = logging.getLogger(__name__)

# What a killed process may lose.
_MOMENT_S = 0.2
# An hour of typing at ten events a second; more means that nothing can be written.
_MAX_QUEUED = 36_000
# After a store that cannot be written, before it is tried again.
_STORE_RETRY_S = 5.0
# An editor is closing and does not wait for us.
_CLOSE_S = 1.0
# 200 kB, and a request each few seconds.
_BATCH, _SEND_EVERY_S = 500, 5.0
_SEND_TIMEOUT_S = 10.0
_MAX_BACKOFF_S = 600.0

_LOST = (sqlite3.Error, OSError, Timeout)


class Recorder:
    """The events of one session. `record` may be called from any thread."""

    def __init__(self, file: Path, session: Hex, consent: Consent = Consent.OFF) -> None:
        self._file, self._session, self._consent = file, session, consent
        self._queue: queue.SimpleQueue[tuple[Record, bool]] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_to_discard = False

    def record(self, event: Event) -> None:
        if self._consent is Consent.OFF or self._queue.qsize() >= _MAX_QUEUED:
            return
        self._queue.put((Record(self._session, event), self._consent is Consent.ON))
        self._ensure_thread()

    def configure(self, consent: Consent) -> None:
        """What has not been sent when sending is switched off never will be."""
        if self._consent is Consent.ON and consent is not Consent.ON:
            self._is_to_discard = True
            self._ensure_thread()
        self._consent = consent

    def close(self) -> None:
        """Write what is queued, within reason."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(_CLOSE_S)

    def _ensure_thread(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        store, waiting = EventStore(self._file), list[tuple[Record, bool]]()
        is_last = False
        while not is_last:
            is_last = self._stop.wait(_MOMENT_S)
            waiting += self._taken()
            try:
                waiting = self._written(store, waiting)
            except _LOST as error:
                _log.warning("events cannot be kept: %s", type(error).__name__)
                is_last = is_last or self._stop.wait(_STORE_RETRY_S)
        store.close()

    def _taken(self) -> list[tuple[Record, bool]]:
        taken = []
        while not self._queue.empty():
            taken.append(self._queue.get())
        return taken

    def _written(self, store: EventStore, waiting: list[tuple[Record, bool]]) -> list[tuple[Record, bool]]:
        """Gives what is still to be written: nothing. Raises where the store cannot be written."""
        waiting = [] if self._consent is Consent.OFF else waiting[-_MAX_QUEUED:]
        for is_queued in (True, False):
            records = [record for record, is_to_be_sent in waiting if is_to_be_sent is is_queued]
            if records:
                store.add(records, is_queued=is_queued and self._consent is Consent.ON)
        if self._is_to_discard:
            store.discard_queue()
            self._is_to_discard = False
        return []


@dataclass(frozen=True, slots=True)
class Endpoint:
    url: str
    credential: str = ""


class Sender:
    """Sends what is queued in the store, of this session and of those before it, for as long as `is_allowed`."""

    def __init__(
        self, file: Path, endpoint: Endpoint, transport: httpx.AsyncBaseTransport, is_allowed: Callable[[], bool]
    ) -> None:
        self._file, self._endpoint = file, endpoint
        self._transport, self._is_allowed = transport, is_allowed

    async def run(self) -> None:
        """Until cancelled."""
        num_failures = 0
        while True:
            await asyncio.sleep(min(_MAX_BACKOFF_S, _SEND_EVERY_S * 2.0 ** min(num_failures, 10)))
            num_failures = 0 if await self.send() else num_failures + 1

    async def send(self) -> bool:
        """Send one batch. False if that failed."""
        if not self._is_allowed() or not self._file.exists():
            return True
        try:
            records = await asyncio.to_thread(_queued, self._file)
            if records and self._is_allowed():
                if not await self._post(records):
                    return False
                await asyncio.to_thread(_sent, self._file, records)
        except (*_LOST, httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
            _log.info("events not sent: %s", type(error).__name__)
            return False
        return True

    async def _post(self, records: list[Record]) -> bool:
        """Whether the endpoint has them now. One that finds them senseless will never take them."""
        headers = {b"content-type": b"application/json", b"user-agent": b"lsp-complete"}
        if credential := self._endpoint.credential.strip():
            headers[b"authorization"] = f"Bearer {credential}".encode("utf-8", "replace")
        url = self._endpoint.url.rstrip("/") + EVENTS_PATH
        request = httpx.Request("POST", url, headers=headers, content=records_to_json(records))
        async with asyncio.timeout(_SEND_TIMEOUT_S):
            response = await self._transport.handle_async_request(request)
            await response.aclose()
        return response.status_code in (httpx.codes.OK, httpx.codes.UNPROCESSABLE_ENTITY)


def _queued(file: Path) -> list[Record]:
    with EventStore(file) as store:
        return store.queued(_BATCH)


def _sent(file: Path, records: list[Record]) -> None:
    with EventStore(file) as store:
        store.sent(record.id for record in records)
