"""From a session to the endpoint over real HTTP/2: each event arrives, and is counted once."""

import asyncio
import contextlib
import json
import sqlite3

import httpx
import pytest

from lsp_complete.backend.serve import listening
from lsp_complete.client.h2_transport import H2Transport
from lsp_complete.client.recorder import Endpoint, Recorder, Sender
from lsp_complete.config.consent import Consent, consent
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.events import Hex
from lsp_complete.protocol.events_wire import EVENTS_PATH, record_to_dict, records_to_json
from lsp_complete.telemetry.ingest import create_ingest
from lsp_complete.telemetry.store import EventStore
from tests.telemetry.samples import EVENTS, records

CREDENTIAL = "a-credential-for-tests"


@contextlib.asynccontextmanager
async def ingest(folder, file=None):
    """The endpoint's URL, its store and an HTTP client."""
    with EventStore(file or folder / "taken-in.sqlite", max_age_s=float("inf")) as store:
        app = create_ingest(store, CREDENTIAL)
        headers = {"authorization": f"Bearer {CREDENTIAL}"}
        async with (
            listening(app, Settings(), 0) as url,
            httpx.AsyncClient(transport=H2Transport(), base_url=url, headers=headers) as client,
        ):
            yield url, store, client


async def test_each_event_is_taken_once_and_what_is_none_is_refused(tmp_path):
    async with ingest(tmp_path) as (_, store, client):
        body = json.loads(records_to_json(records()))
        body["events"].append({"kind": "code", "text": "def f(): pass"})
        for new in (len(EVENTS), 0):
            answer = await client.post(EVENTS_PATH, json=body)
            assert answer.json() == {"new": new, "known": len(EVENTS) - new, "refused": 1}
        assert [record_to_dict(one) for one in store.since(0)] == body["events"][:-1]


@pytest.mark.parametrize(
    ("body", "credential", "status"),
    [(b"{}", CREDENTIAL, 422), (b'{"events": []}', "wrong", 401), (b" " * 2_000_001, CREDENTIAL, 413)],
)
async def test_refusals_are_problem_documents(tmp_path, body, credential, status):
    async with ingest(tmp_path) as (_, _, client):
        answer = await client.post(EVENTS_PATH, content=body, headers={"authorization": f"Bearer {credential}"})
        assert (answer.status_code, answer.json()["status"]) == (status, status)


async def test_a_body_that_does_not_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("lsp_complete.telemetry.ingest._BODY_TIMEOUT_S", 0.0)
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": EVENTS_PATH, "headers": [], "query_string": b""}
    with EventStore(tmp_path / "taken-in.sqlite") as store:
        await create_ingest(store, "")(scope, asyncio.get_running_loop().create_future, send)
    assert (sent[0]["status"], json.loads(sent[1]["body"])["detail"]) == (422, "the body did not arrive in time")


async def test_an_endpoint_that_cannot_write_says_when_to_come_again(tmp_path):
    (tmp_path / "a-folder").mkdir()
    async with ingest(tmp_path, tmp_path / "a-folder") as (_, _, client):
        answer = await client.post(EVENTS_PATH, content=records_to_json(records()))
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")


@contextlib.asynccontextmanager
async def sender(file, url, credential=CREDENTIAL, is_allowed=lambda: True):
    transport = H2Transport()
    try:
        yield Sender(file, Endpoint(url, credential), transport, is_allowed)
    finally:
        await transport.aclose()


def recorded(file, *consents, events=EVENTS):
    """A session with a consent after the other; events come under the first."""
    recorder = Recorder(file, Hex("ab"), consents[0])
    for event in events:
        recorder.record(event)
    for later in consents[1:]:
        recorder.configure(later)
    recorder.close()


async def test_what_a_session_records_arrives(tmp_path):
    file = tmp_path / "events.sqlite"
    recorded(file, Consent.ON)
    async with ingest(tmp_path) as (url, store, _), sender(file, url) as sending:
        assert await sending.send()
        assert await sending.send()
        assert {one.event for one in store.since(0)} == set(EVENTS)
    with EventStore(file) as left:
        assert left.queued(9) == []
        assert len(left.since(0)) == len(EVENTS)


async def test_what_arrived_unnoticed_is_sent_again_and_counted_once(tmp_path):
    file = tmp_path / "events.sqlite"
    recorded(file, Consent.ON)
    async with ingest(tmp_path) as (url, store, client), sender(file, url) as sending:
        with EventStore(file) as queue:
            await client.post(EVENTS_PATH, content=records_to_json(queue.queued(9)))
        assert await sending.send()
        assert len(store.since(0)) == len(EVENTS)


async def test_a_credential_that_is_refused_however_it_is_written_ends_no_sender(tmp_path):
    file = tmp_path / "events.sqlite"
    recorded(file, Consent.ON)
    async with ingest(tmp_path) as (url, store, _):
        for credential, is_taken in (("wörng \udc80", False), (f"{CREDENTIAL}\n", True)):
            async with sender(file, url, credential) as sending:
                assert await sending.send() is is_taken
        assert len(store.since(0)) == len(EVENTS)


@pytest.mark.parametrize(("url", "credential"), [("http://127.0.0.1:1", ""), ("::nonsense::", ""), ("", "wrong")])
async def test_an_endpoint_that_is_not_there_leaves_the_queue_as_it_is(tmp_path, url, credential):
    file = tmp_path / "events.sqlite"
    recorded(file, Consent.ON)
    async with ingest(tmp_path) as (real, _, _), sender(file, url or real, credential) as sending:
        assert not await sending.send()
    with EventStore(file) as left:
        assert len(left.queued(99)) == len(EVENTS)


async def test_nothing_is_sent_without_leave(tmp_path):
    """B32."""
    file = tmp_path / "events.sqlite"
    recorded(file, Consent.ON)
    async with ingest(tmp_path) as (url, store, _), sender(file, url, is_allowed=lambda: False) as sending:
        assert await sending.send()
        assert store.since(0) == []


def test_no_file_grows_while_it_is_off(tmp_path):
    """B32."""
    recorded(tmp_path / "state" / "events.sqlite", Consent.OFF)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("later", "num_kept"), [(Consent.LOCAL, len(EVENTS)), (Consent.OFF, 0)])
def test_what_is_queued_when_it_is_switched_off_is_never_sent(tmp_path, later, num_kept):
    """B32."""
    file = tmp_path / "events.sqlite"
    recorded(file, Consent.ON, later)
    with EventStore(file) as left:
        assert left.queued(99) == []
        assert len(left.since(0)) == num_kept


def test_a_place_that_cannot_be_written_costs_the_events_alone(tmp_path):
    (tmp_path / "file").write_text("")
    recorded(tmp_path / "file" / "events.sqlite", Consent.LOCAL)


def test_a_store_that_somebody_holds_locked_costs_the_events_alone(tmp_path):
    file = tmp_path / "events.sqlite"
    recorded(file, Consent.LOCAL)
    with contextlib.closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN EXCLUSIVE")
        recorded(file, Consent.LOCAL)
    with EventStore(file) as left:
        assert len(left.since(0)) == len(EVENTS)


@pytest.mark.parametrize(
    ("given", "environ", "found"),
    [
        ((), {}, "off"),
        ((None, "on"), {}, "on"),
        (("off", "on"), {}, "off"),
        (("on", "off"), {}, "off"),
        (("on", "local"), {}, "local"),
        (("on", "perhaps"), {}, "off"),
        (("on",), {"DO_NOT_TRACK": "1"}, "off"),
        (("on",), {"DO_NOT_TRACK": "0"}, "on"),
        (("on",), {"DO_NOT_TRACK": ""}, "on"),
    ],
)
def test_off_anywhere_wins(given, environ, found):
    assert consent(given, environ) == found
