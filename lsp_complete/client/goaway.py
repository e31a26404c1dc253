"""Takes graceful GOAWAY frames out of a connection's bytes before `h2` reads them.

On any GOAWAY `h2` closes its state machine and refuses the streams that a draining peer is still finishing, while
RFC 9113 section 6.8 lets every stream up to the last id run to its end. Knows frames; neither streams nor sockets.
"""

from dataclasses import dataclass

from h2.exceptions import FrameTooLargeError

_HEADER_BYTES = 9
_GOAWAY = 0x07
_GOAWAY_BYTES = _HEADER_BYTES + 8
_STREAM_ID_MASK = 0x7FFF_FFFF
# We never raise SETTINGS_MAX_FRAME_SIZE above the protocol's default. h2 would wait for the whole of a longer frame,
# which the answer of an HTTP/1.1 server looks like.
_MAX_PAYLOAD_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class GoAway:
    """The peer takes no new stream, and none above `last_stream_id` was processed. `code` 0 is graceful."""

    last_stream_id: int
    code: int


class GoAwayFilter:
    """Cuts the bytes of a connection into frames, and answers with what `h2` may see and the GOAWAYs in between."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> tuple[bytes, list[GoAway]]:
        """Frames that are complete by now. A GOAWAY with an error code is reported and passed on as well.

        Raises h2's FrameTooLargeError.
        """
        self._held += data
        passed = bytearray()
        found = []
        while frame := self._next_frame():
            goaway = _parse(frame)
            if goaway:
                found.append(goaway)
            if not goaway or goaway.code:
                passed += frame
        return bytes(passed), found

    def _next_frame(self) -> bytes:
        """The next complete frame, or nothing. Raises FrameTooLargeError."""
        if len(self._held) < _HEADER_BYTES:
            return b""
        length = int.from_bytes(self._held[:3], "big")
        if length > _MAX_PAYLOAD_BYTES:
            raise FrameTooLargeError(f"a frame of {length} bytes")
        end = _HEADER_BYTES + length
        if len(self._held) < end:
            return b""
        frame = bytes(self._held[:end])
        del self._held[:end]
        return frame


def _parse(frame: bytes) -> GoAway | None:
    if frame[3] != _GOAWAY or len(frame) < _GOAWAY_BYTES:
        return None
    last = int.from_bytes(frame[9:13], "big") & _STREAM_ID_MASK
    return GoAway(last, int.from_bytes(frame[13:17], "big"))
