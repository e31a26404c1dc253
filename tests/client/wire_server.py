"""A scripted HTTP/2 server on raw `h2` that writes down every frame it gets. It does what a test tells it, also wrong.

Knows nothing about the client: what the client did is read from `frames`.
"""

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, cast

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from hyperframe.frame import GoAwayFrame

# Only a test that fails waits so long.
_PATIENCE_S = 5.0


@dataclass(frozen=True, slots=True)
class Frame:
    """Something the client did: CONNECTED, REQUEST, END_STREAM, RST_STREAM, PING, GOAWAY or CLOSED."""

    name: str
    connection: int
    stream: int = 0
    detail: str | int = ""


@dataclass(slots=True)
class Request:
    stream: int
    headers: dict[str, str]
    body: bytearray = field(default_factory=bytearray)

    @property
    def path(self) -> str:
        return self.headers[":path"]


Script = Callable[["Peer", Request], None]


def by_path(peer: "Peer", request: Request) -> None:
    """/hang says nothing, /drip begins and does not end, everything else is an echo."""
    if request.path == "/drip":
        peer.respond(request.stream, body=b"one", end=False)
    elif request.path != "/hang":
        peer.respond(request.stream, body=bytes(request.body))


class WireServer:
    """`answer` is called when a request is complete, `on_headers` when it begins."""

    def __init__(
        self,
        answer: Script = by_path,
        *,
        on_headers: Script | None = None,
        tls: ssl.SSLContext | None = None,
        max_streams: int = 100,
        peer: "type[Peer] | None" = None,
    ) -> None:
        self._peer = peer or Peer
        self.answer = answer
        self.on_headers = on_headers
        self.max_streams = max_streams
        self.frames: list[Frame] = []
        self.peers: list[Peer] = []
        self._tls = tls
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: self._peer(self), "127.0.0.1", 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"{'https://localhost' if self._tls else 'http://127.0.0.1'}:{self.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.close()
        for peer in self.peers:
            peer.transport.abort()
        await self.until(lambda: self.count("CLOSED") == len(self.peers))

    def log(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._changed.set()

    def count(self, name: str, connection: int | None = None) -> int:
        return len([f for f in self.frames if f.name == name and connection in (None, f.connection)])

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(_PATIENCE_S):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def saw(self, name: str, number: int = 1) -> Frame:
        """The n-th frame of that name, as soon as it is there."""
        await self.until(lambda: self.count(name) >= number)
        return [f for f in self.frames if f.name == name][number - 1]


class Peer(asyncio.Protocol):
    """One connection, seen from the server. Connections are counted from 1."""

    transport: asyncio.Transport

    def __init__(self, server: WireServer) -> None:
        self._server = server
        self._requests: dict[int, Request] = {}
        self._unsent: dict[int, tuple[bytes, bool]] = {}
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.h2.local_settings = h2.settings.Settings(
            client=False, initial_values={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: server.max_streams}
        )

    # What a test makes it do.

    def respond(
        self,
        stream: int,
        status: int = 200,
        headers: dict[str, str] | None = None,
        body: bytes = b"",
        *,
        end: bool = True,
    ) -> None:
        """Says nothing when the client has reset the stream in the same breath."""
        with contextlib.suppress(h2.exceptions.StreamClosedError):
            self.h2.send_headers(stream, [(":status", str(status)), *(headers or {}).items()])
            self.send(stream, body, end=end)

    def send(self, stream: int, data: bytes, *, end: bool = False) -> None:
        """As far as the client's window allows; the rest follows when it opens."""
        self._unsent[stream] = (data, end)
        self._pump()

    def reset(self, stream: int, code: h2.errors.ErrorCodes) -> None:
        self.h2.reset_stream(stream, code)
        self.flush()

    def go_away(self, last_stream: int, code: int = 0) -> None:
        """Past h2, which could not finish its streams after it."""
        self.transport.write(GoAwayFrame(0, last_stream_id=last_stream, error_code=code).serialize())

    def fall_silent(self) -> None:
        """A black hole: from now on nothing is read and nothing is said, but the connection stands."""
        self.transport.pause_reading()

    def flush(self) -> None:
        data = self.h2.data_to_send()
        if data and not self.transport.is_closing():
            self.transport.write(data)

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._server.peers.append(self)
        self.number = len(self._server.peers)
        self._log("CONNECTED")
        self.h2.initiate_connection()
        self.flush()

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            self._on_event(event)
        self.flush()

    def connection_lost(self, error: Exception | None) -> None:
        self._log("CLOSED")

    def _on_event(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RequestReceived(stream_id=stream, headers=headers):
                request = Request(stream, {str(name): str(value) for name, value in headers})
                self._requests[stream] = request
                self._log("REQUEST", stream, request.path)
                if self._server.on_headers:
                    self._server.on_headers(self, request)
            case h2.events.DataReceived(stream_id=stream, data=data, flow_controlled_length=num_bytes):
                self._requests[stream].body += data
                self.h2.acknowledge_received_data(num_bytes, stream)
            case h2.events.StreamEnded(stream_id=stream):
                self._log("END_STREAM", stream)
                self._server.answer(self, self._requests[stream])
            case h2.events.StreamReset(stream_id=stream, error_code=code):
                self._unsent.pop(stream, None)
                self._log("RST_STREAM", stream, int(code))
            case h2.events.PingReceived():
                self._log("PING")
            case h2.events.ConnectionTerminated(error_code=code):
                self._log("GOAWAY", 0, int(code or 0))
            case h2.events.WindowUpdated():
                self._pump()

    def _pump(self) -> None:
        for stream, (data, end) in list(self._unsent.items()):
            with contextlib.suppress(h2.exceptions.StreamClosedError):
                self._send_some(stream, data, end)
        self.flush()

    def _send_some(self, stream: int, data: bytes, end: bool) -> None:
        while data and (room := self._room(stream)):
            self.h2.send_data(stream, data[:room])
            data = data[room:]
        self._unsent[stream] = (data, end)
        if not data:
            del self._unsent[stream]
            if end:
                self.h2.end_stream(stream)

    def _room(self, stream: int) -> int:
        return min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)

    def _log(self, name: str, stream: int = 0, detail: str | int = "") -> None:
        self._server.log(Frame(name, self.number, stream, detail))
