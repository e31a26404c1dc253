"""Accepted text is followed through whatever happens to the document, and its kept share is a number from 0 to 1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.completion.retention import Kept, due, edited, saved, share
from lsp_complete.context.edits import edit_between
from lsp_complete.protocol.events import After, Hex, Retained
from lsp_complete.text.document import Document
from tests.completion.played_editor import Asked, Changed, Closed, Message, Saved, Waited, play

TEXT = st.text(st.sampled_from("ab \n😀"), max_size=12)


def after(kept, before, text):
    return edited(kept, before, text, edit_between(before, text))


def kept_in(text, accepted):
    start = text.index(accepted)
    return Kept(Hex("aa"), accepted, start, start + len(accepted), 0.0)


def check(before, accepted, text, left):
    """Of `accepted` in `before` there is `left` in `text`."""
    now = after(kept_in(before, accepted), before, text)
    assert text[now.start : now.end] == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("import a\nx = price + tax\ny\n", "price + tax"),
        ("x = price + tax\nz\n", "price + tax"),
        ("x = price + tax * 2\ny\n", "price + tax"),
        ("x = (price + tax\ny\n", "price + tax"),
        ("x = price + fee\ny\n", "price + fee"),
        ("x = price\ny\n", "price"),
        ("x = tax\ny\n", "tax"),
        ("x = \ny\n", ""),
        ("y\n", ""),
    ],
)
def test_edits_before_shift_it_edits_inside_change_it_deletions_shrink_it(text, left):
    check("x = price + tax\ny\n", "price + tax", text, left)


def test_a_formatter_that_rewrites_around_it_leaves_it_its_place():
    check("x=[1,2]\ny = price+tax\nz=[3]\n", "price+tax", "x = [1, 2]\ny = price + tax\nz = [3]\n", "price + tax")


def test_lines_with_the_same_indentation_are_told_apart():
    check("    a()\n    b()\n    c()\n", "    b()\n", "    a()\n    c()\n", "")


@given(TEXT, TEXT, TEXT, TEXT)
def test_what_is_written_elsewhere_changes_nothing(before, accepted, behind, written):
    old = f"{before}|{accepted}|{behind}"
    place = Kept(Hex("aa"), accepted, len(before) + 1, len(before) + 1 + len(accepted), 0.0)
    for text in (f"{written}{before}|{accepted}|{behind}", f"{before}|{accepted}|{behind}{written}"):
        now = after(place, old, text)
        assert text[now.start : now.end] == accepted
        assert share(now, Document("", text)) == 1.0


@given(TEXT, st.lists(TEXT, min_size=1, max_size=5), st.data())
def test_any_edits_leave_a_place_within_the_document_and_a_share_between_0_and_1(first, texts, data):
    start = data.draw(st.integers(0, len(first)))
    end = data.draw(st.integers(start, len(first)))
    kept, before = Kept(Hex("aa"), first[start:end], start, end, 0.0), first
    for text in texts:
        kept, before = after(kept, before, text), text
        assert 0 <= kept.start <= kept.end <= len(text)
        assert 0.0 <= share(kept, Document("", text)) <= 1.0


@given(TEXT, TEXT.filter(bool), TEXT)
def test_deletion_of_all_leaves_nothing(before, accepted, behind):
    text = f"{before}|{accepted}|{behind}"
    kept = Kept(Hex("aa"), accepted, len(before) + 1, len(before) + 1 + len(accepted), 0.0)
    now = after(kept, text, f"{before}||{behind}")
    assert share(now, Document("", f"{before}||{behind}")) == 0.0


def test_it_is_looked_at_again_and_again_and_then_forgotten():
    document = Document("", "price + tax")
    kept, told = kept_in(document.text, "price"), []
    for now_s in range(0, 700, 5):
        kept, new = due(kept, document, float(now_s))
        told += [(now_s, event.after, event.share) for event in new]
    checks = [(15, After.S15), (30, After.S30), (120, After.S120), (300, After.S300), (600, After.S600)]
    assert told == [(at_s, check, 1.0) for at_s, check in checks]
    assert kept.is_over


def test_the_first_save_is_told_of_alone():
    document = Document("", "price + fee")
    kept, first = saved(kept_in("price + tax", "price + tax"), document)
    assert [event.after for event in first] == [After.SAVE]
    assert saved(kept, document)[1] == []
    assert 0.7 < first[0].share < 0.8


def test_a_session_tells_what_is_left_of_what_was_accepted():
    trace: list[tuple[float, Message]] = [
        (1.0, Asked(4, "price + tax", "aa")),
        (2.0, Changed("x = price + tax\n")),
        (9.0, Changed("x = price + fee\n")),
        (20.0, Waited()),
        (21.0, Saved()),
        (22.0, Closed()),
    ]
    told = [(e.after, e.share) for e in play("x = \n", trace) if isinstance(e, Retained)]
    assert told == [(After.S15, 0.727), (After.SAVE, 0.727), (After.CLOSE, 0.727)]
