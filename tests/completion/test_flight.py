"""An answer under way while the user types on: waited for, left, or given up; and moments in which none is asked."""

import asyncio
from typing import Any

import pytest

from lsp_complete.completion import flight
from lsp_complete.completion.answer import NoSuggestion
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import Finish, FinishChunk, TextChunk, Trigger, Usage
from lsp_complete.protocol.events import Cancelled, Requested, Rung, Stage, Suppressed
from lsp_complete.text.document import Document
from tests.completion.cursor_case import at


class SteppingCompleter:
    """Answers the n-th question with the n-th text, a letter each time it is let go on; notes those that are open."""

    def __init__(self, *texts):
        self.texts = texts
        self.requests = []
        self.num_open = 0
        self.steps = asyncio.Semaphore(0)

    async def complete(self, request):
        text = self.texts[len(self.requests)]
        self.requests.append(request)
        self.num_open += 1
        try:
            for letter in text:
                await self.steps.acquire()
                yield TextChunk(letter)
            yield FinishChunk(Finish.STOP, "m", Usage(9, 1, len(text)))
        finally:
            self.num_open -= 1

    def go_on(self, num_letters=100):
        for _ in range(num_letters):
            self.steps.release()


class Typist:
    """Types into one document, and asks."""

    def __init__(self, completer, marked="x = █\n", **settings):
        self.events: list[Any] = []
        self.document, self.offset = at(marked)
        self.pipeline = Pipeline(completer, Settings(debounce_ms=0, **settings), "s1", tell=self.events.append)

    def become(self, marked):
        before = self.document
        self.document, self.offset = at(marked)
        self.pipeline.changed(before, self.document)

    def ask(self, trigger=Trigger.AUTOMATIC):
        return asyncio.create_task(self.pipeline.suggest(self.document, self.offset, trigger))

    async def ask_and_wait(self, trigger=Trigger.AUTOMATIC):
        return await self.ask(trigger)


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


async def started(completer):
    await settle()
    assert completer.num_open == 1


async def test_the_next_question_waits_for_an_answer_that_agrees():
    completer = SteppingCompleter("value")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    completer.go_on(1)
    await settle()
    typist.become("x = va█\n")
    older.cancel()
    newer = typist.ask()
    completer.go_on()
    answer = await newer
    assert (answer.insertion.text, answer.rung, len(completer.requests)) == ("lue", Rung.IN_FLIGHT, 1)
    assert answer.usage.completion_tokens == 5  # nobody else was told of them


async def test_what_was_typed_closes_a_stream_that_says_something_else():
    completer = SteppingCompleter("value", "nothing")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    completer.go_on(1)
    await settle()
    typist.become("x = n█\n")
    await settle()
    assert completer.num_open == 0
    assert (await older).reason is NoSuggestion.SUPERSEDED
    assert len(completer.requests) == 1


async def test_the_first_letter_that_disagrees_closes_the_stream_and_the_question_is_asked_anew():
    completer = SteppingCompleter("value", "othing")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    typist.become("x = n█\n")
    older.cancel()
    newer = typist.ask()
    await settle()
    assert len(completer.requests) == 1
    completer.go_on()
    answer = await newer
    assert (answer.insertion.text, answer.rung, len(completer.requests)) == ("othing", Rung.NETWORK, 2)


async def test_nobody_works_for_a_question_that_is_cancelled_and_not_asked_again(monkeypatch):
    monkeypatch.setattr(flight, "GRACE_S", 0)
    completer = SteppingCompleter("value")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    typist.become("x = v█\n")
    older.cancel()
    await settle()
    assert completer.num_open == 0
    assert [type(one) for one in typist.events] == [Requested, Cancelled]
    assert typist.events[1].stage is Stage.WAITING


async def neovim(completer):
    """A typist in an editor that cancels with the key and tells of it later, for as often as it takes to learn that."""
    typist = Typist(completer)
    for number in range(2):
        asked = typist.ask()
        await started(completer)
        asked.cancel()
        await settle()
        assert completer.num_open == 0
        typist.become(f"x = {'abc'[: number + 1]}█\n")
    assert [len(typist.document.text), len(completer.requests)] == [7, 2]
    return typist


async def test_an_editor_that_cancels_before_it_tells_of_the_key_is_waited_for():
    completer = SteppingCompleter("a1", "b1", "cde")
    typist = await neovim(completer)
    older = typist.ask()
    await started(completer)
    completer.go_on(1)
    older.cancel()
    await settle()
    typist.become("x = abc█\n")
    await settle()
    newer = typist.ask()
    completer.go_on()
    answer = await newer
    assert (answer.insertion.text, answer.rung, len(completer.requests)) == ("de", Rung.IN_FLIGHT, 3)


async def elsewhere(typist):
    asked = asyncio.create_task(typist.pipeline.suggest(Document("file:///b.py", "y"), 1, Trigger.AUTOMATIC))
    await settle()
    return asked


async def moved(typist):
    asked = asyncio.create_task(typist.pipeline.suggest(typist.document, 0, Trigger.AUTOMATIC))
    await settle()
    return asked


async def closed(typist):
    typist.pipeline.forget(typist.document.uri)


async def typed_something_else(typist):
    typist.become("x = abx█\n")


@pytest.mark.parametrize("then", [elsewhere, moved, closed, typed_something_else])
async def test_where_it_was_meant_the_stream_is_closed_at_once(then):
    completer = SteppingCompleter("a1", "b1", "cde", "y")
    typist = await neovim(completer)
    asked = typist.ask()
    await started(completer)
    completer.go_on(1)
    asked.cancel()
    await settle()
    assert completer.num_open == 1
    newer = await then(typist)
    await settle()
    assert completer.num_open == (newer is not None)
    if newer:
        newer.cancel()


async def test_where_nothing_follows_the_stream_is_closed_soon(monkeypatch):
    monkeypatch.setattr(flight, "TOLD_S", 0.001)
    completer = SteppingCompleter("a1", "b1", "cde")
    typist = await neovim(completer)
    asked = typist.ask()
    await started(completer)
    asked.cancel()
    async with asyncio.timeout(9):
        while completer.num_open:
            await asyncio.sleep(0)


async def test_each_key_that_agrees_prolongs_the_wait(monkeypatch):
    completer = SteppingCompleter("value")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    typist.become("x = v█\n")
    older.cancel()
    await settle()
    monkeypatch.setattr(flight, "GRACE_S", 0)
    typist.become("x = va█\n")
    await settle()
    assert completer.num_open == 0


async def test_to_move_the_cursor_is_not_to_type_what_stands_there():
    completer = SteppingCompleter("1", "2")
    typist = Typist(completer, "x = █\ny = \n")
    older = typist.ask()
    await started(completer)
    typist.document, typist.offset = at("x = \ny = █\n")
    newer = typist.ask()
    await settle()
    assert (await older).reason is NoSuggestion.SUPERSEDED
    completer.go_on()
    assert (await newer).insertion.text == "2"


async def test_a_bracket_that_is_typed_over_does_not_close_the_stream():
    completer = SteppingCompleter("a) + 1")
    typist = Typist(completer, "f(█)\n")
    older = typist.ask()
    await started(completer)
    typist.become("f(a█)\n")
    typist.document, typist.offset = at("f(a)█\n")
    older.cancel()
    newer = typist.ask()
    completer.go_on()
    assert (await newer).insertion.text == " + 1"


async def test_closing_the_document_closes_the_stream():
    completer = SteppingCompleter("value")
    typist = Typist(completer)
    asked = typist.ask()
    await started(completer)
    typist.pipeline.forget(typist.document.uri)
    assert (await asked).reason is NoSuggestion.SUPERSEDED
    assert completer.num_open == 0


async def test_an_answer_that_is_typed_through_before_it_comes_leads_to_the_next_question():
    completer = SteppingCompleter("value", " + 1")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    typist.become("x = value█\n")
    older.cancel()
    newer = typist.ask()
    completer.go_on()
    answer = await newer
    assert (answer.insertion.text, len(completer.requests)) == (" + 1", 2)


@pytest.mark.parametrize("is_cancelled_first", [True, False])
async def test_the_same_question_put_again_is_answered(is_cancelled_first):
    completer = SteppingCompleter("value", "value")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    newer = typist.ask(Trigger.INVOKED) if not is_cancelled_first else None
    older.cancel()
    newer = newer or typist.ask(Trigger.INVOKED)
    await settle()
    completer.go_on()
    assert (await newer).insertion.text == "value"
    assert len(completer.requests) == (2 if is_cancelled_first else 1)


async def test_a_bracket_that_the_editor_closes_does_not_close_the_stream():
    completer = SteppingCompleter("sum(prices)")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    completer.go_on(5)
    await settle()
    typist.become("x = sum(█)\n")
    older.cancel()
    newer = typist.ask()
    completer.go_on()
    assert (await newer).insertion.text == "prices"
    assert len(completer.requests) == 1


async def test_that_one_text_had_no_answer_says_nothing_of_what_was_typed_on():
    completer = SteppingCompleter(" ", "b")
    typist = Typist(completer)
    older = typist.ask()
    await started(completer)
    typist.become("x = a + █\n")
    older.cancel()
    newer = typist.ask()
    completer.go_on()
    assert (await newer).insertion.text == "b"


@pytest.mark.parametrize("text", ["abcdef()", "abcd"])
async def test_blanks_at_the_end_of_the_line_are_no_reason_to_ask_again(text):
    completer = SteppingCompleter(text)
    completer.go_on()
    typist = Typist(completer, "x = █abcd   \n")
    answer = await typist.ask_and_wait(Trigger.INVOKED)
    assert answer.detail == "repeats-rest" if text == "abcd" else answer.insertion.text == text
    assert len(completer.requests) == 1


async def test_a_change_of_another_document_makes_earlier_answers_old():
    completer = SteppingCompleter("old()", " ", "new()")
    completer.go_on()
    typist = Typist(completer)
    assert (await typist.ask_and_wait()).insertion.text == "old()"
    one, other = (Document("file:///b.py", text) for text in ("def old(): ...", "def new(): ..."))
    typist.pipeline.changed(one, other)
    assert (await typist.ask_and_wait()).reason is NoSuggestion.WITHHELD
    typist.pipeline.changed(other, one)
    answer = await typist.ask_and_wait()
    assert (answer.insertion.text, len(completer.requests)) == ("new()", 3)


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (("x = v█\n", "x = █\n"), NoSuggestion.AFTER_DELETION),
        (("x = va█l\n",), NoSuggestion.MID_WORD),
        (("value + █\n", "x = █\n"), NoSuggestion.AFTER_UNDO),
    ],
)
async def test_a_hopeless_moment_is_not_asked_about_unless_by_hand(texts, reason):
    completer = SteppingCompleter("1", "1")
    completer.go_on()
    typist = Typist(completer)
    for text in texts:
        typist.become(text)
    assert (await typist.ask_and_wait()).reason is reason
    assert completer.requests == []
    assert isinstance(typist.events[-1], Suppressed)
    assert (await typist.ask_and_wait(Trigger.INVOKED)).reason is not reason
    assert len(completer.requests) == 1


async def test_going_back_in_a_suggestion_keeps_it_and_going_back_before_it_ends_it():
    """B16."""
    completer = SteppingCompleter("value")
    completer.go_on()
    typist = Typist(completer)
    await typist.ask_and_wait()
    typist.become("x = val█\n")
    typist.become("x = v█\n")
    answer = await typist.ask_and_wait()
    assert (answer.insertion.text, answer.rung) == ("alue", Rung.TYPED_THROUGH)
    typist.become("x █\n")
    assert (await typist.ask_and_wait()).reason is NoSuggestion.AFTER_DELETION
    assert len(completer.requests) == 1


async def test_what_had_no_answer_is_not_asked_again_at_once():
    """B09."""
    completer = SteppingCompleter("  ", "  ")
    completer.go_on()
    typist = Typist(completer)
    assert [(await typist.ask_and_wait()).reason for _ in range(2)] == [NoSuggestion.WITHHELD] * 2
    assert len(completer.requests) == 1


async def test_accepting_word_by_word_asks_nobody():
    completer = SteppingCompleter("first + second")
    completer.go_on()
    typist = Typist(completer)
    await typist.ask_and_wait()
    texts = []
    for accepted in ("x = first█\n", "x = first +█\n", "x = first + second█\n"):
        typist.become(accepted)
        texts.append(typist.ask())
    answers = [await one for one in texts[:2]]
    assert [one.insertion.text for one in answers] == [" + second", " second"]
    assert len(completer.requests) == 1
    texts[2].cancel()
