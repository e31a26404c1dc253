"""Guesses at what comes next, and that they change nothing but the number of passes."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.backend.engines.draft import Drafter, num_agreeing

PROMPT = [1, 2, 3, 4, 5]


def test_the_expected_text_is_guessed_first_in_growing_pieces():
    drafter = Drafter(PROMPT, range(10, 50))
    first = drafter.propose(99)
    assert first == list(range(10, 18))
    drafter.wrote([*first, 18], len(first), len(first))
    assert drafter.propose(99) == list(range(19, 35))


def test_no_more_is_guessed_than_there_is_room_for():
    assert Drafter(PROMPT, range(10, 50)).propose(2) == [10, 11]
    assert Drafter(PROMPT, range(10, 50)).propose(0) == []


def test_where_the_text_has_left_the_expected_one_and_comes_back_it_is_guessed_again():
    drafter = Drafter(PROMPT, [10, 11, 12, 13, 14, 15, 16])
    drafter.wrote([10, 99], 8, 1)
    assert drafter.propose(9) == []
    drafter.wrote([12, 13, 14], 0, 0)
    assert drafter.propose(9) == [15, 16]


def test_lines_that_begin_alike_do_not_mislead_where_the_text_is_as_expected():
    lines = [1, 2, 3, 50, 1, 2, 3, 60, 1, 2, 3, 70]
    text, num_passes = write(lambda text: lines[len(text) - len(PROMPT)], PROMPT, Drafter(PROMPT, lines), len(lines))
    assert (text, num_passes) == (lines, 2)


def test_what_stood_behind_the_same_tokens_before_is_guessed():
    drafter = Drafter([7, 8, 9, 20, 21, 22, 23, 24, 25, 0, 7, 8, 9])
    assert drafter.propose(3) == [20, 21, 22]


def test_the_last_of_several_places_counts():
    assert Drafter([7, 8, 9, 1, 0, 7, 8, 9, 2, 0, 7, 8, 9]).propose(1) == [2]


def test_after_a_guess_that_was_all_wrong_a_longer_match_is_asked_for():
    drafter = Drafter([5, 7, 8, 9, 20, 6, 7, 8, 9])
    assert drafter.propose(1) == [20]
    drafter.wrote([30, 7, 8, 9], 1, 0)
    assert drafter.propose(1) == []


def test_without_three_tokens_nothing_is_guessed():
    assert Drafter([]).propose(5) == []
    assert Drafter([1, 2]).propose(5) == []


def write(model, prompt, drafter, num_tokens):
    """As an engine does: a pass chooses what follows the text and each token of the draft."""
    text, num_passes = list(prompt), 0
    while (num_left := num_tokens - (len(text) - len(prompt))) > 0:
        drafted = drafter.propose(num_left - 1) if drafter else []
        chosen = [model([*text, *drafted[:i]]) for i in range(len(drafted) + 1)]
        num_accepted = num_agreeing(drafted, chosen)
        new = chosen[: num_accepted + 1]
        if drafter:
            drafter.wrote(new, len(drafted), num_accepted)
        text += new
        num_passes += 1
    return text[len(prompt) :], num_passes


@given(
    st.lists(st.integers(0, 3), max_size=40),
    st.lists(st.integers(0, 3), max_size=40),
    st.integers(1, 40),
    st.integers(0, 1000),
)
def test_whatever_is_guessed_the_model_writes_the_same(prompt, expected, num_tokens, seed):
    def model(text):
        return (sum(text[-4:]) * 7 + len(text) % 3 + seed) % 4

    plain, num_plain = write(model, prompt, None, num_tokens)
    drafted, num_passes = write(model, prompt, Drafter(prompt, expected), num_tokens)
    assert drafted == plain
    assert num_passes <= num_plain


def test_a_text_that_is_as_expected_takes_few_passes():
    def model(text):
        return 10 + len(text) - len(PROMPT)

    text, num_passes = write(model, PROMPT, Drafter(PROMPT, range(10, 60)), 50)
    assert text == list(range(10, 60))
    assert num_passes == 4
