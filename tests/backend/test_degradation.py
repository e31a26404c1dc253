from itertools import pairwise

import pytest

from lsp_complete.backend.admission import Tier
from lsp_complete.backend.degradation import Degradation
from lsp_complete.protocol.completion import Mode
from lsp_complete.protocol.errors import Overloaded


class Load:
    def __init__(self):
        self.waiting = 0.0
        self.degradation = Degradation(lambda: self.waiting, 0.0)
        self.now = 0.0

    def levels(self, waiting, seconds, step_s=0.25):
        self.waiting, seen = waiting, []
        for _ in range(int(seconds / step_s)):
            self.now += step_s
            seen.append(self.degradation.level(self.now))
        return seen


def allowed(level, tier, mode):
    load = Load()
    load.levels(100, 1.1 * level + 1.5)
    while load.degradation.level(load.now) > level:
        load.levels(0, 0.25)
    try:
        load.degradation.check(tier, mode, load.now)
    except Overloaded:
        return False
    return True


def test_levels_rise_one_by_one_and_stay_for_a_while():
    seen = Load().levels(100, 10)
    assert seen == sorted(seen)
    assert [seen.count(level) for level in (1, 2)] == [4, 4]
    assert seen[-1] == 3


def test_a_burst_is_no_overload():
    load = Load()
    assert set(load.levels(3, 0.5) + load.levels(0, 10)) == {0}


def test_a_level_ends_at_half_of_the_load_at_which_it_begins():
    load = Load()
    assert load.levels(1.2, 20)[-1] == 1
    assert set(load.levels(0.6, 20)) == {1}
    assert load.levels(0.4, 20)[-1] == 0


def test_a_load_at_the_border_does_not_make_it_flutter():
    load = Load()
    seen = [level for _ in range(40) for level in load.levels(1.3, 0.5) + load.levels(0.7, 0.5)]
    assert sum(a != b for a, b in pairwise(seen)) == 1


def test_clients_are_asked_for_a_longer_pause_with_each_level():
    load = Load()
    pauses = [load.degradation.debounce_ms(load.now)]
    for _ in range(3):
        load.levels(100, 1.25)
        pauses.append(load.degradation.debounce_ms(load.now))
    assert pauses[0] == 0
    assert pauses == sorted(set(pauses))


@pytest.mark.parametrize(
    ("level", "refused"),
    [
        (0, set()),
        (1, set()),
        (2, {(Tier.AUTOMATIC, Mode.BLOCK), (Tier.WARMING, Mode.LINE), (Tier.WARMING, Mode.BLOCK)}),
        (3, {(tier, mode) for tier in (Tier.AUTOMATIC, Tier.WARMING) for mode in Mode}),
    ],
)
def test_what_is_left_out_at_each_level(level, refused):
    assert {(tier, mode) for tier in Tier for mode in Mode if not allowed(level, tier, mode)} == refused
