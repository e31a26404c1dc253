"""What other files of the repository know is in the prompt, and what must not leave the machine is not."""

import pytest
import pytest_asyncio

from tests.server.editor import Buffer, started

pytestmark = pytest.mark.asyncio(loop_scope="session")

FILES = {
    "rates.py": "class Rate:\n    def per_cent(self, of_cents: int) -> int:\n        return of_cents // 100\n",
    "local_settings.py": 'API_KEY = "sk-live-5f9a8c7b6d5e4f3a2b1c"\nHIDDEN_NAME = 1\n',
    "used.py": 'from rates import Rate\nPASSWORD = "hunter2-Zx81Qp0Lk"\n\n\ndef used_rate() -> Rate: ...\n',
    ".gitignore": "local_settings.py\n",
    "certs/server.key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n",
}
CODE = (
    "from rates import Rate\nfrom used import used_rate\nfrom local_settings import HIDDEN_NAME\n\n\nrate = Rate().█\n"
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def editor(running_service, root, tmp_path_factory):
    """A server that has indexed the repository: the index is there when a prompt shows it."""
    async with started(tmp_path_factory.mktemp("server")) as found:
        folders = [{"uri": root.as_uri(), "name": "repository"}]
        await found.initialize({**running_service.options, "exclude": ["**/gen/**"]}, workspaceFolders=folders)
        buffer = Buffer(found, CODE, uri=(root / "first.py").as_uri())
        while "per_cent" not in running_service_prompt(running_service):
            await buffer.complete()
        yield found
        assert await found.exit() == 0


def running_service_prompt(service):
    return service.prompt if service.engine.jobs else ""


async def test_the_prompt_shows_how_imported_things_are_called(service, editor, root):
    await Buffer(editor, CODE, uri=(root / "app.py").as_uri()).complete()
    assert "def per_cent(self, of_cents: int) -> int" in service.prompt
    assert "rates.py" in service.prompt


async def test_nothing_of_an_ignored_or_secret_file_is_in_it_nor_a_credential_of_another(service, editor, root):
    for _ in range(3):
        await Buffer(editor, CODE, uri=(root / "app.py").as_uri()).complete()
        assert "sk-live" not in service.prompt
        assert "HIDDEN_NAME = 1" not in service.prompt
        assert "PRIVATE KEY" not in service.prompt
        assert "hunter2" not in service.prompt


async def test_a_keystroke_leaves_the_snippets_where_they_are_new_ones_go_behind_them(service, editor, root):
    buffer = Buffer(editor, CODE, uri=(root / "typed.py").as_uri())
    await buffer.complete()
    before = service.prompt.partition("<|fim_prefix|>")[0].rpartition("<|file_sep|>")[0]
    for key in "per_cent(12) + other":
        buffer.type(key)
        await buffer.complete()
        assert service.prompt.startswith(before)


@pytest.mark.parametrize("name", ["local_settings.py", ".env", "certs/server.key", "gen/x.py"])
async def test_for_a_file_that_must_not_leave_there_is_no_question(service, editor, root, name):
    assert await Buffer(editor, "x = █\n", uri=(root / name).as_uri()).complete() == []
    assert service.engine.jobs == []
    (record,) = await editor.ask("lsp-complete/explain", {"last": 1})
    assert record["reason"] == "excluded"


async def test_a_saved_file_is_known_soon(service, editor, root):
    (root / "rates.py").write_text(FILES["rates.py"].replace("per_cent", "per_mille"))
    editor.notify("textDocument/didSave", {"textDocument": {"uri": (root / "rates.py").as_uri()}})
    buffer = Buffer(editor, CODE, uri=(root / "late.py").as_uri())
    while "per_mille" not in running_service_prompt(service):
        await buffer.complete()


async def prompt_with(service, buffer, words):
    """The first prompt of the buffer that has them all."""
    while not all(word in running_service_prompt(service) for word in words):
        await buffer.complete()
    return service.prompt


async def test_what_is_typed_in_another_tab_is_known_and_is_forgotten_with_the_tab(service, editor, root):
    other = Buffer(editor, "def fresh_rate(█\n", uri=(root / "tab.py").as_uri())
    other.type("num_weeks): ...")
    buffer = Buffer(editor, "x = fresh_rate(█", uri=(root / "asks.py").as_uri())
    await prompt_with(service, buffer, ["tab.py", "num_weeks"])
    editor.notify("textDocument/didClose", {"textDocument": {"uri": other.uri}})
    await Buffer(editor, "x = fresh_rate(█", uri=(root / "asks_again.py").as_uri()).complete()
    assert "num_weeks" not in service.prompt


async def test_several_cursors_are_several_edits_in_the_given_order(service, editor, root):
    """B13: the later line first, so that no position moves; then two on one line."""
    buffer = Buffer(editor, "val_a = fo\nval_b = fo\n█\n", uri=(root / "cursors.py").as_uri())
    places = [(1, 10, "o"), (0, 10, "o"), (0, 11, "(1)"), (0, 0, "# ")]
    changes = [
        {"range": {"start": (at := {"line": line, "character": column}), "end": at}, "text": text}
        for line, column, text in places
    ]
    identifier = {"uri": buffer.uri, "version": 2}
    editor.notify("textDocument/didChange", {"textDocument": identifier, "contentChanges": changes})
    await buffer.complete()
    assert "# val_a = foo(1)\nval_b = foo\n" in service.prompt


async def test_a_renamed_folder_takes_its_documents_along(service, editor, root):
    buffer = Buffer(editor, "x = moved_rate(█", uri=(root / "old dir/asks.py").as_uri())
    files = [{"oldUri": (root / "old dir").as_uri(), "newUri": (root / "new dir").as_uri()}]
    editor.notify("workspace/didRenameFiles", {"files": files})
    assert await buffer.complete() == []
    buffer.uri = (root / "new dir/asks.py").as_uri()
    await buffer.complete()
    assert "new dir/asks.py" in service.prompt


async def test_a_folder_that_is_removed_is_used_no_more_until_it_comes_again(service, editor, root):
    buffer = Buffer(editor, CODE, uri=(root / "last.py").as_uri())
    folder = {"uri": root.as_uri(), "name": "repository"}
    event = {"added": [], "removed": [folder]}
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    await buffer.complete()
    assert "per_" not in service.prompt.replace(CODE, "")
    editor.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [folder], "removed": []}})
    await prompt_with(service, buffer, ["def per_"])


async def test_settings_apply_at_once(service, editor, root):
    buffer = Buffer(editor, CODE, uri=(root / "ruled.py").as_uri())
    await prompt_with(service, buffer, ["def per_"])
    editor.configure(exclude=["rates.py", "used.py", "born.py"])
    await buffer.complete()
    assert "def per_" not in service.prompt
    editor.configure(index=False)
    await buffer.complete()
    assert "<|file_sep|>" not in service.prompt
    editor.configure()
    await prompt_with(service, buffer, ["def per_"])


async def test_a_file_that_comes_without_the_editor_is_found_by_the_watcher(service, root, tmp_path):
    async with started(tmp_path) as other:
        folders = [{"uri": root.as_uri(), "name": "repository"}]
        await other.initialize(service.options, workspaceFolders=folders)
        buffer = Buffer(other, "from born import born_late\n\nx = born_late(█\n", uri=(root / "new.py").as_uri())
        num_writes = 0
        while "weight_grams" not in running_service_prompt(service):
            num_writes += 1  # what is written before the watch is placed is not seen, so it is written again
            if num_writes % 50 == 1:
                (root / "born.py").write_text(f"def born_late(weight_grams: int) -> bool: ...\n# {num_writes}\n")
            await buffer.complete()
        assert await other.exit() == 0


async def test_a_client_that_can_watch_files_is_asked_to(service, tmp_path):
    async with started(tmp_path) as other:
        capabilities = {"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}}
        await other.initialize(service.options, capabilities=capabilities)
        await other.until(lambda: other.notices["client/registerCapability"])
        (params,) = other.notices["client/registerCapability"]
        assert params["registrations"][0]["method"] == "workspace/didChangeWatchedFiles"
        assert await other.exit() == 0
