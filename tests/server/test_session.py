"""A session: its settings, what they change, and that nothing goes wrong where the editor can see it."""

import asyncio
from dataclasses import replace

import pytest

from lsp_complete.protocol.completion import Finish, FinishChunk, TextChunk, Trigger
from lsp_complete.protocol.errors import RateLimited
from lsp_complete.protocol.events import Requested, Suppressed
from lsp_complete.server.session import Session
from lsp_complete.text.document import Document
from tests.fakes import RecitingEngine
from tests.serving import CREDENTIAL, backend_over, serving

DOCUMENT = Document("file:///w/a.py", "x = ", "a.py", "python")


@pytest.fixture
def problems() -> list[str]:
    """What the session has said."""
    return []


@pytest.fixture
async def session(problems):
    session = Session(lambda status: None, problems.append)
    yield session
    await session.aclose()


async def suggest(session, trigger=Trigger.INVOKED):
    answer = await session.suggest("a.py", DOCUMENT, 4, trigger)
    return answer.insertion.text if answer and answer.insertion else None


async def test_a_runtime_folder_that_cannot_be_made_is_reported_and_costs_suggestions_only(
    session, problems, tmp_path, monkeypatch
):
    (tmp_path / "in_the_way").write_text("")
    monkeypatch.setenv("LSP_COMPLETE_RUNTIME", str(tmp_path / "in_the_way"))
    for _ in range(2):
        session.configure({})
    session.warm()
    assert await suggest(session) is None
    (problem,) = problems
    assert "no folder for the local service" in problem


async def test_an_index_that_cannot_be_kept_is_told_once(problems, tmp_path, monkeypatch):
    (tmp_path / "in_the_way").write_text("")
    monkeypatch.setenv("LSP_COMPLETE_INDEXES", str(tmp_path / "in_the_way"))
    session = Session(lambda status: None, problems.append)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        session.open_folders([str(tmp_path / folder)])
        await asyncio.gather(*session._indexing)
    (problem,) = problems
    assert "the index is off" in problem
    await session.aclose()


async def test_only_a_change_of_the_place_is_a_new_connection(session):
    session.configure({"url": "http://127.0.0.1:1"})
    before = session._connection.completer
    session.configure({"url": "http://127.0.0.1:1", "debounce_ms": 5, "enabled": False})
    assert session._connection.completer is before
    assert session.settings.debounce_ms == 5
    session.configure({"url": "http://127.0.0.1:1", "credential": "x"})
    assert session._connection.completer is not before


async def test_a_session_that_is_off_starts_nothing(session):
    session.configure({"enabled": False})
    session.warm()
    assert session._connection._source._starting is None


async def test_a_mistake_of_ours_is_a_line_in_the_log_and_no_error(session, caplog):
    class Mistaken:
        def complete(self, request):
            raise KeyError("a mistake")

    session.answer_from(Mistaken())
    assert await suggest(session) is None
    assert "no suggestion" in caplog.text


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda session: session.forget(DOCUMENT),
        lambda session: session.configure({"url": session.settings.url, "exclude": ["a.py"]}),
        lambda session: session.configure({"url": session.settings.url, "enabled": False}),
    ],
)
async def test_what_is_closed_or_excluded_while_a_question_waits_is_not_sent(session, meanwhile):
    engine = RecitingEngine("one")
    async with serving(backend_over(engine)) as url:
        session.configure({"url": url, "credential": CREDENTIAL, "debounce_ms": 100})
        asked = asyncio.create_task(session.suggest("file:/w/a.py", DOCUMENT, 4, Trigger.AUTOMATIC))
        await asyncio.sleep(0)
        meanwhile(session)
        assert await asked is None
        assert engine.jobs == []
        assert session._pipeline is None or not session._pipeline._documents
        await session.aclose()


async def test_an_answer_that_is_cancelled_on_its_way_is_told_of_once(session, monkeypatch):
    told: list[object] = []
    monkeypatch.setattr(session.telemetry, "tell", told.append)
    async with serving(backend_over(RecitingEngine("one"))) as url:
        session.configure({"url": url, "credential": CREDENTIAL})
        assert await suggest(session) == "one"
        told.clear()
        asked = asyncio.create_task(suggest(session, Trigger.AUTOMATIC))
        for _ in range(2):
            await asyncio.sleep(0)  # it has its answer, from the last one, and has not yet heard of it
        asked.cancel()
        await asyncio.wait([asked])
        assert asked.cancelled()
        assert [type(event) for event in told] == [Requested, Suppressed]
        await session.aclose()


async def test_the_service_can_be_changed_between_questions(session):
    async with (
        serving(backend_over(RecitingEngine("one"))) as one,
        serving(backend_over(RecitingEngine("other"))) as other,
    ):
        for url, text in ((one, "one"), (other, "other")):
            session.configure({"url": url, "credential": CREDENTIAL})
            assert await suggest(session) == text
        await session.aclose()


async def test_a_limit_that_comes_again_behind_each_pause_is_told_once_until_a_question_is_answered(session, problems):
    class Limited:
        is_over = False

        async def complete(self, request):
            if not self.is_over:
                raise RateLimited(retry_after_s=30)
            yield TextChunk("1")
            yield FinishChunk(Finish.STOP)

    async def asks_behind_the_pause():
        clock[0] += 60
        return await suggest(session, Trigger.AUTOMATIC)

    limited, clock = Limited(), [1_800_000_000.0]
    session.configure({"url": "http://127.0.0.1:1", "debounce_ms": 0})
    session.warm()
    session.answer_from(limited)
    session._connection.completer._wall_clock = lambda: clock[0]
    for _ in range(3):
        assert await asks_behind_the_pause() is None
    assert len(problems) == 1
    limited.is_over = True
    assert await asks_behind_the_pause() == "1"
    limited.is_over = False
    session.changed(DOCUMENT, replace(DOCUMENT, text="y = "), ())
    session._pipeline._recent.forget(DOCUMENT.uri)
    assert await asks_behind_the_pause() is None
    assert len(problems) == 2
