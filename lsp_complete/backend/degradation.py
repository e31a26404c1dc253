"""How much a service under load leaves out, in four levels: all is well, the clients are asked to pause longer, no
blocks and no warming up, nothing but what a user invoked.

Pure functions of a given time (seconds of any one clock). Knows only how many wait for a slot.
"""

import math
from collections.abc import Callable

from lsp_complete.backend.admission import Tier
from lsp_complete.protocol.completion import Mode
from lsp_complete.protocol.errors import Overloaded

# Waiting requests a slot at which the next level begins. It ends at half of that, so that it does not flutter.
_BEGINS = (1.0, 2.0, 4.0)
_ENDS_AT = 0.5
# The load is smoothed over so long, and a level lasts at least so long: a burst of typing is no overload.
_SMOOTH_S = 2.0
_MIN_LEVEL_S = 1.0
# The least pause in typing that clients are asked for, by level.
_DEBOUNCE_MS = (0, 150, 300, 600)
_RETRY_AFTER_S = 2.0


class Degradation:
    """`waiting_per_slot` is asked for at each look."""

    def __init__(self, waiting_per_slot: Callable[[], float], now: float) -> None:
        self._waiting_per_slot = waiting_per_slot
        self._load = self._last = 0.0
        self._looked_at = self._changed_at = now
        self._level = 0

    def level(self, now: float) -> int:
        """Goes up and down by one at a time."""
        self._smooth(now)
        if now - self._changed_at >= _MIN_LEVEL_S:
            if self._level < len(_BEGINS) and self._load >= _BEGINS[self._level]:
                self._level, self._changed_at = self._level + 1, now
            elif self._level and self._load < _BEGINS[self._level - 1] * _ENDS_AT:
                self._level, self._changed_at = self._level - 1, now
        return self._level

    def debounce_ms(self, now: float) -> int:
        return _DEBOUNCE_MS[self.level(now)]

    def check(self, tier: Tier, mode: Mode, now: float) -> None:
        """Raises Overloaded for what is left out at this level."""
        level = self.level(now)
        if tier is Tier.INVOKED or level < 2:
            return
        if level == 3 or mode is Mode.BLOCK or tier is Tier.WARMING:
            raise Overloaded(f"level {level} of degradation", _RETRY_AFTER_S)

    def _smooth(self, now: float) -> None:
        """What was seen at the last look held until now."""
        share = 1 - math.exp(-(now - self._looked_at) / _SMOOTH_S)
        self._load += (self._last - self._load) * share
        self._last, self._looked_at = self._waiting_per_slot(), now
