"""A suggestion is used again where the document still goes towards it, and nowhere else."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lsp_complete.completion.postprocess import Insertion, accept
from lsp_complete.completion.reuse import Recent, remaining, suggestion_at
from lsp_complete.protocol.events import Rung
from lsp_complete.text.document import Document
from tests.completion.cursor_case import at

FAR = "\n".join(f"line_{number} = {number}" for number in range(9)) + "\n"


def check(marked, insertion, later, left):
    """An insertion at the first cursor, asked for again at the second, has `left` to say (None: nothing)."""
    document, offset = at(marked)
    suggestion = suggestion_at(document, offset, insertion)
    assert remaining(suggestion, *at(later)) == left


@pytest.mark.parametrize(
    ("later", "left"),
    [
        ("total = █\n", "price + tax"),
        ("total = pri█\n", "ce + tax"),
        ("total = price + tax█\n", None),
        ("total = prise█\n", None),
        ("total = price + tax * 2█\n", None),
        ("tot█\n", "al = price + tax"),
        ("sum = █\n", None),
        ("total = █ + 1\n", None),
        ("# more\ntotal = █\n", None),
    ],
)
def test_typing_it_leaves_the_rest_and_typing_anything_else_leaves_nothing(later, left):
    check("total = █\n", Insertion("price + tax"), later, Insertion(left) if left else None)


def test_brackets_that_the_editor_closes_are_counted_once():
    check("total = █\n", Insertion("sum(prices[0])"), "total = sum(█)\n", Insertion("prices[0]"))
    check("total = █\n", Insertion("sum(prices[0])"), "total = sum(prices[█])\n", Insertion("0"))
    check("total = █\n", Insertion("sum(a), b"), "total = sum(█)\n", Insertion("a), b", 1))
    check("total = █\n", Insertion("sum()"), "total = sum(█)\n", None)


def test_a_bracket_of_the_editor_is_not_lost_to_a_text_that_closes_another_one():
    check("f█\n", Insertion("(t, g(a), b;"), "f(█)\n", Insertion("t, g(a), b;"))
    check("f█\n", Insertion("(t, g(a) + b)"), "f(t, g(█))\n", Insertion("a) + b", 1))
    check("f█\n", Insertion("([a), b"), "f([█])\n", Insertion("a), b"))
    check("f█\n", Insertion('("a)") {'), 'f("█")\n', Insertion('a)") {', 2))
    check('"█"\n', Insertion('a": { "b": [', 1), '"a": { "█"}\n', Insertion('b": [', 1))
    check("f█\n", Insertion('("a)b", {'), 'f("█")\n', Insertion('a)b", {', 1))
    check("f█\n", Insertion("(t, g(a), b) + 1"), "f(█)\n", Insertion("t, g(a), b) + 1", 1))


def test_what_the_insertion_replaces_is_still_replaced():
    check("f(█)\n", Insertion("a, b)", 1), "f(a, █)\n", Insertion("b"))
    check("f(█);\n", Insertion("a);;", 2), "f(a█);\n", Insertion(");", 1))
    check("█abcd  \n", Insertion("abcdef", 6), "a█bcd  \n", Insertion("bcdef", 5))


def test_only_what_is_deleted_on_the_same_line_comes_back():
    document, offset = at("a = 1\nb = 2\n█\n")
    suggestion = suggestion_at(document, offset, Insertion("c = 3"))
    assert remaining(suggestion, *at("a = 1\nb = █\n\n")) is None


@pytest.mark.parametrize(
    ("typed", "left"), [("    ", "x = compute()"), ("  ", "  x = compute()"), (" " * 8, None), ("\t", None)]
)
def test_indentation_typed_while_the_answer_was_under_way_is_not_given_twice(typed, left):
    """B12."""
    later = f"def f():\n{typed}█\nf()\n"
    check("def f():\n█\nf()\n", Insertion("    x = compute()"), later, Insertion(left) if left else None)


@pytest.mark.parametrize("later", ["val_a = fo█\nval_b = foo\n", "val_a = foo█\nval_b = foo\n"])
def test_a_second_cursor_nearby_ends_it(later):
    """B13."""
    document, offset = at("val_a = fo█\nval_b = fo\n")
    assert remaining(suggestion_at(document, offset, Insertion("o()")), *at(later)) is None


def test_a_change_far_below_does_not_touch_it_and_one_close_by_ends_it():
    below = "\n\n\n\n" + FAR
    check("x = █" + below, Insertion("1"), "x = █" + below + "more\n", Insertion("1"))
    check("x = █\ny = 2\n" + below, Insertion("1"), "x = █\ny = 3\n" + below, None)
    check("x = █", Insertion("1"), "x = █y", None)


def accepted(document, offset, left, typed):
    """The document with what is left, but for brackets right behind it that the editor has put there for typed ones."""
    whole, end = accept(document, offset, left), offset + len(left.text)
    kept = len(whole[end:]) - len(whole[end:].lstrip(")"))
    return [whole[:end] + whole[end + num :] for num in range(min(kept, typed.count("(")) + 1)]


TEXT = st.text("ab( )\n\U0001f600", max_size=12)


@given(TEXT, TEXT, TEXT, st.integers(0, 3), st.integers(-3, 12), st.text("() ab", max_size=2))
def test_accepting_what_is_reused_gives_what_accepting_the_suggestion_gives(
    before, after, text, num_replaced, num_typed, closed
):
    """Whatever was typed of it, deleted below it, or closed by the editor: `closed` stands right of the cursor."""
    document = Document("file:///a.py", before + after)
    offset = len(before)
    insertion = Insertion(text, min(num_replaced, len(document.after_on_line(offset))))
    whole = accept(document, offset, insertion)
    end = offset + num_typed
    assume(0 <= end <= offset + len(text))
    later = Document("file:///a.py", whole[:end] + closed + after)
    left = remaining(suggestion_at(document, offset, insertion), later, end)
    if left is not None:
        assert left.text
        assert whole in accepted(later, end, left, whole[offset:end])
    elif not closed and num_typed >= 0 and not insertion.num_replaced and num_typed < len(text):
        raise AssertionError("typed through, and nothing is left")


@given(TEXT, TEXT, TEXT, TEXT, TEXT)
def test_in_any_other_document_it_fits_or_is_dropped(before, after, text, other_before, other_after):
    document = Document("file:///a.py", before + after)
    suggestion = suggestion_at(document, len(before), Insertion(text))
    other = Document("file:///a.py", other_before + other_after)
    left = remaining(suggestion, other, len(other_before))
    if left is not None:
        assert before + text + after in accepted(other, len(other_before), left, text)


def test_the_newest_that_fits_is_found_and_the_rung_says_how():
    recent = Recent()
    document, offset = at("a = █\n")
    recent.add(document.uri, suggestion_at(document, offset, Insertion("one")))
    recent.add(document.uri, suggestion_at(document, offset, Insertion("two")))
    found = [recent.find(*at(later)) for later in ("a = █\n", "a = t█\n", "a█\n", "a = o█\n", "a = x█\n")]
    assert [(one.rung, one.insertion.text) if one else None for one in found] == [
        (Rung.TYPED_THROUGH, "two"),
        (Rung.TYPED_THROUGH, "wo"),
        (Rung.BACKSPACED, " = two"),
        (Rung.CACHED, "ne"),
        None,
    ]
    recent.forget(document.uri)
    assert recent.find(document, offset) is None


def test_what_is_shown_stays_while_it_fits_whatever_was_asked_since():
    recent = Recent()
    document, offset = at("a = █\n")
    shown = suggestion_at(document, offset, Insertion("one"))
    recent.add(document.uri, shown)
    recent.give(document.uri, shown)
    recent.add(document.uri, suggestion_at(document, offset, Insertion("one\nb = two")))
    found = [recent.find(*at(later)) for later in ("a = █\n", "a = on█\n", "a = one█\n")]
    assert [(one.rung, one.insertion.text) for one in found if one] == [
        (Rung.TYPED_THROUGH, "one"),
        (Rung.TYPED_THROUGH, "e"),
        (Rung.CACHED, "\nb = two"),
    ]
