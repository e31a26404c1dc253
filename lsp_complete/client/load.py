"""What a service under load leaves out, as far as it has told: its level of degradation. Pure functions of a given
time.

What it told is believed for a while only: whoever asks for nothing hears of no recovery.
"""

from dataclasses import dataclass

from lsp_complete.client.moment import PAST, Moment
from lsp_complete.protocol.completion import Mode
from lsp_complete.protocol.errors import Overloaded

# From this level on a service takes no blocks and warms nothing up; at the other one it answers users' own questions.
NO_BLOCKS, INVOKED_ONLY = 2, 3
# A level lasts a second at least and falls by one at a time, so a few of these from the last to none.
_BELIEVED_S = 5.0


@dataclass(frozen=True, slots=True)
class Load:
    """`level` as in `FinishChunk`, believed up to `until`."""

    level: int = 0
    until: Moment = PAST

    def level_at(self, now: Moment) -> int:
        return 0 if self.until.is_past(now) else self.level


def told(level: int, now: Moment) -> Load:
    return Load(level, now.after(_BELIEVED_S))


def refused(error: Overloaded, mode: Mode, now: Moment) -> Load:
    """It did not take a question of this mode; what it still takes it does not say."""
    level = NO_BLOCKS if mode is Mode.BLOCK else INVOKED_ONLY
    return Load(level, now.after(max(_BELIEVED_S, error.retry_after_s or 0.0)))
