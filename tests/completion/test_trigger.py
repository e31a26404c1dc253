"""When a question is worth asking, and how long it waits for the next key."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.keystrokes import Change, Keystrokes, pressed
from lsp_complete.completion.trigger import MAX_WAIT_MS, MIN_WAIT_MS, Mood, Skip, hopeless, place_of, wait_ms
from lsp_complete.protocol.completion import Trigger
from tests.completion.cursor_case import at

CALM = Mood()


def typed(*texts, every_s=0.2):
    keys = Keystrokes()
    for number, (before, after) in enumerate(pairwise(texts), start=1):
        keys = pressed(keys, before, after, number * every_s)
    return keys


def cursor(marked):
    return Cursor(*at(marked))


@pytest.mark.parametrize(
    ("texts", "change"),
    [
        (("", "r"), Change.INSERTION),
        (("r", "re", "r"), Change.DELETION),
        (("a\nb\n", "b\n"), Change.DELETION),
        (("a\nb\n", "b\n", "a\nb\n"), Change.RESTORATION),
        (("r", "", "r"), Change.INSERTION),
        (("pri", "print()"), Change.INSERTION),
        (("value", "x"), Change.DELETION),
        (("x = value", "x = ", "x = value"), Change.RESTORATION),
        (("x = ", "x = value", "x = "), Change.RESTORATION),
        (("x = v", "x = va", "x = v"), Change.DELETION),
        (("x = value", "x = valu", "x = "), Change.DELETION),
    ],
)
def test_a_change_is_named_by_its_net_effect(texts, change):
    """B16."""
    assert typed(*texts, every_s=1.0).change is change


@pytest.mark.parametrize(
    "texts",
    [
        ("f", "f()", "f", "f()"),
        ("if x:\n", "if x:\n    \n", "if x:\n", "if x:\n    \n"),
        ("x = 1", "x = 2", "x = 1"),
    ],
)
def test_a_key_pressed_again_is_no_undo_however_much_it_brings_back(texts):
    assert typed(*texts, every_s=1.0).change is Change.INSERTION


def test_a_word_typed_again_is_no_undo_where_the_editor_gathers_keys():
    keys = typed("x = val", "x = ", "x = v", every_s=1.0)
    assert pressed(keys, "x = v", "x = val", 2.15).change is Change.INSERTION
    assert pressed(keys, "x = v", "x = val", 9.0, ("a", "l")).change is Change.INSERTION
    assert pressed(typed("x = val", "x = valu", every_s=1.0), "x = valu", "x = va", 1.15).change is Change.DELETION


def test_undo_held_down_goes_on():
    keys = typed("a", "a b", "a b c", "a b c d", "a b c", every_s=1.0)
    assert keys.change is Change.RESTORATION
    assert pressed(keys, "a b c", "a b", 4.1).change is Change.RESTORATION


def test_the_same_text_at_several_places_is_many_cursors_and_a_key_pressed_twice_or_a_closed_bracket_is_not():
    assert pressed(Keystrokes(), "a\nb", "ax\nbx", 1.0, ("x", "x")).change is Change.EVERYWHERE
    assert pressed(Keystrokes(), "f", "f()", 1.0, ("(", ")")).change is Change.INSERTION
    assert pressed(Keystrokes(), "a \nb", "a ==\nb", 1.0, ("=", "=")).change is Change.INSERTION


def test_the_rhythm_is_that_of_keys_in_a_row_and_pauses_do_not_count():
    keys = typed(*("x" * number for number in range(9)), every_s=0.1)
    assert keys.interval_s == pytest.approx(0.1)
    assert pressed(keys, "x" * 8, "x" * 9, 60.0).interval_s == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("marked", "texts", "skip"),
    [
        ("to█tal = 1\n", ("", "x"), Skip.MID_WORD),
        ("f(█total)\n", ("", "x"), None),
        ("x = █)\n", ("", "x"), None),
        ('x = "█"\n', ("", "x"), None),
        ("x = 1█\n", ("xy", "x"), Skip.AFTER_DELETION),
        ("x = 1█\n", ("a word", "", "a word"), Skip.AFTER_UNDO),
    ],
)
def test_hopeless_moments_are_named(marked, texts, skip):
    assert hopeless(cursor(marked), typed(*texts), CALM) is skip


def test_what_was_rejected_is_not_offered_again_in_its_place():
    here = cursor("x = 1\ny = █\n")
    mood = Mood(rejected_at=place_of(here))
    assert hopeless(here, Keystrokes(), mood) is Skip.REJECTED_HERE
    assert hopeless(cursor("x = 1\ny = z█\n"), Keystrokes(), mood) is None


@pytest.mark.parametrize("marked", ["f(█)\n", "def f():\n█\n", "a.█\n"])
def test_where_a_decision_was_just_made_the_question_goes_at_once(marked):
    assert wait_ms(cursor(marked), Keystrokes(), CALM, Trigger.AUTOMATIC) == 0


def test_who_asks_by_hand_never_waits():
    assert wait_ms(cursor("x█"), Keystrokes(), Mood(3, least_wait_ms=300), Trigger.INVOKED) == 0


def waits(**mood):
    return wait_ms(cursor("tot█"), Keystrokes(), Mood(**mood), Trigger.AUTOMATIC)


def test_slow_answers_rejections_and_load_make_it_wait_longer_and_acceptance_shorter():
    assert waits() < waits(answer_ms=200) < waits(answer_ms=800)
    assert waits() < waits(num_rejected=1) < waits(num_rejected=2)
    assert waits(has_accepted=True) < waits() < waits(least_wait_ms=300)


@given(st.lists(st.floats(0.001, 3), max_size=30), st.floats(0, 1e5), st.integers(0, 99), st.floats(0, 1000))
def test_the_wait_stays_between_its_bounds(pauses, answer_ms, num_rejected, least_wait_ms):
    keys, now = Keystrokes(), 0.0
    for number, pause in enumerate(pauses):
        now += pause
        keys = pressed(keys, "x" * number, "x" * (number + 1), now)
    mood = Mood(num_rejected, answer_ms=answer_ms, least_wait_ms=least_wait_ms)
    wait = wait_ms(cursor("tot█"), keys, mood, Trigger.AUTOMATIC)
    assert MIN_WAIT_MS <= wait <= max(MAX_WAIT_MS, least_wait_ms)
