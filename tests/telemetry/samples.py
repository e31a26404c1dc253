"""One event of each kind, and records of them."""

from lsp_complete.protocol.completion import Mode, Trigger
from lsp_complete.protocol.events import (
    Accepted,
    After,
    Cancelled,
    Error,
    Event,
    Failure,
    Hex,
    How,
    Language,
    Part,
    Reason,
    Record,
    Rejected,
    Rejection,
    Requested,
    Retained,
    Rung,
    Shown,
    Stage,
    Suppressed,
    Timings,
    Tokens,
    TypedThrough,
)

ID = Hex("0123456789abcdef")
SESSION = Hex("ab12")
EVENTS: tuple[Event, ...] = (
    Requested(ID, Language.PYTHON, Mode.LINE, Trigger.AUTOMATIC, Hex("a1")),
    Suppressed(ID, Reason.MID_WORD),
    Shown(ID, Rung.NETWORK, 20, 2, Hex("b2"), Timings(total=130.5, prefill=80.0), Tokens(100, 90, 12, 0), False),
    TypedThrough(ID, 20),
    Accepted(ID, Part.WORD, How.INFERRED, 5),
    Rejected(ID, Rejection.OTHER_TEXT, 3, 1.5),
    Cancelled(ID, Stage.WAITING, 44.0, Tokens(100, 0, 3, 3)),
    Retained(ID, After.S30, 0.75, 20),
    Error(ID, Failure.UNREACHABLE, 12.0),
)


def records(num: int = len(EVENTS), at_s: float = 1_000_000.0) -> list[Record]:
    return [Record(SESSION, EVENTS[n % len(EVENTS)], at_s + n) for n in range(num)]
