"""The language server end to end: a child over stdio on one side, the real service over HTTP/2 on the other."""

import asyncio
from typing import Any

import pytest

from lsp_complete.server.commands import COMMANDS
from lsp_complete.server.lsp import create_server
from tests.server.editor import Buffer, Refused, items

pytestmark = pytest.mark.asyncio(loop_scope="session")

CANCELLED, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND = -32800, -32602, -32600, -32601
NO_IDS: list[Any] = [None, [], [1], ["def f(): pass"], [["aa"]]]
ACCEPTED = "lsp-complete.accepted"
NO_NOTICES: list[Any] = [
    None,
    [],
    "x",
    {"item": 5},
    {"item": {"command": {"arguments": [5]}}},
    {"textDocument": {"uri": 5}},
]


async def test_it_says_what_it_can(editor):
    can = editor.capabilities
    assert can["inlineCompletionProvider"]
    assert can["positionEncoding"] == "utf-16"
    assert (can["textDocumentSync"]["openClose"], can["textDocumentSync"]["change"]) == (True, 2)
    assert set(can["executeCommandProvider"]["commands"]) == set(COMMANDS)
    assert can["workspace"]["workspaceFolders"]["changeNotifications"]


async def test_a_suggestion_is_a_pure_insertion_at_the_cursor(editor, service):
    service.engine.text = "a + 1\n"
    buffer = Buffer(editor, "def f(a):\n    return █\n")
    (item,) = await buffer.complete()
    assert item["insertText"] == "a + 1"
    assert item["range"] == {"start": buffer.position(), "end": buffer.position()}
    assert service.prompt.endswith("def f(a):\n    return")


async def test_what_was_typed_before_the_question_is_in_it(editor, service):
    service.engine.text = "a + 1\n"
    buffer = Buffer(editor, "def f(a):\n    re█\n")
    buffer.type("turn")
    buffer.type(" ")
    assert await buffer.text_with_suggestion() == "def f(a):\n    return a + 1\n"


async def test_what_is_typed_after_the_question_is_not_in_it(editor, service):
    service.engine.text = "a + 1\n"
    buffer = Buffer(editor, "def f(a):\n    return█\n")
    request = buffer.complete_later()
    buffer.type(" later")
    await editor.answer(request)
    assert service.prompt.endswith("    return")


async def test_a_block_in_a_document_with_crlf_has_crlf(editor, service):
    service.engine.text = "x = a\n    return x\n"
    buffer = Buffer(editor, "def f(a):\r\n    █\r\n\r\nprint(f(1))\r\n")
    assert await buffer.text_with_suggestion() == "def f(a):\r\n    x = a\r\n    return x\r\n\r\nprint(f(1))\r\n"
    assert "\r" not in service.prompt


async def test_a_bracket_that_is_there_is_replaced_within_the_line(editor, service):
    service.engine.text = "x) + 1"
    buffer = Buffer(editor, "é = f(█)\n")
    (item,) = await buffer.complete()
    assert item["range"] == {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 7}}
    assert await buffer.text_with_suggestion() == "é = f(x) + 1\n"


@pytest.mark.parametrize(("column", "prefix", "clamped"), [(6, 's = "', 5), (99, 's = "😀😀x', 10)])
async def test_a_position_that_is_none_is_clamped(editor, service, column, prefix, clamped):
    service.engine.text = "y"
    buffer = Buffer(editor, 's = "😀😀x█\nnext\n')
    found = await editor.complete(buffer.uri, {"line": 0, "character": column})
    assert service.prompt.endswith(prefix)
    assert all(item["range"]["start"] == {"line": 0, "character": clamped} for item in found)


async def test_the_accepted_suggestion_is_reported_by_its_command(editor, service):
    service.engine.text = "1"
    (item,) = await Buffer(editor, "x = █\n").complete()
    command = item["command"]
    params = {"command": command["command"], "arguments": command["arguments"]}
    assert await editor.ask("workspace/executeCommand", params) is None
    (record,) = await editor.ask("lsp-complete/explain", {"last": 1})
    assert command["arguments"] == [record["request_id"]]
    assert record["num_characters"] == 1


async def test_a_newer_question_cancels_the_older_which_is_answered_with_nothing(editor, service):
    service.engine.text, service.engine.gate = "value", asyncio.Semaphore(0)
    buffer = Buffer(editor, "x = █\n")
    older = buffer.complete_later()
    await service.until(lambda: service.engine.jobs)
    buffer.type("a + ")
    newer = buffer.complete_later()
    assert items(await editor.answer(older)) == []
    service.engine.gate.release()  # its first letter is not what was typed
    await service.until(lambda: len(service.engine.jobs) == 2 and service.engine.num_open == 1)
    for _ in "value":
        service.engine.gate.release()
    assert items(await editor.answer(newer))[0]["insertText"] == "value"
    await editor.ask("lsp-complete/explain")
    assert [len(editor.answers[asked]) for asked in (older, newer)] == [1, 1]


async def test_an_answer_under_way_that_agrees_with_what_is_typed_is_waited_for(editor, service):
    service.engine.text, service.engine.gate = "value", asyncio.Semaphore(0)
    buffer = Buffer(editor, "x = █\n")
    older = buffer.complete_later()
    await service.until(lambda: service.engine.jobs)
    service.engine.gate.release()
    buffer.type("va")
    editor.notify("$/cancelRequest", {"id": older})
    newer = buffer.complete_later()
    for _ in "alue":
        service.engine.gate.release()
    assert items(await editor.answer(newer))[0]["insertText"] == "lue"
    assert len(service.engine.jobs) == 1


async def test_what_was_answered_is_not_asked_again_while_it_is_typed(editor, service):
    service.engine.text = "value"
    buffer = Buffer(editor, "x = █\n")
    assert items(await editor.answer(buffer.complete_later()))[0]["insertText"] == "value"
    buffer.type("val")
    assert items(await editor.answer(buffer.complete_later()))[0]["insertText"] == "ue"
    first, second = (await editor.ask("lsp-complete/explain"))[-2:]
    assert (first["rung"], second["rung"], len(service.engine.jobs)) == ("network", "typed-through", 1)


async def test_questions_in_two_documents_leave_each_other_alone(editor, service):
    service.engine.text = "value"
    one, other = (Buffer(editor, f"{name} = █\n").complete_later() for name in "xy")
    assert [items(await editor.answer(asked))[0]["insertText"] for asked in (one, other)] == ["value", "value"]


async def test_a_cancel_that_comes_after_the_answer_is_no_news(caplog):
    protocol = create_server().protocol
    cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 7}}
    protocol.handle_message(protocol.structure_message(cancel))
    assert not caplog.records


async def test_a_document_that_is_opened_again_is_another_one(editor, service):
    service.engine.text = "value"
    buffer = Buffer(editor, "x = █\n")
    assert await buffer.complete()
    service.engine.text = "other"
    assert await Buffer(editor, "x = █\n", uri=buffer.uri).text_with_suggestion() == "x = other\n"


async def test_a_cancelled_question_is_answered_once_and_stops_the_engine(editor, service):
    service.engine.text, service.engine.gate = "value", asyncio.Semaphore(0)
    asked = Buffer(editor, "x = █\n").complete_later()
    await service.until(lambda: service.engine.num_open == 1)
    steps = service.engine.stats().steps
    editor.notify("$/cancelRequest", {"id": asked})
    with pytest.raises(Refused) as refused:
        await editor.answer(asked)
    assert refused.value.code == CANCELLED
    await service.until(lambda: service.engine.num_open == 0)
    editor.notify("$/cancelRequest", {"id": asked})
    await editor.ask("lsp-complete/explain")
    assert len(editor.answers[asked]) == 1
    assert service.engine.stats().steps == steps


async def test_a_question_cancelled_in_the_pause_of_typing_never_leaves(editor, service):
    editor.configure(debounce_ms=5000)
    asked = Buffer(editor, "x = █\n").complete_later(automatic=True)
    editor.notify("$/cancelRequest", {"id": asked})
    with pytest.raises(Refused):
        await editor.answer(asked)
    assert service.engine.jobs == []


async def test_a_bad_setting_is_reported_once_and_the_rest_is_used(editor, service):
    service.engine.text = "abcdef"
    buffer = Buffer(editor, "x = █\n")
    for _ in range(2):
        editor.configure(deadline_ms="soon", line_tokens=3)
        assert (await buffer.complete())[0]["insertText"] == "abc"
    (notice,) = editor.notices["window/showMessage"]
    assert "deadline_ms" in notice["message"]


async def test_settings_apply_at_once(editor, service):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n")
    editor.configure(enabled=False)
    assert await buffer.complete() == []
    editor.configure(disabled_languages=["python"])
    assert await buffer.complete() == []
    assert service.engine.jobs == []
    editor.configure()
    assert len(await buffer.complete()) == 1


@pytest.mark.parametrize("sent", [None, {}, [], "x", {"python": {"analysis": True}}, {"lsp-complete": None}])
async def test_settings_that_are_not_ours_change_nothing(editor, service, sent):
    service.engine.text = "1"
    editor.notify("workspace/didChangeConfiguration", {"settings": sent})
    assert len(await Buffer(editor, "x = █\n").complete()) == 1
    assert editor.notices["window/showMessage"] == []


async def test_settings_may_come_without_a_section(editor, service):
    editor.notify("workspace/didChangeConfiguration", {"settings": {"enabled": False, "python": {}}})
    assert await Buffer(editor, "x = █\n").complete() == []
    assert service.engine.jobs == []


async def test_a_service_that_cannot_be_used_costs_suggestions_and_one_message(editor, service, unused_port):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n")
    for broken, reason in (({"url": f"http://127.0.0.1:{unused_port}"}, "offline"), ({"url": "nonsense"}, "offline"),
                           ({"credential": "wrong"}, "unauthorized"),
                           ({"url": f"https://127.0.0.1:{unused_port}", "ca_file": "/no.pem"}, "offline")):  # fmt: skip
        await editor.ask("lsp-complete/status")  # what comes before it is of no interest
        editor.notices.clear()
        editor.configure(**broken)
        assert [await buffer.complete() for _ in range(2)] == [[], []]
        (record,) = await editor.ask("lsp-complete/explain", {"last": 1})
        assert record["reason"] == reason
        assert [notice["state"] for notice in editor.notices["lsp-complete/status"]] == [reason]
        editor.configure()
        assert len(await buffer.complete()) == 1
        assert [notice["state"] for notice in editor.notices["lsp-complete/status"]] == [reason, "ready"]
        assert len(editor.notices["window/showMessage"]) == 1


async def test_a_service_that_is_still_loading_costs_suggestions_only(editor, service):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n")
    service.backend.service, ready = None, service.backend.service
    assert await buffer.complete() == []
    service.backend.service = ready
    assert len(await buffer.complete()) == 1


@pytest.mark.parametrize(
    "uri",
    [
        "vscode-vfs://github/x/y.py",
        "git:/a.py?ref",
        "vscode-remote://ssh-remote%2Bhost/home/u/a.py",
        "file:///",
        "",
    ],
)
async def test_a_document_that_is_not_served_has_no_suggestion_and_no_error(editor, service, uri):
    assert await Buffer(editor, "x = █\n", uri=uri or "x").complete() == []
    assert await editor.complete(f"{uri}never-opened", {"line": 0, "character": 0}) == []
    assert service.engine.jobs == []


async def test_a_document_that_was_closed_is_forgotten(editor, service):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n")
    editor.notify("textDocument/didClose", {"textDocument": {"uri": buffer.uri}})
    assert await buffer.complete() == []


async def test_an_untitled_document_is_served_from_memory(editor, service):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n", uri="untitled:Untitled-1")
    assert await buffer.text_with_suggestion() == "x = 1\n"
    buffer.type("a + ")
    assert await buffer.text_with_suggestion() == "x = a + 1\n"
    assert service.prompt.endswith("x = a +")


async def test_another_spelling_of_the_uri_is_the_same_document(editor, service):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n", uri="file:///c%3A/Work/My%20App/app.py")
    buffer.uri = "file:///C:/Work/My App/app.py"
    buffer.type("a + ")
    assert await buffer.text_with_suggestion() == "x = a + 1\n"


async def test_what_is_chosen_in_the_pop_up_is_asked_behind_and_answered_with(editor, service):
    """B17."""
    service.engine.text = '("low disk")'
    buffer = Buffer(editor, "logger.█\n")
    span = buffer.range(buffer.offset - 1, buffer.offset)
    (item,) = await buffer.complete(selectedCompletionInfo={"range": span, "text": ".warning"})
    assert (item["insertText"], item["range"]) == ('.warning("low disk")', span)
    assert service.prompt.endswith("logger.warning")
    buffer.type("warning")
    assert await buffer.text_with_suggestion() == 'logger.warning("low disk")\n'


async def test_another_choice_in_the_pop_up_is_another_question(editor, service):
    service.engine.text, service.engine.gate = "()", asyncio.Semaphore(0)
    buffer = Buffer(editor, "logger.█\n")
    span = buffer.range(buffer.offset, buffer.offset)
    older = buffer.complete_later(selectedCompletionInfo={"range": span, "text": "warning"})
    await service.until(lambda: service.engine.jobs)
    service.engine.gate = None
    (item,) = await buffer.complete(selectedCompletionInfo={"range": span, "text": "error"})
    assert item["insertText"] == "error()"
    assert items(await editor.answer(older)) == []


async def test_what_is_on_the_screen_grows_no_longer_by_a_pop_up_that_has_just_that(editor, service):
    service.engine.text = "Request"
    buffer = Buffer(editor, "from scrapy import █\n")
    assert len(await buffer.complete()) == 1
    service.engine.text = "\nfrom x import y"
    buffer.type("Re")
    span = buffer.range(buffer.offset - 2, buffer.offset)
    chosen = {"range": span, "text": "Request"}
    (item,) = await buffer.complete(automatic=True, selectedCompletionInfo=chosen)
    assert (item["insertText"], item["range"]) == ("Request", span)
    (item,) = await buffer.complete(selectedCompletionInfo=chosen)  # by hand
    assert item["insertText"].startswith("Request\n")


async def test_a_pop_up_that_takes_the_place_of_what_is_on_the_right_costs_nothing_behind_that(editor, service):
    service.engine.text = "x) + 1"
    buffer = Buffer(editor, "y = f(█)\nz = 2\n")
    assert await buffer.text_with_suggestion() == "y = f(x) + 1\nz = 2\n"
    chosen = {"range": buffer.range(buffer.offset, buffer.offset + 1), "text": "x) + 1"}
    (item,) = await buffer.complete(automatic=True, selectedCompletionInfo=chosen)
    assert buffer.text_with(item) == "y = f(x) + 1\nz = 2\n"


async def test_a_second_initialize_is_an_error_and_the_first_stays_valid(editor, service):
    service.engine.text = "1"
    with pytest.raises(Refused) as refused:
        await editor.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert refused.value.code == INVALID_REQUEST
    assert len(await Buffer(editor, "x = █\n").complete()) == 1


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("textDocument/inlineCompletion", {"textDocument": {"uri": 1}, "position": "here"}, INVALID_PARAMS),
        ("textDocument/inlineCompletion", None, INVALID_PARAMS),
        ("textDocument/inlineCompletion", [1], INVALID_PARAMS),
        ("workspace/executeCommand", {"command": "rm"}, INVALID_PARAMS),
        ("workspace/executeCommand", {"command": ACCEPTED}, INVALID_PARAMS),
        *(("workspace/executeCommand", {"command": ACCEPTED, "arguments": ids}, INVALID_PARAMS) for ids in NO_IDS),
        ("workspace/executeCommand", {"command": "lsp-complete.snooze", "arguments": ["x"]}, INVALID_PARAMS),
        ("workspace/executeCommand", {"command": "lsp-complete.toggleLanguage"}, INVALID_PARAMS),
        ("textDocument/nonsense", {}, METHOD_NOT_FOUND),
    ],
)
async def test_a_request_without_sense_gets_an_error_with_its_id(editor, method, params, code):
    with pytest.raises(Refused) as refused:
        await editor.ask(method, params)
    assert refused.value.code == code


@pytest.mark.parametrize("method", ["lsp-complete/status", "lsp-complete/explain"])
async def test_our_own_requests_need_no_parameters(editor, method):
    editor.send(id="bare", method=method)
    assert await editor.answer("bare") is not None


@pytest.mark.parametrize(
    "method", ["didShowCompletion", "didPartiallyAcceptCompletion", "didFocus", "didRejectCompletion"]
)
async def test_a_notification_without_sense_changes_nothing(editor, service, method):
    for params in NO_NOTICES:
        editor.notify(f"textDocument/{method}", params)
    editor.send(method=f"textDocument/{method}")
    service.engine.text = "1"
    assert len(await Buffer(editor, "x = █\n").complete()) == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 50_000, -32700),
        (b"[]", INVALID_REQUEST),
        (b"42", INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
    ],
)
async def test_a_message_that_is_none_gets_one_error(editor, service, body, code):
    editor.answers.pop(None, None)
    editor.send_body(body)
    with pytest.raises(Refused) as refused:
        await editor.answer(None)
    assert refused.value.code == code
    service.engine.text = "1"
    assert len(await Buffer(editor, "x = █\n").complete()) == 1


async def test_notifications_without_sense_are_no_harm(editor, service):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n")
    for method in (
        "textDocument/didChange",
        "textDocument/didOpen",
        "textDocument/didClose",
        "$/cancelRequest",
        "no/thing",
    ):
        editor.notify(method, {"nonsense": [1]})
    editor.notify("textDocument/didChange", {"textDocument": {"uri": "file:///not/open", "version": 1},
                                             "contentChanges": [{"text": "x"}]})  # fmt: skip
    editor.send(id="of-nobody", result=None)
    assert len(await buffer.complete()) == 1
    assert editor.notices["window/showMessage"] == []


async def test_many_questions_at_once_are_all_answered(editor, service):
    service.engine.text = "1"
    asked = [Buffer(editor, "x = █\n").complete_later() for _ in range(50)]
    answers = [items(await editor.answer(one)) for one in asked]
    assert len(answers) == 50
    assert len(await Buffer(editor, "x = █\n").complete()) == 1
