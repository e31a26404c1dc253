"""A client on raw `h2` that sends what a test tells it, when it is told to, and writes down what comes back."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import h2.config
import h2.connection
import h2.events

from lsp_complete.client.goaway import GoAway, GoAwayFilter

_PIECE = 10_000


@dataclass(slots=True)
class WireClient:
    """`h2` would go no further after a GOAWAY, so those are taken out before, into `goaways`."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    connection: h2.connection.H2Connection
    events: list[h2.events.Event] = field(default_factory=list)
    goaways: list[GoAway] = field(default_factory=list)
    is_closed: bool = False
    filter: GoAwayFilter = field(default_factory=GoAwayFilter)

    def begin(self, method: str, path: str, credential: str, *, ends: bool = False) -> int:
        """The headers of a request. Gives its stream."""
        stream = self.connection.get_next_available_stream_id()
        headers = [(":method", method), (":path", path), (":scheme", "http"), (":authority", "service")]
        self.connection.send_headers(stream, [*headers, ("authorization", f"Bearer {credential}")], end_stream=ends)
        self._flush()
        return stream

    def send(self, stream: int, body: bytes) -> None:
        """A body that fits into the first window, and the end of the request."""
        for start in range(0, len(body), _PIECE):
            self.connection.send_data(stream, body[start : start + _PIECE])
        self.connection.end_stream(stream)
        self._flush()

    async def round_trip(self) -> None:
        """What was sent before has arrived."""
        seen = sum(1 for event in self.events if isinstance(event, h2.events.PingAckReceived))
        self.connection.ping(b"12345678")
        self._flush()
        while sum(1 for event in self.events if isinstance(event, h2.events.PingAckReceived)) == seen:
            await self.receive()

    async def receive(self) -> None:
        """Whatever comes next."""
        data = await self.reader.read(65_536)
        self.is_closed = self.is_closed or not data
        rest, goaways = self.filter.feed(data)
        self.goaways += goaways
        self.events += self.connection.receive_data(rest)
        self._flush()

    def of(self, stream: int) -> list[str]:
        """The kinds of what has come of a stream, in order."""
        mine = [event for event in self.events if getattr(event, "stream_id", None) == stream]
        return [type(event).__name__ for event in mine if not isinstance(event, h2.events.WindowUpdated)]

    def status(self, stream: int) -> str:
        found = [e for e in self.events if isinstance(e, h2.events.ResponseReceived) and e.stream_id == stream]
        return str(dict(found[0].headers or [])[b":status"].decode())

    def text(self, stream: int) -> str:
        pieces = [e.data or b"" for e in self.events if isinstance(e, h2.events.DataReceived) and e.stream_id == stream]
        return b"".join(pieces).decode()

    def _flush(self) -> None:
        self.writer.write(self.connection.data_to_send())


@contextlib.asynccontextmanager
async def wire_client(url: str) -> AsyncGenerator[WireClient, None]:
    host, _, port = url.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    client = WireClient(reader, writer, h2.connection.H2Connection(h2.config.H2Configuration(client_side=True)))
    client.connection.initiate_connection()
    try:
        yield client
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
