"""When a connection was last heard of, and whether that is recent enough to trust it. A pure function of two clocks.

Knows no connection; says only what the clocks say.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class Trust(Enum):
    FRESH = "use it"
    DOUBTFUL = "ask for a sign of life first"
    STALE = "do not use it again"


@dataclass(frozen=True, slots=True)
class Clocks:
    """Seconds. `monotonic` may stand still while the machine sleeps, `wall` may be set; neither is trusted alone."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a connection is trusted, in seconds.

    idle_s: routers forget a silent connection after a few minutes at most, the strict ones after less than two.
    jump_s: the wall clock ahead of the monotonic one by more than any correction of it means that the machine slept.
    probe_after_s: silence after which a new request waits for a PING first, which costs it a round trip.
    silence_s: silence after which a PING is sent for the requests that wait already, which costs them nothing.
    probe_s: a round trip around the world takes a sixth of it; a machine under full load may need a second to answer.
    min_reset_age_s: servers on hyper (granian) close the connection after 20 streams that are opened and reset within
    one of their reads, so very young streams are reset a little later.
    max_connections: to one service; each carries as many streams as the service allows.
    """

    idle_s: float = 90.0
    jump_s: float = 10.0
    probe_after_s: float = 5.0
    silence_s: float = 1.5
    probe_s: float = 2.0
    min_reset_age_s: float = 0.005
    max_connections: int = 4


class Freshness:
    """Of one connection. `num_heard` counts its signs of life."""

    def __init__(self, limits: Limits, clocks: Clocks) -> None:
        self._limits = limits
        self._clocks = clocks
        self.num_heard = 0
        self.heard()

    def heard(self) -> None:
        self.num_heard += 1
        self._heard_monotonic_s = self._clocks.monotonic()
        self._heard_wall_s = self._clocks.wall()

    def trust(self) -> Trust:
        silent_s = self._clocks.monotonic() - self._heard_monotonic_s
        slept_s = self._clocks.wall() - self._heard_wall_s - silent_s
        if slept_s > self._limits.jump_s or silent_s > self._limits.idle_s:
            return Trust.STALE
        return Trust.DOUBTFUL if silent_s > self._limits.probe_after_s else Trust.FRESH
