"""One request and its answer on an HTTP/2 connection: what has arrived, what has ended, and why it failed.

Knows no socket and sends nothing; h2_connection.py moves it. The two errors say what a retry may rely on.
"""

import asyncio
from collections import deque
from dataclasses import dataclass, field

import httpx


class NotProcessed(httpx.RemoteProtocolError):
    """The peer promises that it did nothing for this request, so anybody may send it again."""


class ConnectionDied(httpx.ReadError):
    """The connection ended first. Whether the peer did anything for this request is not known."""


@dataclass(slots=True, eq=False)
class Stream:
    """`sent`: we have ended our side. `ended`: the peer has ended its own. `over`: nobody reads the answer any more."""

    id: int
    opened_s: float
    headers: list[tuple[bytes, bytes]] | None = None
    unread: deque[tuple[bytes, int]] = field(default_factory=deque)
    sent: bool = False
    ended: bool = False
    over: bool = False
    was_reset: bool = False
    error: httpx.TransportError | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_open(self) -> bool:
        """Whether the peer still counts it against our limit."""
        return not self.was_reset and not (self.sent and self.ended)

    def respond(self, headers: list[tuple[bytes, bytes]]) -> None:
        self.headers = headers
        self.changed.set()

    def receive(self, data: bytes, num_flow_bytes: int) -> None:
        """`num_flow_bytes` count against the flow control window: the data and its padding."""
        self.unread.append((data, num_flow_bytes))
        self.changed.set()

    def end(self) -> None:
        self.ended = True
        self.changed.set()

    def fail(self, error: httpx.TransportError) -> None:
        """The first error counts, and none that comes after the whole answer (RFC 9113 section 8.1)."""
        if not self.ended and self.error is None:
            self.error = error
        self.changed.set()

    def take(self) -> tuple[bytes, int] | None:
        """The next piece of the body and its flow-controlled length, None if there is none yet. Raises the error."""
        if self.unread:
            return self.unread.popleft()
        if self.error:
            raise self.error
        return None

    async def change(self, timeout_s: float | None, on_timeout: type[httpx.TimeoutException]) -> None:
        """Wait until anything happens to this stream. Raises the error that it already has.

        `asyncio.timeout`, for `asyncio.wait_for` can swallow a cancellation before Python 3.12.
        """
        if self.error:
            raise self.error
        self.changed.clear()
        try:
            async with asyncio.timeout(timeout_s):
                await self.changed.wait()
        except TimeoutError:
            raise on_timeout(f"no answer for {timeout_s:g} s") from None
