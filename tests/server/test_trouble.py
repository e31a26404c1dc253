"""A service in trouble, seen from the editor: silence, one message, a status that is right, and recovery (B29)."""

import contextlib
import ssl

import pytest
import trustme

from tests.client.wire_server import Peer, Request, WireServer
from tests.fakes import RecitingEngine
from tests.server.editor import Buffer
from tests.serving import CREDENTIAL, backend_over, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

TEXT, PAGE = {"content-type": "text/plain"}, {"content-type": "text/html"}
RETRY = {"retry-after": "30"}
DATE = {"retry-after": "Fri, 31 Dec 2100 08:00:00 GMT"}


async def keys(editor, num=8):
    """As many keys; each asks, in a document of its own, so that none waits for another."""
    return [await Buffer(editor, "x = █\n").complete(automatic=True) for _ in range(num)]


async def fresh(editor, **settings):
    """The settings are in force, and what was told before is forgotten."""
    editor.configure(**settings)
    await editor.ask("lsp-complete/status")
    editor.notices.clear()


def states(editor):
    return list(dict.fromkeys(notice["state"] for notice in editor.notices["lsp-complete/status"]))


@pytest.mark.parametrize(
    ("status", "headers", "body", "state", "reason"),
    [
        (429, TEXT | RETRY, b"Rate limited", "rate-limited", "rate-limited"),
        (429, TEXT | DATE, b"Rate limited", "rate-limited", "rate-limited"),
        (503, PAGE | RETRY, b"<html>Down</html>", "offline", "service"),
        (401, TEXT, b"no", "unauthorized", "unauthorized"),
        (403, PAGE, b"<html>no</html>", "unauthorized", "unauthorized"),
        (404, PAGE | RETRY, b"<html>not found</html>", "offline", "offline"),
    ],
)
async def test_who_types_on_is_told_once_and_the_service_is_asked_once(
    editor, service, status, headers, body, state, reason
):
    requests: list[Request] = []

    def answer(peer: Peer, request: Request) -> None:
        requests.append(request)
        peer.respond(request.stream, status, headers, body)

    async with WireServer(answer) as server:
        await fresh(editor, url=server.url, warm_ahead=False)
        assert await keys(editor) == [[]] * 8
        assert (len(requests), states(editor)) == (1, [state])
        assert len(editor.notices["window/showMessage"]) == 1
        records = await editor.ask("lsp-complete/explain", {"last": 8})
        assert {record["reason"] for record in records} == {reason}
        assert sum("not asked for now" in record["detail"] for record in records) == 7
        assert await Buffer(editor, "x = █\n").complete() == []  # by hand
        assert (len(requests), len(editor.notices["window/showMessage"])) == (2, 1)


async def test_a_page_of_a_network_s_login_is_no_suggestion_and_no_error(editor, service):
    async with WireServer(lambda peer, request: peer.respond(request.stream, 200, PAGE, b"<html>Log in")) as server:
        await fresh(editor, url=server.url, warm_ahead=False)
        assert await keys(editor) == [[]] * 8
        assert states(editor) == ["offline"]
        assert len(editor.notices["window/showMessage"]) <= 1  # on a busy machine they take longer than the pause


async def test_a_request_that_is_refused_for_itself_pauses_nothing(editor, service):
    num_asked = [0]

    def answer(peer: Peer, request: Request) -> None:
        num_asked[0] += 1
        peer.respond(request.stream, 413, TEXT, b"too large")

    async with WireServer(answer) as server:
        await fresh(editor, url=server.url, warm_ahead=False)
        await keys(editor)
        assert (num_asked[0], states(editor), editor.notices["window/showMessage"]) == (8, [], [])


async def test_a_service_that_comes_back_is_found_by_whoever_asks_by_hand(editor, service, unused_port):
    await fresh(editor, url=f"http://127.0.0.1:{unused_port}", credential=CREDENTIAL, warm_ahead=False)
    assert await keys(editor, 2) == [[], []]
    assert (await editor.ask("lsp-complete/status"))["state"] == "offline"


async def test_a_service_that_restarts_is_used_again_at_once_after_a_question_by_hand(editor, service):
    """Its address stays, its connections do not."""
    service.engine.text = "1"
    backend = backend_over(RecitingEngine("1"))
    ready, backend.service = backend.service, None
    async with serving(backend) as url:
        await fresh(editor, url=url, credential=CREDENTIAL, warm_ahead=False)
        assert await keys(editor, 2) == [[], []]
        assert states(editor) == ["loading"]
        backend.service = ready
        assert len(await Buffer(editor, "x = █\n").complete()) == 1
        assert [len(items) for items in await keys(editor, 2)] == [1, 1]
        assert states(editor) == ["loading", "ready"]
        assert editor.notices["window/showMessage"] == []


@contextlib.asynccontextmanager
async def over_tls():
    """A service whose certificate nobody here trusts."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["h2"])
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with WireServer(tls=context) as server:
        yield server


async def test_a_certificate_that_is_not_trusted_is_named_in_one_message(editor, service):
    async with over_tls() as server:
        await fresh(editor, url=server.url, warm_ahead=False)
        assert await Buffer(editor, "x = █\n").complete() == []
        await keys(editor, 3)
        (message,) = editor.notices["window/showMessage"]
        assert "certificate" in message["message"]
        assert (await editor.ask("lsp-complete/status"))["state"] == "offline"


async def test_who_was_told_is_not_told_again_because_another_setting_changed(editor, service):
    async with WireServer(lambda peer, request: peer.respond(request.stream, 401, TEXT, b"no")) as server:
        await fresh(editor, url=server.url, warm_ahead=False)
        await keys(editor, 1)
        for settings in ({"debounce_ms": 1}, {"enabled": False}, {"debounce_ms": 2}):
            editor.configure(url=server.url, warm_ahead=False, **settings)
            await keys(editor, 1)
        assert len(editor.notices["window/showMessage"]) == 1
        await fresh(editor, url=server.url, warm_ahead=False, credential="another")
        await keys(editor, 1)
        assert len(editor.notices["window/showMessage"]) == 1
