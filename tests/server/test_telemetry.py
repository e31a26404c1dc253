"""A session's suggestions are followed whether or not that is remembered, and a mistake in it costs figures alone."""

import contextlib

import pytest

from lsp_complete.config.settings import Settings
from lsp_complete.protocol.events import Accepted, Hex, How, Rejected, Retained, Rung, Shown
from lsp_complete.server.telemetry import Telemetry
from lsp_complete.telemetry.store import EventStore
from lsp_complete.text.document import Document

BEFORE = Document("file:///a.py", "total = \n")
AFTER = Document("file:///a.py", "total = price + tax\n")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "state" / "events.sqlite"


@contextlib.asynccontextmanager
async def telemetry(file, now_s=lambda: 0.0, **settings):
    found = Telemetry("ab12", file, now_s)
    found.configure(Settings(**settings))
    found.start("")
    yield found
    await found.aclose()


def accept(told):
    told.asked(BEFORE, 8)
    told.shown(BEFORE, (8, 8), "price + tax", Shown(Hex("aa"), Rung.NETWORK, 11))
    told.changed(BEFORE, AFTER)
    told.accepted(Hex("aa"))
    told.saved(AFTER)
    told.closed(AFTER)


async def test_what_happens_is_in_the_store_when_the_session_is_over(file):
    async with telemetry(file, telemetry="local") as told:
        accept(told)
    with EventStore(file) as store:
        kinds = [type(record.event) for record in store.since(0)]
        assert kinds == [Shown, Accepted, Retained, Retained]
        assert store.queued(9) == []


async def test_what_is_open_when_the_session_is_over_is_told_to_its_end(file):
    async with telemetry(file, telemetry="local") as told:
        told.shown(BEFORE, (8, 8), "price + tax", Shown(Hex("aa"), Rung.NETWORK, 11))
    with EventStore(file) as store:
        assert [type(record.event) for record in store.since(0)] == [Shown, Rejected]


async def test_without_consent_suggestions_are_followed_and_nothing_is_kept(file):
    async with telemetry(file) as told:
        accept(told)
        assert told.outcomes.has_accepted
    assert not file.parent.exists()


async def test_an_id_that_nobody_knows_is_passed_over(file):
    async with telemetry(file, telemetry="local") as told:
        told.accepted(Hex("bb"), How.NOTICE)
        accept(told)
    with EventStore(file) as store:
        assert len(store.since(0)) == 4


async def test_a_change_that_nobody_told_of_costs_figures_alone(file):
    async with telemetry(file, telemetry="local") as told:
        told.shown(BEFORE, (8, 8), "price + tax", Shown(Hex("aa"), Rung.NETWORK, 11))
        told.changed(Document(BEFORE.uri, "something else\n"), AFTER)
        told.closed(AFTER)


@pytest.mark.parametrize(
    ("telemetry_url", "credential"),
    [("https://ours/events", "secret"), ("https://theirs", ""), ("http://ours", ""), ("https://ours.evil", "")],
)
async def test_the_credential_goes_to_the_service_that_asked_for_it_alone(file, telemetry_url, credential):
    settings = {"url": "https://ours", "credential": "secret", "telemetry_url": telemetry_url}
    async with telemetry(file, **settings) as told:
        assert told.endpoint.credential == credential
    async with telemetry(file, **settings, telemetry_credential="theirs") as told:
        assert told.endpoint.credential == "theirs"
