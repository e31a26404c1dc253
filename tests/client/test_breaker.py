"""When automatic questions pause, for how long, and when they go on. Pure: the clocks are numbers."""

from functools import reduce
from math import isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.client.breaker import (
    CLOSED,
    FIRST_PAUSE_S,
    JITTER,
    MAX_PAUSE_S,
    Breaker,
    failed,
    failed_by_hand,
    may_leave,
    probed,
)
from lsp_complete.client.moment import Moment
from lsp_complete.protocol import errors

NOW = Moment(100.0, 1_800_000_000.0)
MEAN = 0.5
GONE = errors.Unreachable("gone")


def pause_s(breaker: Breaker, now: Moment = NOW) -> float:
    return breaker.until.loop_s - now.loop_s


def after_failures(num: int, chance: float = MEAN) -> Breaker:
    return reduce(lambda breaker, _: failed(breaker, GONE, NOW, chance), range(num), CLOSED)


def test_pauses_double_up_to_a_limit() -> None:
    assert [pause_s(after_failures(num)) for num in range(1, 9)] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_thousands_of_failures_are_no_number_too_large() -> None:
    assert pause_s(Breaker(GONE, 10**6), NOW) or pause_s(failed(Breaker(GONE, 10**6), GONE, NOW, MEAN)) == MAX_PAUSE_S


@given(st.floats(0, 1), st.integers(1, 12))
def test_jitter_moves_a_pause_by_a_quarter_at_most(chance: float, num: int) -> None:
    mean_s = min(MAX_PAUSE_S, FIRST_PAUSE_S * 2 ** (num - 1))
    assert abs(pause_s(after_failures(num, chance)) - mean_s) <= JITTER * mean_s + 1e-6


@pytest.mark.parametrize(("asked_s", "pause"), [(30.0, 30.0), (600.0, 600.0), (0.0, 1.0), (None, 1.0)])
def test_the_service_is_not_asked_before_it_wants_to_be(asked_s: float | None, pause: float) -> None:
    assert pause_s(failed(CLOSED, errors.RateLimited("", asked_s), NOW, MEAN)) == pause


def test_a_wrong_credential_is_wrong_until_something_else_changes() -> None:
    breaker = failed(CLOSED, errors.Unauthorized(), NOW, MEAN)
    assert isinf(breaker.until.loop_s)
    assert not may_leave(breaker, NOW.after(10**9))


@pytest.mark.parametrize(
    "error",
    [errors.InvalidRequest(), errors.TooLarge(), errors.Superseded(), errors.TooLate(), errors.Overloaded()],
)
def test_what_says_nothing_of_the_next_question_opens_nothing(error: errors.CompletionError) -> None:
    assert failed(CLOSED, error, NOW, MEAN) == CLOSED


def test_a_model_that_loads_is_asked_for_every_second_and_counts_as_no_failure() -> None:
    breaker = reduce(lambda one, _: failed(one, errors.ModelLoading(), NOW, MEAN), range(5), CLOSED)
    assert (pause_s(breaker), breaker.num_failures) == (1.0, 0)


def test_after_the_pause_one_question_goes_and_no_other_until_it_has_ended() -> None:
    breaker = after_failures(1)
    assert not may_leave(breaker, NOW.after(0.9))
    assert may_leave(breaker, NOW.after(1.0))
    probing = probed(breaker, is_under_way=True)
    assert not may_leave(probing, NOW.after(1.0))
    assert may_leave(probed(probing, is_under_way=False), NOW.after(1.0))
    again = failed(probing, GONE, NOW.after(1.0), MEAN)
    assert (pause_s(again, NOW.after(1.0)), again.is_probing) == (2.0, False)


def test_a_pause_ends_while_the_machine_sleeps() -> None:
    """The loop's clock stood still, the wall's went on."""
    breaker = failed(CLOSED, errors.RateLimited("", 600.0), NOW, MEAN)
    assert may_leave(breaker, Moment(NOW.loop_s, NOW.wall_s + 3600))


def test_a_wall_clock_that_is_set_back_makes_no_pause_longer() -> None:
    assert may_leave(after_failures(1), Moment(NOW.loop_s + 1, NOW.wall_s - 3600))


def test_a_failure_by_hand_makes_no_pause_longer_unless_the_service_says_so() -> None:
    breaker = after_failures(3)
    assert failed_by_hand(breaker, GONE, NOW.after(1)) == breaker
    assert pause_s(failed_by_hand(breaker, errors.RateLimited("", 30.0), NOW)) == 30.0
    unauthorized = failed(CLOSED, errors.Unauthorized(), NOW, MEAN)
    assert failed_by_hand(unauthorized, errors.RateLimited("", 30.0), NOW) == unauthorized
