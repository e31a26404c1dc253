"""Which snippets a prompt carries: the best that fit, and those of the prompt before in their places."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.prompt.snippets import Candidate, choose

CANDIDATES = st.lists(
    st.builds(Candidate, st.text("abcdef", min_size=1, max_size=2), st.integers(0, 50), st.floats(0.001, 1)),
    unique_by=lambda one: one.key,
    max_size=12,
)


def keys(chosen):
    return [one.key for one in chosen]


@given(CANDIDATES, st.integers(0, 150))
def test_the_budget_is_kept_and_asking_again_changes_nothing(candidates, budget):
    chosen = choose(candidates, budget)
    assert sum(one.size for one in chosen) <= budget
    assert keys(choose(candidates, budget, keys(chosen))) == keys(chosen)


def test_a_little_better_is_not_good_enough_to_move_what_is_there():
    old, new = Candidate("old", 10, 1.0), Candidate("new", 10, 1.3)
    assert keys(choose([old, new], 10, ["old"])) == ["old"]
    assert keys(choose([old, Candidate("new", 10, 1.6)], 10, ["old"])) == ["new"]


def test_new_ones_go_behind_those_that_stay():
    candidates = [Candidate("a", 1, 0.1), Candidate("b", 1, 0.2), Candidate("c", 1, 0.9)]
    assert keys(choose(candidates, 3, ["b", "a"])) == ["b", "a", "c"]
