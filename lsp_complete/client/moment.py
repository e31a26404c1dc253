"""A moment on two clocks: what waits for one waits until either clock is there.

The event loop's clock may stand still while the machine sleeps, the wall clock may be set: neither is believed alone.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds: in the time of the event loop, and since the epoch."""

    loop_s: float
    wall_s: float

    def after(self, seconds: float) -> "Moment":
        return Moment(self.loop_s + seconds, self.wall_s + seconds)

    def is_past(self, now: "Moment") -> bool:
        return now.loop_s >= self.loop_s or now.wall_s >= self.wall_s


PAST, NEVER = Moment(-inf, -inf), Moment(inf, inf)


def now(wall_clock: Clock = time.time) -> Moment:
    """In an event loop."""
    return Moment(asyncio.get_running_loop().time(), wall_clock())
