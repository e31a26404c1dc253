"""The three position encodings, each negotiated with a server of its own."""

import asyncio
import contextlib
from functools import partial

import pytest
import pytest_asyncio

from tests.server.editor import Buffer, answered_once, started

pytestmark = pytest.mark.asyncio(loop_scope="session")

# What a client offers, and what is chosen of it. UTF-8 with a server for each is what Neovim does, UTF-32 lsp-mode.
OFFERS = {"utf-8": ["utf-7", "utf-8", "utf-16"], "utf-32": ["utf-32", "utf-16"]}
ENCODINGS = ["utf-8", "utf-16", "utf-32"]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def editors(running_service, running_editor, tmp_path_factory):
    """Who offers nothing gets UTF-16."""
    async with contextlib.AsyncExitStack() as stack:
        found = {}
        for encoding in OFFERS:
            found[encoding] = await stack.enter_async_context(started(tmp_path_factory.mktemp(encoding)))
        async with asyncio.TaskGroup() as group:
            for encoding, editor in found.items():
                general = {"general": {"positionEncodings": OFFERS[encoding]}}
                group.create_task(editor.initialize(running_service.options, capabilities=general))
        yield {**found, "utf-16": running_editor}
        assert [await editor.exit() for editor in found.values()] == [0, 0]
        assert all(answered_once(editor) for editor in found.values())


@pytest.fixture(params=ENCODINGS)
def open_buffer(request, editors, service):
    return partial(Buffer, editors[request.param], encoding=request.param)


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_the_clients_first_choice_that_is_known_is_taken(editors, encoding):
    assert editors[encoding].capabilities["positionEncoding"] == encoding


@pytest.mark.parametrize("name", ["größe", "变量", "𠀀𠮷", "e\u0301"])
async def test_the_cursor_is_found_behind_letters_of_any_length(open_buffer, service, name):
    service.engine.text = "1, 'ж😀'\n"
    buffer = open_buffer(f"s = '😀漢é'\n{name} = '😀', (█)  # 𠀀\n")
    assert await buffer.text_with_suggestion() == f"s = '😀漢é'\n{name} = '😀', (1, 'ж😀')  # 𠀀\n"
    assert service.prompt.endswith(f"s = '😀漢é'\n{name} = '😀', (")
    assert ")  # 𠀀\n" in service.prompt


async def test_changes_behind_letters_of_any_length_land_where_they_were_made(open_buffer, service):
    service.engine.text = "1\n"
    buffer = open_buffer("'😀漢é' █\r\nx = 1\r\n")
    for typed in ("+ ", "'ñ😀' ", "+ "):
        buffer.type(typed)
    assert await buffer.text_with_suggestion() == "'😀漢é' + 'ñ😀' + 1\r\nx = 1\r\n"
    assert service.prompt.endswith("'😀漢é' + 'ñ😀' +")


async def test_what_is_replaced_right_of_the_cursor_is_counted_in_the_same_units(open_buffer, service):
    service.engine.text = "'😀') + 1"
    buffer = open_buffer("y = '😀' + f(█)\n")
    assert await buffer.text_with_suggestion() == "y = '😀' + f('😀') + 1\n"
