"""Which snippets a prompt carries: the best that fit, and those of the prompt before in their places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.context.snippets import Snippet
from lsp_complete.prompt.snippets import Packed, choose


def snippet(key, size=10, score=1.0, text="x"):
    return Packed(Snippet(key, text * (size - 2 - len(key)), "definitions", "", key), score)


NAMES = st.text("abcdef", min_size=1, max_size=2)
SNIPPETS = st.lists(
    st.builds(snippet, NAMES, st.integers(4, 50), st.floats(0.001, 1), st.sampled_from("xy")),
    unique_by=lambda one: one.key,
    max_size=12,
)


def keys(chosen):
    return [one.key for one in chosen]


@given(SNIPPETS, st.integers(0, 150), st.booleans())
def test_asking_again_changes_nothing(found, num_characters, hold):
    chosen = choose(found, num_characters)
    assert choose(found, num_characters, chosen, hold=hold) == chosen


@given(SNIPPETS, SNIPPETS, st.integers(0, 150), st.integers(0, 150), st.booleans())
def test_the_budget_is_kept_and_each_is_there_once(found, others, num_characters, num_before, hold):
    chosen = choose(found, num_characters, choose(others, num_before), hold=hold)
    assert sum(one.size for one in chosen) <= num_characters
    assert len(set(keys(chosen))) == len(chosen)


@given(SNIPPETS, SNIPPETS, st.integers(0, 150), st.booleans())
def test_those_that_stay_keep_their_order(found, others, num_characters, hold):
    before = choose(others, num_characters)
    chosen = choose(found, num_characters, before, hold=hold)
    staying = [key for key in keys(chosen) if key in keys(before)]
    assert staying == [key for key in keys(before) if key in staying]
    assert keys(chosen)[: len(staying)] == staying


def test_a_little_better_is_not_good_enough_to_take_a_place():
    before = choose([snippet("old")], 10)
    assert keys(choose([snippet("old"), snippet("new", score=1.02)], 10, before)) == ["old"]
    assert keys(choose([snippet("old"), snippet("new", score=1.04)], 10, before)) == ["new"]


def test_held_ones_stay_until_one_of_the_best_is_new():
    before = choose([snippet("a"), snippet("b")], 40)
    ranked = [snippet("a"), snippet("b", score=0.9), snippet("c", score=0.8)]
    assert keys(choose(ranked, 40, before, hold=True)) == ["a", "b"]
    assert keys(choose(ranked, 40, before)) == ["a", "b", "c"]
    ranked[2] = snippet("c", score=1.2)
    assert keys(choose(ranked, 40, before, hold=True)) == ["a", "b", "c"]


def test_the_first_ones_come_in_at_once():
    assert keys(choose([snippet("a"), snippet("b"), snippet("c")], 40, (), hold=True)) == ["a", "b", "c"]


@pytest.mark.parametrize(("score", "text"), [(1.5, "y"), (0.5, "x")])
def test_a_new_text_of_one_of_the_best_replaces_the_old_one(score, text):
    before = choose([snippet("a"), snippet("b"), snippet("c")], 40)
    found = [snippet("a"), snippet("b"), snippet("c", score=score, text="y")]
    assert choose(found, 40, before, hold=True)[2].snippet.text[0] == text


def test_a_doc_line_more_or_less_changes_nothing():
    before = choose([snippet("a", size=10)], 40)
    for size in (8, 20):
        assert choose([snippet("a", size=size)], 40, before, hold=True)[0].snippet == before[0].snippet


def test_what_is_not_found_for_long_is_held_but_not_chosen_again():
    chosen = choose([snippet("a"), snippet("b")], 40)
    for _ in range(10):
        chosen = choose([snippet("b")], 40, chosen, hold=True)
        assert keys(chosen) == ["a", "b"]
    assert keys(choose([snippet("b"), snippet("c", score=2.0)], 40, chosen, hold=True)) == ["b", "c"]


def test_no_line_is_there_twice():
    """The window of what is alike has moved on by a line."""
    windows = [Packed(Snippet("a.py", "\n".join("abcdefgh"[n : n + 5]), "", "", f"{n}"), 1 - n / 10) for n in range(4)]
    assert keys(choose(windows, 100)) == ["0", "3"]
    assert keys(choose(windows[1:], 100, choose(windows[:1], 100))) == ["0", "3"]


def test_held_ones_leave_where_there_is_no_room_any_more():
    before = choose([snippet("a"), snippet("b", score=0.5)], 40)
    assert keys(choose([], 15, before, hold=True)) == ["a"]
