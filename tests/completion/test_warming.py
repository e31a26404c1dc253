"""The prompt of a place that the user has come to is computed before the first key, and only where that helps."""

import asyncio

import pytest

from lsp_complete.completion import warming
from lsp_complete.protocol.completion import Trigger
from lsp_complete.protocol.errors import ModelLoading
from tests.completion.asking_ahead import User, settle
from tests.completion.cursor_case import at

HEAD = "import os\n" * 30
OTHER = "y = 2\n" * 60


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Waits are of no matter but where a test sets one."""
    monkeypatch.setattr(warming, "SETTLE_S", 0)
    monkeypatch.setattr(warming, "PAUSE_S", 1000)


async def arrive(user, marked, path="a.py", *, is_told_where=True):
    document, offset = at(marked, path)
    user.pipeline.arrived(document, offset if is_told_where else None)
    await settle()


async def test_coming_to_a_document_warms_the_prompt_that_the_next_question_sends():
    user = User({})
    await arrive(user, HEAD + "x = █\n")
    assert user.service.asked == ["~x = "]
    user.has(HEAD + "x = █\n")
    await user.sees(HEAD + "x = a█\n")
    warm, asked = user.service.requests
    assert asked.prefix == warm.prefix + "a"
    assert (asked.suffix, asked.snippets, asked.ahead) == (warm.suffix, warm.snippets, False)


async def test_where_nobody_knows_the_cursor_it_is_where_the_document_was_changed_last():
    user = User({})
    await arrive(user, HEAD + "x = █\n", is_told_where=False)
    assert user.service.asked == []
    user.has(HEAD + "x = █\n")
    user.become(HEAD + "x = a█\n")
    await settle()
    user.has(OTHER + "y = █\n", "b.py")
    user.become(OTHER + "y = b█\n", "b.py")
    await settle()
    await arrive(user, HEAD + "x = a█\n", is_told_where=False)
    assert user.service.asked == ["~x = a", "~y = b", "~x = a"]


async def test_of_several_documents_opened_at_once_the_last_is_warmed():
    user = User({})
    for path in ("a.py", "b.py"):
        document, offset = at(HEAD + f"{path[0]} = █\n", path)
        user.pipeline.arrived(document, offset)
    await settle()
    assert user.service.asked == ["~b = "]


async def test_the_first_change_in_another_document_warms_at_once_and_the_next_ones_do_not():
    user = User({})
    user.has(HEAD + "x = █\n")
    user.become(HEAD + "x = a█\n")
    await settle()
    user.become(HEAD + "x = ab█\n")
    await settle()
    assert user.service.asked == ["~x = a"]


async def test_after_a_pause_what_no_prompt_had_is_warmed(monkeypatch):
    user = User({})
    user.has(HEAD + "x = █\n")
    await user.sees(HEAD + "x = █\n")
    monkeypatch.setattr(warming, "PAUSE_S", 0)
    user.become(HEAD + "x = a█\n")
    await settle()
    assert user.service.asked == ["x = "]
    user.become(HEAD + "x = a" + OTHER + "█\n")
    await settle()
    assert user.service.asked == ["x = ", "~"]


async def test_a_question_closes_it_and_one_that_is_under_way_is_not_disturbed():
    user = User({"x = ": "1"})
    user.service.gate.clear()
    user.has(HEAD + "x = █\n")
    await arrive(user, HEAD + "x = █\n")
    asked = asyncio.create_task(user.sees(HEAD + "x = █\n", Trigger.INVOKED))
    await settle()
    assert [one.prefill_only for one in user.service.closed] == [True]
    await arrive(user, OTHER + "█", "b.py")
    assert user.service.asked == ["~x = ", "x = "]
    user.service.gate.set()
    assert (await asked)[0] == "1"


async def test_what_the_service_could_not_do_yet_is_done_when_it_is_there():
    user = User({"x = ": [ModelLoading(), ""]})
    await arrive(user, HEAD + "x = █\n")
    await arrive(user, HEAD + "x = █\n")
    assert user.service.asked == ["~x = "]
    user.pipeline.ready()
    await settle()
    assert user.service.asked == ["~x = ", "~x = "]


@pytest.mark.parametrize("settings", [{"warm_ahead": False}, {"enabled": False}, {"disabled_languages": ("python",)}])
async def test_nothing_is_warmed_that_may_not_be_asked(settings):
    user = User({}, **settings)
    await arrive(user, HEAD + "x = █\n")
    user.become(HEAD + "x = a█\n")
    await settle()
    assert user.service.requests == []


async def test_a_document_that_is_closed_is_not_warmed_any_more():
    user = User({})
    document, offset = at(HEAD + "x = █\n")
    user.pipeline.arrived(document, offset)
    user.pipeline.forget(document.uri)
    await settle()
    assert user.service.requests == []
