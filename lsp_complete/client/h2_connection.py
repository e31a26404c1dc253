"""One HTTP/2 connection as an asyncio protocol over `h2`: opens streams, moves their bytes, resets and doubts.

Reads all the time, so a reset, a GOAWAY or a PING is seen even while nobody waits for an answer. Knows neither how the
connection was made (dial.py) nor which others there are (h2_pool.py).
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from typing import cast

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import httpx

from lsp_complete.client.freshness import Freshness, Limits, Trust
from lsp_complete.client.goaway import GoAway, GoAwayFilter
from lsp_complete.client.h2_stream import ConnectionDied, NotProcessed, Stream

Headers = list[tuple[bytes, bytes]]

_PING_DATA = b"alive?\0\0"
_PROBE_TURNS = 4
# On top of the protocol's 64 KiB, so that one answer that nobody reads does not hold up the others.
_EXTRA_WINDOW_BYTES = 2**20
# A peer that does not close its side, or a black hole, gets no longer than this.
_CLOSE_S = 1.0


class Connection(asyncio.Protocol):
    """`serial` grows with each connection of a pool; `on_change` is called when a waiting request may find room."""

    def __init__(self, serial: int, limits: Limits, freshness: Freshness, on_change: Callable[[], None]) -> None:
        self.serial = serial
        self.ready = asyncio.Event()
        self.closed = asyncio.Event()
        self.error = ""
        self.retired = False
        self._limits = limits
        self._freshness = freshness
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._writable = True
        self._goaways = GoAwayFilter()
        self._streams: dict[int, Stream] = {}
        self._probe: asyncio.TimerHandle | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._abort: asyncio.TimerHandle | None = None
        self._h2 = _new_h2()

    # What the pool asks.

    @property
    def is_made(self) -> bool:
        """Whether there is a way to the service, be it through a proxy."""
        return self._transport is not None

    @property
    def trust(self) -> Trust:
        """Whether a new request may rely on the peer still being there."""
        return Trust.DOUBTFUL if self._probe else self._freshness.trust()

    @property
    def has_room(self) -> bool:
        """Whether the peer allows one more stream."""
        allowed = self._h2.remote_settings.max_concurrent_streams
        return not self.retired and max(len(self._streams), self._h2.open_outbound_streams) < allowed

    def probe(self) -> None:
        """Ask for a sign of life. Without one in time the connection is retired, whoever waits for it or stops to."""
        if self._probe is None and not self.retired:
            self._h2.ping(_PING_DATA)
            self._flush()
            self._wait_for_life(_PROBE_TURNS)

    def retire(self) -> None:
        """Open no more streams, and close when the last one has ended."""
        if not self.retired:
            self.retired = True
            self._on_change()
        self._close_when_done()

    def close(self) -> None:
        """Say goodbye and close. What is still under way fails."""
        self.retired = True
        if self._transport is None or self._abort or self.closed.is_set():
            return
        for stream in self._streams.values():
            stream.fail(ConnectionDied("the connection was closed"))
        with contextlib.suppress(h2.exceptions.ProtocolError):
            self._h2.close_connection()
        self._flush()
        self._transport.close()
        self._abort = self._loop.call_later(_CLOSE_S, self._transport.abort)

    # What a request does.

    def open(self, headers: Headers, *, has_body: bool) -> Stream:
        """Send the headers of a request. Raises NotProcessed when the connection cannot take another one."""
        try:
            stream_id = self._h2.get_next_available_stream_id()
            self._h2.send_headers(stream_id, headers, end_stream=not has_body)
        except (h2.exceptions.NoAvailableStreamIDError, h2.exceptions.TooManyStreamsError) as error:
            self.retire()
            raise NotProcessed(str(error)) from error
        except h2.exceptions.ProtocolError:
            self.retire()
            # h2's message would quote the header, and it may hold the credential.
            raise httpx.LocalProtocolError("a header of the request is not valid in HTTP/2") from None
        stream = self._streams[stream_id] = Stream(stream_id, self._loop.time(), sent=not has_body)
        self._flush()
        self._keep_watch()
        return stream

    async def send(self, stream: Stream, data: bytes, timeout_s: float | None) -> None:
        """Send a part of the body as the peer's window allows. Returns early when the peer has already answered."""
        rest = memoryview(data)
        while rest and not stream.ended:
            num_bytes = min(len(rest), self._num_sendable(stream))
            if num_bytes:
                self._h2.send_data(stream.id, bytes(rest[:num_bytes]))
                rest = rest[num_bytes:]
                self._flush()
            else:
                await stream.change(timeout_s, httpx.WriteTimeout)

    def end(self, stream: Stream) -> None:
        """The body is complete. After an early answer it stays incomplete, and `finish` resets the stream."""
        if stream.is_open and not stream.ended and not stream.error:
            self._h2.end_stream(stream.id)
            stream.sent = True
            self._flush()

    async def headers(self, stream: Stream, timeout_s: float | None) -> Headers:
        """The headers of the answer, with its `:status`."""
        while stream.headers is None:
            await stream.change(timeout_s, httpx.ReadTimeout)
        return stream.headers

    async def read(self, stream: Stream, timeout_s: float | None) -> bytes | None:
        """The next piece of the answer's body; None at its end."""
        while not stream.over:
            piece = stream.take()
            if piece:
                self._acknowledge(stream.id, piece[1])
                return piece[0]
            if stream.ended:
                break
            await stream.change(timeout_s, httpx.ReadTimeout)
        return None

    def finish(self, stream: Stream) -> None:
        """Forget a stream, and reset it unless it has ended. Never awaits, so that no cancellation can skip it.

        A stream younger than `min_reset_age_s` is reset that much later.
        """
        if stream.over:
            return
        stream.over = True
        self._acknowledge(stream.id, sum(num_bytes for _, num_bytes in stream.unread))
        stream.unread.clear()
        wait_s = stream.opened_s + self._limits.min_reset_age_s - self._loop.time()
        if stream.is_open and wait_s > 0:
            self._loop.call_later(wait_s, self._forget, stream)
        else:
            self._forget(stream)

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._flush()

    def data_received(self, data: bytes) -> None:
        self._heard()
        try:
            frames, goaways = self._goaways.feed(data)
            for goaway in goaways:
                self._on_goaway(goaway)
            for event in self._h2.receive_data(frames):
                self._on_event(event)
        except h2.exceptions.ProtocolError as error:
            self._fail(f"the service does not speak HTTP/2 correctly: {type(error).__name__}")
        self._flush()
        self._close_when_done()

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(f"the connection was lost: {error}" if error else "the service closed the connection")
        for timer in (self._probe, self._watch, self._abort):
            if timer:
                timer.cancel()
        self.closed.set()
        self._on_change()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        self._wake(self._streams.values())

    # What the peer says.

    def _on_event(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.RemoteSettingsChanged():
                self.ready.set()
                self._wake(self._streams.values())
                self._on_change()
            case h2.events.WindowUpdated(stream_id=stream_id):
                self._wake(s for s in self._streams.values() if stream_id in (0, s.id))
            case h2.events.DataReceived():
                self._on_data(event)
            case h2.events.ResponseReceived() | h2.events.StreamEnded() | h2.events.StreamReset():
                stream = self._streams.get(event.stream_id)
                if stream:
                    _on_stream_event(stream, event)

    def _on_data(self, event: h2.events.DataReceived) -> None:
        stream = self._streams.get(event.stream_id)
        if stream and not stream.over:
            stream.receive(event.data, event.flow_controlled_length)
        else:
            self._acknowledge(event.stream_id, event.flow_controlled_length)

    def _on_goaway(self, goaway: GoAway) -> None:
        """Streams up to the last id go on if the peer is graceful; those above it were not processed.

        Does not close the connection yet: h2 has still to read the frames around this one.
        """
        for stream in self._streams.values():
            if stream.id > goaway.last_stream_id:
                stream.fail(NotProcessed("the service is going away"))
            elif goaway.code:
                stream.fail(ConnectionDied(f"the service gave the connection up: {_code_name(goaway.code)}"))
        self.retired = True
        self._on_change()

    # Doubt.

    def _heard(self) -> None:
        self._freshness.heard()
        if self._probe:
            self._probe.cancel()
            self._probe = None
            self._on_change()

    def _keep_watch(self) -> None:
        """While streams are open, ask after each long silence: a cancelled request never gets to its own timeout."""
        if self._watch is None and self._streams:
            self._watch = self._loop.call_later(self._limits.silence_s, self._end_watch, self._freshness.num_heard)

    def _end_watch(self, num_heard: int) -> None:
        self._watch = None
        if self._streams and self._freshness.num_heard == num_heard:
            self.probe()
        self._keep_watch()

    def _wait_for_life(self, num_turns: int) -> None:
        """In several short waits: a process that was itself held up counts that as one of them, not as silence."""
        if num_turns:
            turn_s = self._limits.probe_s / _PROBE_TURNS
            self._probe = self._loop.call_later(turn_s, self._wait_for_life, num_turns - 1)
        else:
            self._found_dead()

    def _found_dead(self) -> None:
        """Streams in the middle of an answer keep their own timeouts; the others can be asked again elsewhere."""
        self._probe = None
        for stream in self._streams.values():
            if stream.headers is None:
                stream.fail(ConnectionDied("the service gives no sign of life"))
        self.retire()

    # The rest.

    def _num_sendable(self, stream: Stream) -> int:
        if not self._writable or stream.error:
            return 0
        return max(0, min(self._h2.local_flow_control_window(stream.id), self._h2.max_outbound_frame_size))

    def _acknowledge(self, stream_id: int, num_bytes: int) -> None:
        """Give the peer back what we have read of its window."""
        if num_bytes:
            with contextlib.suppress(h2.exceptions.ProtocolError):
                self._h2.acknowledge_received_data(num_bytes, stream_id)
            self._flush()

    def _forget(self, stream: Stream) -> None:
        self._streams.pop(stream.id, None)
        if stream.is_open:
            with contextlib.suppress(h2.exceptions.ProtocolError):
                self._h2.reset_stream(stream.id, h2.errors.ErrorCodes.CANCEL)
            self._flush()
        self._close_when_done()
        self._on_change()

    def _fail(self, reason: str) -> None:
        self.error = self.error or reason
        for stream in self._streams.values():
            stream.fail(ConnectionDied(self.error))
        self.ready.set()
        self.close()

    def _flush(self) -> None:
        if self._transport and not self._transport.is_closing() and (data := self._h2.data_to_send()):
            self._transport.write(data)

    def _close_when_done(self) -> None:
        if self.retired and not self._streams:
            self.close()

    def _wake(self, streams: Iterable[Stream]) -> None:
        for stream in streams:
            stream.changed.set()


def _new_h2() -> h2.connection.H2Connection:
    connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding=None))
    connection.local_settings = h2.settings.Settings(
        client=True, initial_values={h2.settings.SettingCodes.ENABLE_PUSH: 0}
    )
    connection.initiate_connection()
    connection.increment_flow_control_window(_EXTRA_WINDOW_BYTES)
    return connection


def _on_stream_event(
    stream: Stream, event: h2.events.ResponseReceived | h2.events.StreamEnded | h2.events.StreamReset
) -> None:
    match event:
        case h2.events.ResponseReceived(headers=headers):
            stream.respond([(bytes(name), bytes(value)) for name, value in headers])
        case h2.events.StreamEnded():
            stream.end()
        case h2.events.StreamReset(error_code=code):
            stream.was_reset = True
            refused = code == h2.errors.ErrorCodes.REFUSED_STREAM
            error = NotProcessed if refused else httpx.RemoteProtocolError
            stream.fail(error(f"the service reset the stream: {_code_name(int(code))}"))


def _code_name(code: int) -> str:
    try:
        return h2.errors.ErrorCodes(code).name
    except ValueError:
        return f"code {code}"
