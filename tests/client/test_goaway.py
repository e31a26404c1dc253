import h2.exceptions
import pytest
from hyperframe.frame import DataFrame, Frame, GoAwayFrame, PingFrame

from lsp_complete.client.goaway import GoAway, GoAwayFilter

PING = PingFrame(0, b"12345678").serialize()
DATA = DataFrame(1, b"text").serialize()


def goaway(last: int, code: int) -> bytes:
    return bytes(GoAwayFrame(0, last_stream_id=last, error_code=code, additional_data=b"why").serialize())


def check(*frames: bytes, passed: bytes, found: list[GoAway]) -> None:
    """Whole, and cut in two at every place."""
    data = b"".join(frames)
    for cut in range(len(data)):
        filter_ = GoAwayFilter()
        before, found_before = filter_.feed(data[:cut])
        after, found_after = filter_.feed(data[cut:])
        assert (before + after, found_before + found_after) == (passed, found)


def test_other_frames_pass_unchanged() -> None:
    check(PING, DATA, PING, passed=PING + DATA + PING, found=[])


def test_a_graceful_goaway_is_taken_out() -> None:
    check(
        PING, goaway(2**31 - 1, 0), DATA, goaway(3, 0), passed=PING + DATA, found=[GoAway(2**31 - 1, 0), GoAway(3, 0)]
    )


def test_a_goaway_with_an_error_is_passed_on_as_well() -> None:
    check(goaway(5, 11), PING, passed=goaway(5, 11) + PING, found=[GoAway(5, 11)])


def test_a_goaway_too_short_to_be_one_is_left_to_h2() -> None:
    broken = b"\0\0\x04\x07\0\0\0\0\0abcd"
    check(broken, PING, passed=broken + PING, found=[])


def test_a_frame_longer_than_allowed_is_an_error_at_once() -> None:
    with pytest.raises(h2.exceptions.FrameTooLargeError):
        GoAwayFilter().feed(b"HTTP/1.1 400 Bad Request\r\n")


def test_frames_are_what_hyperframe_reads() -> None:
    frame, _ = Frame.parse_frame_header(memoryview(GoAwayFilter().feed(PING)[0])[:9])
    assert isinstance(frame, PingFrame)
