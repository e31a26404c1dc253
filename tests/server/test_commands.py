"""What an editor's menus do, end to end: the status, the switches, and why a suggestion is as it is."""

import asyncio
import json

import pytest

from lsp_complete.server import records
from tests.server.editor import Buffer, Refused, started

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def run(editor, command, *arguments):
    params = {"command": f"lsp-complete.{command}", "arguments": list(arguments)}
    return await editor.ask("workspace/executeCommand", params)


def states(editor):
    return [notice["state"] for notice in editor.notices["lsp-complete/status"]]


async def test_the_status_can_be_asked_for(editor, service):
    status = await editor.ask("lsp-complete/status")
    assert (status["state"], status["until"], set(status["index"])) == ("ready", None, {"state", "done", "total"})
    assert await run(editor, "status") == status


async def test_the_status_of_a_document_says_why_it_is_off(editor, service):
    editor.configure(disabled_languages=["python"])
    buffer = Buffer(editor, "x = █\n")
    status = await editor.ask("lsp-complete/status", {"textDocument": {"uri": buffer.uri}})
    assert (status["state"], status["detail"]) == ("off", "off here: in a language that the settings exclude")
    assert (await editor.ask("lsp-complete/status"))["state"] == "ready"
    secret = Buffer(editor, "█", uri="file:///w/.env", language="")
    assert "secret" in (await run(editor, "status", secret.uri))["detail"]
    editor.configure(disabled_scopes=["comment"])
    commented = Buffer(editor, "# a note█\nx = 1\n")
    here = {"textDocument": {"uri": commented.uri}, "position": commented.position()}
    assert "in a comment" in (await editor.ask("lsp-complete/status", here))["detail"]
    assert (await run(editor, "status", commented.uri))["state"] == "ready"
    assert "not open" in (await run(editor, "status", "file:///w/never.py"))["detail"]
    assert "not a file" in (await run(editor, "status", "git:/a.py"))["detail"]


async def test_who_snoozes_is_left_alone_unless_they_ask_by_hand(editor, service):
    service.engine.text = "1"
    await editor.ask("lsp-complete/status")
    editor.notices.clear()
    buffer = Buffer(editor, "x = █\n")
    status = await run(editor, "snooze", 5)
    assert status["state"] == "snoozed"
    assert await buffer.complete(automatic=True) == []
    (record,) = await editor.ask("lsp-complete/explain", {"last": 1})
    assert (record["reason"], service.engine.jobs) == ("snoozed", [])
    assert len(await buffer.complete()) == 1
    assert (await run(editor, "snooze", 0))["state"] == "ready"
    assert len(await buffer.complete(automatic=True)) == 1
    assert states(editor) == ["snoozed", "ready"]


async def test_suggestions_are_switched_off_and_on_again(editor, service):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n")
    assert (await run(editor, "toggle"))["state"] == "off"
    assert await buffer.complete() == []
    assert (await run(editor, "toggle"))["state"] == "ready"
    assert len(await buffer.complete()) == 1


async def test_a_language_is_switched_off_and_on_again(editor, service):
    service.engine.text = "1"
    buffer = Buffer(editor, "x = █\n")
    assert (await run(editor, "toggleLanguage", "python"))["disabledLanguages"] == ["python"]
    assert await buffer.complete() == []
    assert (await run(editor, "toggleLanguage", "python"))["disabledLanguages"] == []
    assert len(await buffer.complete()) == 1


async def test_a_record_says_what_was_done_and_what_became_of_it(editor, service):
    service.engine.text = "value"
    buffer = Buffer(editor, "x = █\n")
    await buffer.complete()
    buffer.type("value")
    (record,) = await run(editor, "explain", 1)
    assert (record["trigger"], record["language"], record["line"]) == ("invoked", "python", 1)
    assert (record["mode"], record["rung"], record["reason"]) == ("line", "network", None)
    assert record["debounce_ms"] == 0
    assert record["usage"]["prompt_tokens"] > 0
    assert {"debounce", "context", "prompt", "answer", "total", "first_text"} <= set(record["timing_ms"])
    assert (record["snippets"], record["late"], record["num_redacted"]) == ([], [], 0)
    assert "value" not in json.dumps(record)
    assert record["outcome"] == "accepted"


async def test_a_record_without_an_answer_says_why(editor, service):
    service.engine.text = ""
    assert await Buffer(editor, "x = █\n").complete() == []
    (record,) = await run(editor, "explain", 1)
    assert (record["reason"], record["detail"], record["outcome"]) == ("withheld", "blank", "")


async def test_a_question_that_was_given_up_leaves_a_record_too(editor, service):
    service.engine.text, service.engine.gate = "value", asyncio.Semaphore(0)
    asked = Buffer(editor, "x = █\n").complete_later()
    await service.until(lambda: service.engine.jobs)
    editor.notify("$/cancelRequest", {"id": asked})
    with pytest.raises(Refused):
        await editor.answer(asked)
    (record,) = await run(editor, "explain", 1)
    assert (record["reason"], record["detail"], record["outcome"]) == ("superseded", "cancelled: waiting", "")
    assert {"debounce", "context", "prompt"} <= set(record["timing_ms"])


async def test_an_answer_that_came_too_late_is_marked(editor, service):
    service.engine.text, service.engine.gate = "value", asyncio.Semaphore(0)
    buffer = Buffer(editor, "x = █\n")
    asked = buffer.complete_later()
    await service.until(lambda: service.engine.jobs)
    buffer.type("v")
    await run(editor, "status")  # the change has arrived
    for _ in "value":
        service.engine.gate.release()
    await editor.answer(asked)
    (record,) = await run(editor, "explain", 1)
    assert record["outcome"] == "too late"


async def test_what_became_of_suggestions_and_what_left_can_be_had_as_data_and_as_a_page(editor, service):
    assert isinstance(await run(editor, "stats"), dict)
    assert (await run(editor, "stats", "html")).startswith("<!doctype html>")
    assert isinstance((await run(editor, "audit", 5))["requests"], list)


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("snooze", ["soon"]), ("snooze", [True]), ("toggleLanguage", []), ("toggleLanguage", [1]), ("stats", [3])],
)
async def test_a_command_without_sense_is_refused(editor, command, arguments):
    with pytest.raises(Refused) as refused:
        await run(editor, command, *arguments)
    assert refused.value.code == -32602


async def test_records_outlive_the_editor_in_a_file_of_its_owner_alone(service, tmp_path):
    service.engine.text = "value"
    async with started(tmp_path) as editor:
        await editor.initialize(service.options)
        await Buffer(editor, "x = █\n").complete()
        assert await editor.exit() == 0
    file = tmp_path / "state" / "explain.jsonl"
    (row,) = records.read(file)
    assert (row["rung"], row["outcome"]) == ("network", "rejected: closed")
    assert "value" not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


async def test_where_nothing_is_kept_no_record_is_written(service, tmp_path):
    async with started(tmp_path) as editor:
        await editor.initialize({**service.options, "audit": "off"})
        await Buffer(editor, "x = █\n").complete()
        assert await editor.exit() == 0
    assert not (tmp_path / "state" / "explain.jsonl").exists()
