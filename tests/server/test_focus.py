"""What the editor tells of where the user is: the prompt of that place is computed before anybody asks."""

import pytest

from tests.server.editor import Buffer

pytestmark = pytest.mark.asyncio(loop_scope="session")
HEAD = "import os\n" * 30


@pytest.fixture
def editor(editor):
    editor.configure(warm_ahead=True)
    return editor


def focus(editor, buffer, **more):
    editor.notify("textDocument/didFocus", {"textDocument": {"uri": buffer.uri}, **more})


async def test_the_place_that_the_user_has_come_to_is_warmed(editor, service):
    buffer = Buffer(editor, HEAD + "x = '\U0001f600' + █\n")
    focus(editor, buffer, position={"line": 30, "character": 11})
    await service.until(lambda: service.engine.jobs)
    assert (service.engine.jobs[0].max_tokens, service.prompt.endswith("x = '\U0001f600' +")) == (0, True)


@pytest.mark.parametrize(
    "more",
    [{}, {"position": None}, {"position": {"line": "1"}}, {"position": {"line": -1, "character": 0}}, {"position": 7}],
)
async def test_where_nobody_knows_the_place_nothing_is_done_and_nothing_breaks(editor, service, more):
    buffer = Buffer(editor, HEAD + "x = █\n")
    focus(editor, buffer, **more)
    editor.notify("textDocument/didFocus", None)
    editor.notify("textDocument/didFocus", {"textDocument": None})
    service.engine.text = "1"
    assert len(await buffer.complete()) == 1
    assert [job.max_tokens for job in service.engine.jobs] != [0]
