"""Suggestions in completion menus: a client without inline completion, the real server over stdio, the real service."""

from typing import Any

import pytest
import pytest_asyncio

from tests.server.editor import Buffer, Editor, Refused, answered_once, started

pytestmark = pytest.mark.asyncio(loop_scope="session")

ENCODINGS = ("utf-8", "utf-16", "utf-32")
METHOD = "textDocument/completion"
METHOD_NOT_FOUND = -32601
WITH_INLINE: dict[str, Any] = {"textDocument": {"inlineCompletion": {}, "completion": {}}}


def capabilities(encoding="utf-16"):
    return {"general": {"positionEncodings": [encoding]}, "textDocument": {"completion": {}}}


@pytest_asyncio.fixture(loop_scope="session")
async def start(service, tmp_path):
    """Starts a server for a client with these capabilities and settings, and closes it after the test."""
    running: list[tuple[Any, Editor]] = []

    async def starting(can: Any = None, **settings: Any) -> Editor:
        context = started(tmp_path / f"{len(running)}")
        (tmp_path / f"{len(running)}").mkdir()
        editor = await context.__aenter__()
        running.append((context, editor))
        options = {**service.options, "completion_menu": True, **settings}
        await editor.initialize(options, capabilities=can or capabilities())
        return editor

    yield starting
    for context, editor in running:
        await editor.exit()
        assert answered_once(editor)
        await context.__aexit__(None, None, None)


async def menu(buffer: Buffer, kind: int = 1) -> Any:
    identifier = {"uri": buffer.uri}
    params = {"textDocument": identifier, "position": buffer.position(), "context": {"triggerKind": kind}}
    return await buffer.editor.ask(METHOD, params)


def accepted(buffer: Buffer, item: Any) -> str:
    edit = item["textEdit"]
    return buffer.text_with({"insertText": edit["newText"], "range": edit["range"]})


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_the_item_takes_the_place_of_the_word_behind_wide_characters_too(start, service, encoding):
    service.engine.text = "al + 1\n"
    editor = await start(capabilities(encoding))
    buffer = Buffer(editor, "é😀 = tot█\nnext\n", encoding=encoding)
    found = await menu(buffer)
    (item,) = found["items"]
    assert found["isIncomplete"]
    assert item["textEdit"]["range"] == buffer.range(5, 8)
    assert accepted(buffer, item) == "é😀 = total + 1\nnext\n"


async def test_the_item_says_whose_it_is_and_comes_last_and_matches_what_is_typed(start, service):
    service.engine.text = "al + 1\n"
    buffer = Buffer(await start(), "x = tot█\n")
    (item,) = (await menu(buffer))["items"]
    assert (item["label"], item["filterText"], item["sortText"]) == ("total + 1", "total + 1", "~")
    assert item["detail"] == item["labelDetails"]["description"] == "lsp-complete"
    assert item["preselect"] is False


async def test_a_block_is_one_item_whose_label_is_its_first_line(start, service):
    service.engine.text = "x = a\n    return x\n"
    buffer = Buffer(await start(), "def f(a):\n    █\n\nprint(f(1))\n")
    (item,) = (await menu(buffer))["items"]
    assert item["label"] == "x = a…"
    assert item["insertTextMode"] == 1  # nobody indents it once more
    assert accepted(buffer, item) == "def f(a):\n    x = a\n    return x\n\nprint(f(1))\n"


async def test_a_bracket_that_is_there_is_replaced_within_the_line(start, service):
    service.engine.text = "x) + 1"
    buffer = Buffer(await start(), "é = f(█)\n")
    (item,) = (await menu(buffer))["items"]
    assert accepted(buffer, item) == "é = f(x) + 1\n"


async def test_what_is_accepted_is_known_from_the_text_and_from_the_command(start, service):
    service.engine.text = "al + 1\n"
    buffer = Buffer(await start(), "x = tot█\n")
    for number, is_told in enumerate((False, True)):
        (item,) = (await menu(buffer))["items"]
        start_, end = buffer.text.rindex("tot"), len(buffer.text.rstrip("\n"))
        buffer.change([(start_, end, item["textEdit"]["newText"])])
        if is_told:
            await buffer.editor.ask("workspace/executeCommand", item["command"])
        buffer.editor.notify("textDocument/didSave", {"textDocument": {"uri": buffer.uri}})
        buffer.become(buffer.text + f"y{number} = tot█")
    records = await buffer.editor.ask("lsp-complete/explain")
    assert [record["outcome"] for record in records] == ["accepted", "accepted"]


async def test_who_asks_again_without_a_change_asks_by_hand(start, service):
    service.engine.text = "al"
    buffer = Buffer(await start(), "x = tot█\n")
    buffer.type("x")
    buffer.become("x = tot█\n")
    assert (await menu(buffer))["items"] == []  # behind a deletion nothing is asked automatically
    assert len((await menu(buffer))["items"]) == 1


async def test_without_a_suggestion_the_menu_is_left_to_others_and_asked_again_at_the_next_letter(start, service):
    service.engine.text = ""
    buffer = Buffer(await start(), "x = tot█\n")
    assert await menu(buffer) == {"isIncomplete": True, "items": []}


async def test_what_gets_no_suggestion_inline_gets_none_in_a_menu(start, service):
    service.engine.text = "al"
    editor = await start(disabled_languages=["python"])
    assert (await menu(Buffer(editor, "x = tot█\n")))["items"] == []
    assert (await menu(Buffer(editor, "x = tot█\n", uri="git:/w/a.py", language="text")))["items"] == []
    assert service.engine.jobs == []


@pytest.mark.parametrize(("can", "is_on"), [(WITH_INLINE, True), (capabilities(), False)])
async def test_it_is_not_announced_to_who_knows_better_nor_unless_it_is_wanted(start, can, is_on):
    editor = await start(can, completion_menu=is_on)
    assert "completionProvider" not in editor.capabilities
    with pytest.raises(Refused) as refused:
        await menu(Buffer(editor, "x = tot█\n"))
    assert refused.value.code == METHOD_NOT_FOUND


async def test_it_ends_when_the_setting_does(start, service):
    service.engine.text = "al"
    editor = await start()
    editor.configure(**service.options, completion_menu=False)
    assert (await menu(Buffer(editor, "x = tot█\n")))["items"] == []
