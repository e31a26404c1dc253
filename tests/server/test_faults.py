"""Reports of other tools' users, played to the language server: stale answers, several cursors, when it is asked.

`Buffer` is what the editor has; the service answers its n-th question with the n-th text, and each further one with
nothing.
"""

import asyncio
from itertools import chain, repeat

import pytest

from lsp_complete.protocol.events import Shown
from lsp_complete.telemetry.store import FILE, EventStore
from tests.server.editor import Buffer, items, started

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def answers(service):
    """Sets what the service answers; `is_held`: not before `let_go`."""

    def set_texts(*texts, is_held=False):
        left = chain(texts, repeat(""))
        service.engine.text = lambda job: next(left)
        service.engine.gate = asyncio.Semaphore(0) if is_held else None

    return set_texts


def let_go(service):
    gate, service.engine.gate = service.engine.gate, None
    for _ in range(100):
        gate.release()


async def held(service, num=1):
    await service.until(lambda: len(service.engine.jobs) == num and service.engine.num_open)


async def last_reason(editor):
    records = await editor.ask("lsp-complete/explain", {"last": 1})
    return records[-1]["reason"] if records else None


async def asked_by_itself(buffer, **context):
    """The suggestion of an automatic question, or the reason for none."""
    found = await buffer.complete(automatic=True, **context)
    return found[0]["insertText"] if found else await last_reason(buffer.editor)


# Stale answers.


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        (["    "], ["x = compute()"]),
        (["  "], ["  x = compute()"]),
        (["        "], []),
        (["    ", "  "], ["  x = compute()"]),
        (["\t"], []),
    ],
)
async def test_indentation_typed_while_the_answer_is_under_way_is_not_given_twice(
    editor, service, answers, typed, left
):
    """B12."""
    answers("    x = compute()", is_held=True)
    buffer = Buffer(editor, "def f():\n█\nf()\n")
    older = buffer.complete_later(automatic=True)
    await held(service)
    for text in typed:
        buffer.become(f"def f():\n{text}█\nf()\n")
    editor.notify("$/cancelRequest", {"id": older})
    newer = buffer.complete_later()
    let_go(service)
    assert [item["insertText"] for item in items(await editor.answer(newer))] == left


@pytest.mark.parametrize(
    ("edits", "text"),
    [
        ([(21, 21, "o"), (10, 10, "o")], "val_a = foo\nval_b = foo\n"),
        ([(10, 10, "o"), (22, 22, "o")], "val_a = foo\nval_b = foo\n"),
        ([(10, 10, "o"), (0, 0, "o")], "oval_a = foo\nval_b = fo\n"),
    ],
)
async def test_with_several_cursors_nothing_is_shown_unasked_and_what_was_shown_is_gone(
    editor, service, answers, edits, text
):
    """B13."""
    answers("o(1)", "(2)")
    buffer = Buffer(editor, "val_a = fo█\nval_b = fo\n")
    assert await asked_by_itself(buffer) == "o(1)"
    buffer.change(edits)
    buffer.offset = text.index("foo") + 3
    assert buffer.text == text
    assert await asked_by_itself(buffer) == "many-cursors"
    (item,) = await buffer.complete()
    assert (item["insertText"], item["range"]) == ("(2)", buffer.range(buffer.offset, buffer.offset))
    assert service.prompt.endswith(text[: buffer.offset])


async def test_an_answer_for_a_place_that_the_cursor_has_left_is_not_given(editor, service, answers):
    answers("1", "2", is_held=True)
    buffer = Buffer(editor, "x = █\ny = \n")
    older = buffer.complete_later(automatic=True)
    await held(service)
    buffer.offset = len("x = \ny = ")
    newer = buffer.complete_later(automatic=True)
    await service.until(lambda: len(service.engine.jobs) == 2)
    let_go(service)
    assert items(await editor.answer(older)) == []
    assert items(await editor.answer(newer))[0]["range"] == buffer.range(buffer.offset, buffer.offset)


async def test_an_answer_that_what_was_typed_contradicts_is_neither_given_nor_counted(service, answers, tmp_path):
    answers("value", is_held=True)
    async with started(tmp_path) as editor:
        await editor.initialize({**service.options, "telemetry": "local"})
        buffer = Buffer(editor, "x = █\n")
        asked = buffer.complete_later(automatic=True)
        await held(service)
        buffer.type("n")
        await last_reason(editor)  # by now it knows
        let_go(service)
        assert items(await editor.answer(asked)) == []
        assert await editor.exit() == 0
    with EventStore(tmp_path / "state" / FILE) as store:
        assert [record for record in store.since(0) if isinstance(record.event, Shown)] == []


@pytest.mark.parametrize("second", ["a, b", "a, b)", "a, b);"])
async def test_what_a_formatter_adds_is_not_there_twice(editor, answers, second):
    answers("a, b);", second)
    buffer = Buffer(editor, "f(█)\n")
    assert await buffer.text_with_suggestion(automatic=True) == "f(a, b);\n"
    buffer.become("f(█);\n")
    assert await buffer.text_with_suggestion(automatic=True) == "f(a, b);\n"


async def test_what_a_formatter_adds_before_the_answer_comes_is_not_there_twice(editor, service, answers):
    answers(" + 1;", is_held=True)
    buffer = Buffer(editor, "x = f()█\n")
    asked = buffer.complete_later(automatic=True)
    await held(service)
    buffer.become("x = f()█;\n")
    editor.notify("$/cancelRequest", {"id": asked})
    newer = buffer.complete_later()
    let_go(service)
    found = items(await editor.answer(newer))
    assert {buffer.text_with(item) for item in found} <= {"x = f() + 1;\n"}


async def test_what_was_accepted_is_not_offered_again_below_itself(editor, answers):
    answers("print(total)", "print(total)")
    buffer = Buffer(editor, "total = 1\n█\n")
    assert await asked_by_itself(buffer) == "print(total)"
    buffer.become("total = 1\nprint(total)\n█\n")
    assert await asked_by_itself(buffer) == "withheld"


# When it asks.


async def test_what_is_deleted_brings_nothing_back_until_something_is_typed(editor, service, answers):
    """B16."""
    answers("eturn total", "oops", "eturn other", is_held=True)
    buffer = Buffer(editor, "def f():\n    █\n")
    buffer.type("r")
    older = buffer.complete_later(automatic=True)
    await held(service)
    buffer.become("def f():\n    █\n")
    editor.notify("$/cancelRequest", {"id": older})
    assert await asked_by_itself(buffer) == "after-deletion"
    let_go(service)
    (item,) = await buffer.complete()
    assert item["insertText"] == "oops"
    buffer.type("r")
    assert await asked_by_itself(buffer) == "eturn other"


async def test_undo_and_redo_bring_nothing_back_until_something_is_typed(editor, service, answers):
    """B16."""
    answers("1", "2", "3")
    whole, without = "total = 0\nlimit = 9\nx = █\n", "total = 0\nx = █\n"
    buffer = Buffer(editor, whole)
    buffer.become(without)
    assert await asked_by_itself(buffer) == "after-deletion"
    buffer.become(whole)
    assert await asked_by_itself(buffer) == "after-undo"
    buffer.become(without)
    assert await asked_by_itself(buffer) == "after-undo"
    assert not service.engine.jobs
    buffer.type("y")
    assert await asked_by_itself(buffer) == "1"


async def test_an_acceptance_that_is_undone_is_not_offered_at_once(editor, service, answers):
    """B16."""
    answers("price + tax")
    buffer = Buffer(editor, "total = █\n")
    assert await asked_by_itself(buffer) == "price + tax"
    buffer.type("price + tax")
    buffer.become("total = █\n")
    assert await asked_by_itself(buffer) == "after-undo"
    buffer.type("p")
    assert await asked_by_itself(buffer) == "rice + tax"
    assert len(service.engine.jobs) == 1


async def test_a_choice_in_the_pop_up_that_the_text_contradicts_is_not_asked_about(editor, service, answers):
    """B17."""
    answers("()")
    buffer = Buffer(editor, "logger.wx█\n")
    chosen = {"range": buffer.range(7, 9), "text": "warning"}
    assert await asked_by_itself(buffer, selectedCompletionInfo=chosen) == "other-choice"
    chosen = {"range": buffer.range(0, 6), "text": "logger"}
    assert await asked_by_itself(buffer, selectedCompletionInfo=chosen) == "other-choice"
    assert not service.engine.jobs
    buffer.become("logger.wn█\n")
    chosen = {"range": buffer.range(7, 9), "text": "Warning"}
    assert await asked_by_itself(buffer, selectedCompletionInfo=chosen) == "Warning()"


@pytest.mark.parametrize("marked", ["f(█)\n", 'x = "█"\n', "x = [█]\n", "x = {█}\n", "x = f(a[█])\n"])
async def test_before_a_closing_bracket_or_quote_it_asks(editor, answers, marked):
    answers("abc")
    assert await asked_by_itself(Buffer(editor, marked)) == "abc"


async def test_within_a_word_it_asks_by_hand_alone_and_what_is_shown_goes_on(editor, service, answers):
    answers("mmed", "a, b, ")
    buffer = Buffer(editor, "x = tri█d\n")
    assert await asked_by_itself(buffer) == "mid-word"
    assert service.engine.jobs == []
    assert await buffer.complete()
    buffer = Buffer(editor, "f(█total)\n")
    assert await asked_by_itself(buffer) == "a, b, "
    buffer.type("a")
    assert await asked_by_itself(buffer) == ", b, "


async def test_accepting_word_by_word_asks_nobody(editor, service, answers):
    buffer = Buffer(editor, "x = first(█\n")
    answers("second.third + 1)")
    assert await asked_by_itself(buffer) == "second.third + 1)"
    for word, left in (("second", ".third + 1)"), (".third", " + 1)"), (" +", " 1)"), (" 1", ")")):
        buffer.type(word)
        assert await asked_by_itself(buffer) == left
    assert len(service.engine.jobs) == 1
