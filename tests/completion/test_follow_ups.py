"""What comes behind a suggestion is asked before it is accepted, where that is likely, and given up where it is not."""

import asyncio

import pytest

from lsp_complete.completion.answer import NoSuggestion
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.reuse import suggestion_at
from lsp_complete.protocol.completion import Trigger
from lsp_complete.protocol.errors import Unavailable
from lsp_complete.protocol.events import Cancelled, Rung, Shown, Stage, new_id
from tests.completion.asking_ahead import User, settle
from tests.completion.cursor_case import at

NETWORK, TYPED, AHEAD = Rung.NETWORK, Rung.TYPED_THROUGH, Rung.FOLLOW_UP
SUM = {"x = ": "first + second", "x = first + second": "  # both"}


async def half_typed(user):
    """The suggestion is shown, and half of it is typed."""
    assert await user.sees("x = █\n") == ("first + second", NETWORK)
    assert await user.sees("x = first +█\n") == (" second", TYPED)


async def test_after_half_of_a_suggestion_the_next_one_is_there_when_it_is_accepted():
    user = User(SUM)
    await half_typed(user)
    assert user.service.asked == ["x = ", ">x = first + second"]
    assert await user.sees("x = first + second█\n") == ("  # both", AHEAD)
    assert await user.sees("x = first + second  #█\n") == (" both", TYPED)
    assert len(user.service.requests) == 2


async def test_before_that_nothing_is_asked():
    user = User(SUM)
    await user.sees("x = █\n")
    await user.sees("x = fir█\n")
    assert user.service.asked == ["x = "]


async def test_who_accepted_a_part_of_it_will_accept_the_rest():
    user = User(SUM)
    await user.sees("x = █\n")
    user.outcomes.has_accepted = True
    await user.sees("x = first█\n")
    assert user.service.asked == ["x = ", ">x = first + second"]


def accepts_eight(outcomes):
    for number in range(8):
        before, offset = at("a = █\n", f"{number}.py")
        suggestion = suggestion_at(before, offset, Insertion("something(long)"))
        outcomes.shown(before, suggestion, Shown(new_id(), NETWORK, 15), 10.0 * number)
        outcomes.changed(before, at("a = something(long)█\n", f"{number}.py")[0], 10.0 * number + 0.5)
        outcomes.tick(10.0 * number + 5)


async def test_for_who_accepts_most_suggestions_it_is_asked_once_they_are_shown():
    user = User(SUM)
    accepts_eight(user.outcomes)
    assert user.outcomes.accepted_share == 1
    await user.sees("x = █\n")
    assert user.service.asked == ["x = ", ">x = first + second"]


async def test_a_question_waits_for_what_was_asked_ahead():
    user = User(SUM)
    await user.sees("x = █\n")
    user.service.gate.clear()
    await user.sees("x = first +█\n")
    waiting = asyncio.create_task(user.sees("x = first + second█\n"))
    await settle()
    user.service.gate.set()
    assert await waiting == ("  # both", AHEAD)
    assert len(user.service.requests) == 2
    assert await user.sees("x = first + second  #█\n") == (" both", TYPED)


async def test_what_was_found_to_have_no_answer_is_not_asked_again():
    user = User({"x = ": "first + second"})
    await half_typed(user)
    assert await user.sees("x = first + second█\n") is NoSuggestion.WITHHELD
    assert len(user.service.requests) == 2


async def test_typing_something_else_closes_its_stream():
    user = User(SUM)
    await user.sees("x = █\n")
    user.service.gate.clear()
    await user.sees("x = first +█\n")
    assert len(user.service.closed) == 1
    user.become("x = first + t█\n")
    await settle()
    assert [one.ahead for one in user.service.closed] == [False, True]
    (told,) = [event for event in user.events if isinstance(event, Cancelled)]
    assert told.stage is Stage.AHEAD


async def test_any_other_question_closes_its_stream():
    user = User(SUM | {"y = ": "1"})
    await user.sees("x = █\ny = \n")
    user.service.gate.clear()
    await user.sees("x = first +█\ny = \n")
    document = user.document
    other = asyncio.create_task(user.pipeline.suggest(document, len(document.text) - 1, Trigger.INVOKED))
    await settle()
    assert [one.ahead for one in user.service.closed] == [False, True]
    user.service.gate.set()
    assert (await other).insertion == Insertion("1")


async def test_what_was_closed_a_moment_ago_is_given_to_nobody():
    user = User(SUM)
    await user.sees("x = █\n")
    user.service.gate.clear()
    await user.sees("x = first +█\n")
    user.become("x = first + second█\n")
    user.service.gate.set()
    user.pipeline._ahead.leave()
    assert await user.sees("x = first + second█\n") == ("  # both", NETWORK)


async def test_its_failure_is_nobodys_and_nothing_more_is_asked_ahead_until_a_question_is_answered():
    user = User({"x = ": "first + second", "x = first + second": Unavailable(), "x = first + second ": "- third"})
    await half_typed(user)
    await user.sees("x = first + s█\n")
    assert len(user.service.requests) == 2
    assert await user.sees("x = first + second █\n") == ("- third", NETWORK)
    await user.sees("x = first + second - thi█\n")
    assert user.service.asked[2:] == ["x = first + second ", ">x = first + second - third"]


async def test_a_question_that_waits_for_one_that_fails_is_asked_itself():
    user = User({"x = ": "first + second", "x = first + second": [Unavailable(), "  # both"]})
    await user.sees("x = █\n")
    user.service.gate.clear()
    await user.sees("x = first +█\n")
    waiting = asyncio.create_task(user.sees("x = first + second█\n"))
    await settle()
    user.service.gate.set()
    assert await waiting == ("  # both", NETWORK)
    assert user.service.asked == ["x = ", ">x = first + second", "x = first + second"]


async def test_a_service_under_load_is_not_asked_ahead():
    user = User(SUM)
    user.service.debounce_ms = 150
    await half_typed(user)
    assert user.service.asked == ["x = "]


@pytest.mark.parametrize("settings", [{"warm_ahead": False}, {"disabled_scopes": ("comment",)}])
async def test_nothing_is_asked_ahead_that_would_not_be_asked(settings):
    user = User({"x = ": "first  # and", "x = first  # and": " second"}, **settings)
    await user.sees("x = █\n")
    await user.sees("x = first  #█\n", Trigger.INVOKED)
    assert [one.ahead for one in user.service.requests].count(True) == 0


async def test_a_change_of_another_document_makes_it_old():
    user = User(SUM)
    await half_typed(user)
    user.become("import os█\n", "b.py")
    user.become("x = first + second█\n")
    assert await user.sees("x = first + second█\n") == ("  # both", NETWORK)


async def test_where_too_much_was_asked_for_nobody_it_is_asked_no_more():
    long = " + ".join(f"value_of_something_{number}(with_arguments)" for number in range(8))
    user = User({"x = ": long, f"x = {long}": long, "x = v": long, "x = va": long})
    for number in range(4):
        user.become(f"a{number}\nx = █\n")
        await user.sees(f"a{number}\nx = █\n")
        await user.sees(f"a{number}\nx = {long[:-1]}█\n")
    assert sum(one.ahead for one in user.service.requests) == 1
