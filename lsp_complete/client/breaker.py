"""Whether the service may be asked, by what became of the last questions. Pure functions of a given time.

    CLOSED ──── a failure ───▶ OPEN ──── the pause is over ───▶ HALF OPEN, one question goes as a probe
      ▲                         ▲                                   │
      │                         └───────── it fails, too ───────────┤
      └──────────────────────── it is answered ─────────────────────┘

Holds for questions that nobody asked for by hand: those go in any state. Knows no request and sends nothing.
"""

from dataclasses import dataclass, replace

from lsp_complete.client.moment import NEVER, PAST, Moment
from lsp_complete.protocol.errors import (
    CompletionError,
    InvalidRequest,
    ModelLoading,
    Overloaded,
    Superseded,
    TooLarge,
    TooLate,
    Unauthorized,
)

# The first pause, doubled with each failure in a row: a service that restarts is back in seconds, and after a minute
# the user has noticed.
FIRST_PAUSE_S, MAX_PAUSE_S = 1.0, 60.0
_MAX_DOUBLINGS = 10  # an editor may stay open for thousands of failures
# A pause is up to a quarter longer or shorter, so that many editors do not come back at once.
JITTER = 0.25
# What says nothing about whether the next question is answered.
_HARMLESS = (InvalidRequest, TooLarge, Superseded, TooLate, Overloaded)


@dataclass(frozen=True, slots=True)
class Breaker:
    """`cause` is the last failure, None where all is well; `num_failures` came in a row. No automatic question leaves
    before `until`, nor while the one is under way that has left since."""

    cause: CompletionError | None = None
    num_failures: int = 0
    until: Moment = PAST
    is_probing: bool = False

    @property
    def is_closed(self) -> bool:
        return self.cause is None

    def is_open(self, now: Moment) -> bool:
        return self.cause is not None and not self.until.is_past(now)


CLOSED = Breaker()


def may_leave(breaker: Breaker, now: Moment) -> bool:
    """For automatic questions."""
    return not breaker.is_open(now) and not breaker.is_probing


def probed(breaker: Breaker, *, is_under_way: bool) -> Breaker:
    """The probe leaves, or is given up without an answer."""
    is_no_change = breaker.is_closed or breaker.is_probing is is_under_way
    return breaker if is_no_change else replace(breaker, is_probing=is_under_way)


def failed(breaker: Breaker, error: CompletionError, now: Moment, chance: float) -> Breaker:
    """A question that left while the state was as it is now has failed. `chance`, from 0 to 1, makes the jitter."""
    if isinstance(error, _HARMLESS):
        return breaker
    num_failures = breaker.num_failures + (not isinstance(error, ModelLoading))
    return Breaker(error, num_failures, _until(error, num_failures, now, chance))


def failed_by_hand(breaker: Breaker, error: CompletionError, now: Moment) -> Breaker:
    """A question that left in spite of a pause has failed: nothing new, unless the service asks for more time."""
    until = now.after(error.retry_after_s or 0.0)
    is_later = until.loop_s > breaker.until.loop_s and not isinstance(error, _HARMLESS)
    return replace(breaker, until=until) if is_later else breaker


def _until(error: CompletionError, num_failures: int, now: Moment, chance: float) -> Moment:
    """Never before the service wants it. A credential stays wrong until the settings change, and a model needs its time
    to load, however often one asks."""
    if isinstance(error, Unauthorized):
        return NEVER
    num_doublings = 0 if isinstance(error, ModelLoading) else min(num_failures - 1, _MAX_DOUBLINGS)
    pause_s = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2.0**num_doublings) * (1 + JITTER * (2 * chance - 1))
    return now.after(max(pause_s, error.retry_after_s or 0.0))
