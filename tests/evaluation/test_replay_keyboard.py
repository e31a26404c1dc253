"""What an editor makes of the keys that write a given text. The cursor stands as `█`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.evaluation.replay import keyboard
from lsp_complete.evaluation.replay.keyboard import Piece, Stroke, Writing
from lsp_complete.evaluation.replay.typist import Moment

# Shorter than any code that is written here.
_MAX_KEYS = 2000


def written(goal: str, head: str = "", tail: str = "", unit: str = "    ") -> list[str]:
    """The buffer after each key."""
    writing, seen = Writing(head, goal, tail), list[str]()
    while not writing.is_done:
        writing = keyboard.pressed(writing, keyboard.next_stroke(writing, unit))
        assert writing.text.startswith(head)
        assert writing.text.endswith(tail)
        seen.append(writing.text[: writing.cursor] + "█" + writing.text[writing.cursor :])
        assert len(seen) < _MAX_KEYS, "it does not come to an end"
    return seen


def test_brackets_are_closed_and_typed_over() -> None:
    assert written("f(x)") == ["f█", "f(█)", "f(x█)", "f(x)█"]


def test_a_bracket_before_a_word_is_not_closed() -> None:
    assert written("(x)", tail="y")[0] == "(█y"


def test_quotes_are_closed_but_not_behind_a_word() -> None:
    assert written("'a'")[0] == "'█'"
    assert written("a'b'")[1] == "a'█"


def test_enter_between_braces_opens_a_line_and_indents_it() -> None:
    goal = "if (a) {\n    b;\n}"
    steps = written(goal)
    assert "if (a) {\n    █\n}" in steps
    assert steps[-1] == f"{goal}█"


def test_a_line_is_indented_as_the_one_above_and_dedented_by_backspace() -> None:
    steps = written("\nreturn\nx", head="    a")
    assert steps[0] == "    a\n    █"
    assert steps[1] == "    a\n█"


def test_an_empty_line_loses_its_indentation() -> None:
    assert "if a:\n\n    █" in written("\n\n    b", head="if a:")


def test_indentation_is_typed_by_the_step() -> None:
    assert written("\n        b", head="a")[1:3] == ["a\n    █", "a\n        █"]


@pytest.mark.parametrize(
    ("left", "moment"),
    [("a", Moment.LETTER), ("a ", Moment.WORD), ("ab", Moment.SIGN), ("ab(\n", Moment.BLOCK), ("b\n", Moment.LINE_END)],
)
def test_the_moment_before_a_key_is_told(left: str, moment: Moment) -> None:
    key = "(" if moment is Moment.SIGN else "x"
    assert keyboard.moment(Writing("", left + key, "", left)) is moment


def test_a_slip_is_taken_back() -> None:
    writing = Writing("", "name", "", "nqm")
    assert keyboard.next_stroke(writing, "    ") == Stroke("", num_left=1)


def test_an_accepted_text_swallows_what_the_editor_has_closed() -> None:
    writing = Writing("f(", "x) + g()\n", "", "", (Piece(1, ")"),))
    assert keyboard.accepted(writing, "x) + ").text == "f(x) + "
    assert keyboard.accepted(writing, "x").text == "f(x)"


def test_what_the_editor_has_closed_may_close_a_later_opener() -> None:
    meant = keyboard.accepted(Writing("", "f('a', 'b')", "", "f('", (Piece(4, "'"), Piece(10, ")"))), "a', 'b")
    assert meant.text == "f('a', 'b)"
    stands = keyboard.reclosed(meant, "')")
    assert stands is not None
    assert (stands.text, stands.pieces) == ("f('a', 'b')", (Piece(9, "'"), Piece(10, ")")))


def test_what_the_editor_has_closed_may_close_what_is_above() -> None:
    meant = keyboard.accepted(Writing("f(", "g(a), b)", "", "g(", (Piece(3, ")"),)), "a), b")
    stands = keyboard.reclosed(meant, ")")
    assert stands is not None
    assert stands.pieces == (Piece(7, ")"),)


def test_a_closer_may_stand_on_its_own_line() -> None:
    meant = Writing("", 'f({\n  "a"\n})', "", 'f({\n  "a', (Piece(9, "\n}"), Piece(11, ")")))
    stands = keyboard.reclosed(meant, '"\n})')
    assert stands is not None
    assert stands.pieces == (Piece(8, '"'), *meant.pieces)


def test_what_the_editor_has_closed_may_close_what_the_text_below_closes() -> None:
    meant = Writing("", "f(a).g(", "\n)", "f(a).g(")
    stands = keyboard.reclosed(meant, ")")
    assert stands is not None
    assert keyboard.next_stroke(stands, "  ") == Stroke("", num_right=1)


@pytest.mark.parametrize("right", ["", "))", "')')", "x"])
def test_what_closes_nothing_or_is_missing_is_not_meant(right: str) -> None:
    meant = Writing("", "f('a', 'b')", "", "f('a', 'b", (Piece(10, ")"),))
    assert keyboard.reclosed(meant, right) is None


def test_a_line_end_and_its_indentation_are_one_key() -> None:
    assert keyboard.num_keys("a(\n    b)") == 5


code = st.text(alphabet="ab (){}[]\"'\n:;", max_size=60)


@given(
    goal=code,
    head=st.sampled_from(["", "x = ", "    ", "def f():", "{\n\t"]),
    tail=st.sampled_from(["", "\n", "\n}\n", " y"]),
)
def test_any_text_is_written_at_last(goal: str, head: str, tail: str) -> None:
    for unit in ("    ", "\t"):
        steps = written(goal, head, tail, unit)
        assert not steps or steps[-1].replace("█", "") == head + goal + tail


@given(goal=code, num=st.integers(0, 30), length=st.integers(0, 30))
def test_what_is_meant_by_an_acceptance_leads_to_the_goal(goal: str, num: int, length: int) -> None:
    writing = Writing("", goal, "\nend")
    for _ in range(num):
        if writing.is_done:
            return
        writing = keyboard.pressed(writing, keyboard.next_stroke(writing, "  "))
    if writing.is_clean:
        meant = keyboard.accepted(writing, writing.goal[len(writing.left) :][:length])
        assert meant.is_clean
        assert all(piece.at >= len(meant.left) for piece in meant.pieces)
