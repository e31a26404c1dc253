"""Roots, open documents and rules as an editor changes them, and what a question is answered from then on."""

import asyncio
import threading
import unicodedata
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from lsp_complete.context.exclusions import Exclusions
from lsp_complete.context.mixer import Mix
from lsp_complete.context.workspace import Workspace
from lsp_complete.text.document import Document
from tests.context.trees import write_tree

RATES = "def old_rate(years: int) -> float:\n    return 1.5 * years\n"
# Only a test that fails waits so long.
PATIENCE_S = 30.0


class Typed:
    """An editor with some files of a workspace open."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.documents: dict[Path, Document] = {}

    def open(self, file: Path, text: str | None = None) -> None:
        text = file.read_text() if text is None else text
        self.documents[file] = Document(file.as_uri(), text, file.name, "python", file=str(file))
        self.workspace.opened(self.documents[file])

    def becomes(self, file: Path, text: str) -> None:
        before = self.documents[file]
        self.documents[file] = Document(before.uri, text, before.path, "python", file=before.file)
        self.workspace.changed(before, self.documents[file])

    def close(self, file: Path) -> None:
        self.workspace.closed(self.documents.pop(file))

    async def ask(self, file: Path) -> Mix:
        document = self.documents[file]
        return await self.workspace.snippets(document, Path(document.file), len(document.text))

    async def until(self, file: Path, holds: Callable[[str], bool]) -> str:
        """The snippets of a question, once they are as wanted: threads of a busy machine may be late."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds(shown := _shown(await self.ask(file))):
                await asyncio.sleep(0)
        return shown


def _shown(mix: Mix) -> str:
    return "\n".join(f"# {one.path}\n{one.text}" for one in mix.snippets)


def paths(mix: Mix) -> list[str]:
    return [one.path for one in mix.snippets]


Make = Callable[[Sequence[Path]], Workspace]


@pytest_asyncio.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    made: list[Workspace] = []

    def one(roots: Sequence[Path]) -> Workspace:
        made.append(Workspace(roots, tmp_path / "indexes"))
        return made[-1]

    yield one
    for workspace in made:
        await workspace.aclose()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "my proj", {"rates.py": RATES, "app.py": "x = old_rate(\n"})


@pytest_asyncio.fixture
async def editor(make: Make, root: Path) -> Typed:
    workspace = make([root])
    await workspace.build()
    return Typed(workspace)


async def test_unsaved_text_of_another_document_is_known_and_after_closing_the_file_counts_again(
    editor: Typed, root: Path
) -> None:
    editor.open(root / "rates.py")
    editor.open(root / "app.py")
    editor.becomes(root / "rates.py", RATES.replace("years", "months"))
    editor.becomes(root / "rates.py", RATES.replace("years", "weeks"))
    await editor.until(root / "app.py", lambda shown: "weeks" in shown and "years" not in shown)
    editor.close(root / "rates.py")
    await editor.until(root / "app.py", lambda shown: "weeks" not in shown and "years" in shown)


async def test_a_document_is_never_offered_to_itself_whatever_it_is_called(make: Make, tmp_path: Path) -> None:
    name = unicodedata.normalize("NFD", "café.py")
    root = write_tree(tmp_path / "w", {name: RATES, "other.py": "x = old_rate(2)\n" * 3})
    (tmp_path / "link").symlink_to("w")
    editor = Typed(make([tmp_path / "link"]))
    await editor.workspace.build()
    for file in (root / name, tmp_path / "link" / name, root / "café.py", tmp_path / "link" / "café.py"):
        editor.open(file, RATES + "print(old_rate(")
        assert "other.py" in await editor.until(file, lambda shown: "other.py" in shown)
        assert {unicodedata.normalize("NFC", path) for path in paths(await editor.ask(file))} == {"other.py"}


async def test_a_buffer_that_is_no_file_leaves_no_trace(editor: Typed, root: Path) -> None:
    document = Document("untitled:Untitled-1", RATES.replace("old_rate", "new_rate"), "", "python")
    editor.workspace.opened(document)
    editor.workspace.changed(document, Document(document.uri, "def newest_rate(): ...\n", "", "python"))
    editor.open(root / "app.py", "x = newest_rate(new_rate(old_rate(")
    shown = await editor.until(root / "app.py", lambda shown: "old_rate" in shown)
    assert "new_rate" not in shown
    editor.workspace.closed(document)


async def test_what_was_changed_elsewhere_is_told_but_nothing_of_ignored_files(make: Make, tmp_path: Path) -> None:
    tree = {"rates.py": RATES, "app.py": "", ".gitignore": "hidden.py\n", "hidden.py": "one = 1\n"}
    root = write_tree(tmp_path / "w", tree)
    editor = Typed(make([root]))
    await editor.workspace.build()
    for name in ("rates.py", "hidden.py", "app.py"):
        editor.open(root / name)
    editor.becomes(root / "hidden.py", "one = 1\nHIDDEN = 2\n")
    editor.becomes(root / "rates.py", RATES.replace("years", "num_months"))
    editor.becomes(root / "app.py", "print(zzz")
    shown = await editor.until(root / "app.py", lambda shown: "num_months" in shown)
    assert "HIDDEN" not in shown
    assert {one.source for one in (await editor.ask(root / "app.py")).snippets} >= {"edits"}


async def test_a_credential_that_was_just_typed_is_covered(editor: Typed, root: Path) -> None:
    for name in ("rates.py", "app.py"):
        editor.open(root / name)
    secret = "ghp_" + "a8Kd02mXq71LbWzR5vTcY93nHsEjUf46PgQo"
    editor.becomes(root / "rates.py", f"{RATES}KEY_OF_RATES = '{secret}'\n")
    editor.becomes(root / "app.py", "print(KEY_OF_RATES")
    shown = await editor.until(root / "app.py", lambda shown: "KEY_OF_RATES" in shown)
    assert secret not in shown


async def test_recent_files_are_told_the_latest_first_those_that_may_leave(editor: Typed, root: Path) -> None:
    write_tree(root, {"b.py": "", "c.py": "", ".env": "A=1\n"})
    for name in ("c.py", "b.py", ".env", "rates.py", "app.py"):
        editor.open(root / name)
    editor.close(root / "b.py")
    await editor.ask(root / "c.py")
    workspace, document = editor.workspace, editor.documents[root / "app.py"]
    (own,) = workspace._roots.all()
    asked = workspace._asked_of(own, workspace._question(document, str(root / "app.py"), 0))
    assert asked.recent == ("c.py", "rates.py", "b.py")


async def test_a_renamed_file_and_folder_take_their_history_along(make: Make, tmp_path: Path) -> None:
    root = write_tree(tmp_path / "w", {"pkg/rates.py": RATES, "app.py": ""})
    editor = Typed(make([root]))
    await editor.workspace.build()
    for name in ("pkg/rates.py", "app.py"):
        editor.open(root / name)
    editor.becomes(root / "pkg/rates.py", RATES.replace("years", "num_months"))
    (root / "pkg").rename(root / "kit")
    editor.workspace.renamed(str(root / "pkg"), str(root / "kit"))
    editor.open(root / "kit/rates.py", RATES.replace("years", "num_months"))
    editor.becomes(root / "app.py", "print(zzz")
    await editor.until(root / "app.py", lambda shown: "# kit/rates.py" in shown and "pkg" not in shown)
    editor.workspace.deleted(str(root / "kit"))
    await editor.until(root / "app.py", lambda shown: "kit/rates.py" not in shown)


def write_roots(folder: Path) -> list[Path]:
    """Three roots, the last one inside the second, each with a file of the same name."""
    files = {
        "api/src/main.py": "def serve_api(port_of_api: int): ...\n",
        "web/src/main.py": "def serve_web(port_of_web: int): ...\n",
        "web/plugins/x/src/main.py": "def serve_plugin(port_of_plugin: int): ...\n",
        "web/.gitignore": "ignored.py\n",
        "api/ignored.py": "def of_api_alone(): ...\n",
        "web/ignored.py": "def of_web_alone(): ...\n",
    }
    write_tree(folder, files)
    return [folder / "api", folder / "web", folder / "web/plugins/x"]


CALLS = "serve_api()\nserve_web()\nserve_plugin()\nof_api_alone()\nof_web_alone()\n"


async def test_each_root_has_its_own_rules_and_paths_tell_roots_apart(make: Make, tmp_path: Path) -> None:
    _, web, plugin = roots = write_roots(tmp_path)
    editor = Typed(make(roots))
    await editor.workspace.build()
    for root, path, others in ((web, "a.py", {"api/", "x/"}), (plugin, "b.py", {"api/", "web/"})):
        editor.open(root / path, CALLS)
        shown = await editor.until(root / path, lambda shown, others=others: all(f"# {one}" in shown for one in others))  # type: ignore[misc]
        assert "# src/main.py" in shown
        assert "def of_web_alone" not in shown
        assert "def of_api_alone" in shown
    own = paths(await editor.ask(plugin / "b.py"))
    assert own.index("src/main.py") < own.index("web/src/main.py")


async def test_a_root_that_goes_is_used_no_more_and_comes_again_without_building_the_others(
    make: Make, tmp_path: Path
) -> None:
    api, web, plugin = roots = write_roots(tmp_path)
    workspace = make(roots)
    editor = Typed(workspace)
    await workspace.build()
    editor.open(api / "a.py", CALLS)
    before = {index.root: index for index in workspace.indexes}
    await editor.until(api / "a.py", lambda shown: "serve_web" in shown)
    workspace.use([api, plugin])
    assert "serve_web" not in _shown(await editor.ask(api / "a.py"))
    built: list[int] = []
    await workspace.build(lambda done, total: built.append(done))
    assert built == []
    workspace.use(roots)
    await workspace.build()
    await editor.until(api / "a.py", lambda shown: "serve_web" in shown)
    assert all(index is before[index.root] for index in workspace.indexes if index.root != str(web))


async def test_files_of_a_root_inside_go_to_it_and_come_back(make: Make, tmp_path: Path) -> None:
    _, web, plugin = write_roots(tmp_path)
    workspace = make([web])
    editor = Typed(workspace)
    await workspace.build()
    editor.open(web / "a.py", CALLS)
    await editor.until(web / "a.py", lambda shown: "# plugins/x/src/main.py" in shown)
    workspace.use([web, plugin])
    await workspace.build()
    shown = await editor.until(web / "a.py", lambda shown: "# x/src/main.py" in shown)
    assert "# plugins/x/src/main.py" not in shown
    workspace.use([web])
    await workspace.build()
    await editor.until(web / "a.py", lambda shown: "# plugins/x/src/main.py" in shown)


async def test_without_a_folder_there_is_no_snippet_and_no_error(make: Make, root: Path) -> None:
    editor = Typed(make([]))
    await editor.workspace.build()
    editor.open(root / "app.py")
    editor.becomes(root / "app.py", "y")
    assert paths(await editor.ask(root / "app.py")) == []


async def test_other_rules_apply_at_once_and_are_taken_back(editor: Typed, root: Path) -> None:
    editor.open(root / "app.py")
    await editor.until(root / "app.py", lambda shown: "old_rate" in shown)
    editor.workspace.use([root], Exclusions(("rates.py",)))
    assert paths(await editor.ask(root / "app.py")) == []
    editor.workspace.use([root])
    await editor.workspace.build()
    await editor.until(root / "app.py", lambda shown: "old_rate" in shown)
    editor.workspace.use([root], is_indexed=False)
    assert paths(await editor.ask(root / "app.py")) == []


async def test_a_question_does_not_wait_for_a_build(make: Make, root: Path) -> None:
    workspace = make([root])
    editor = Typed(workspace)
    editor.open(root / "rates.py")
    editor.open(root / "app.py")
    is_building, may_go_on = threading.Event(), threading.Event()

    def progress(done: int, total: int) -> None:
        is_building.set()
        may_go_on.wait(PATIENCE_S)

    building = asyncio.create_task(workspace.build(progress))
    await asyncio.to_thread(is_building.wait, PATIENCE_S)
    await editor.until(root / "app.py", lambda shown: "old_rate" in shown)
    assert not building.done()
    may_go_on.set()
    await building


async def test_a_build_can_be_cancelled(make: Make, tmp_path: Path) -> None:
    workspace = make([write_tree(tmp_path / "w", {"a.py": "x = 1\n"})])
    workspace.cancel_build()
    await workspace.build()
    assert workspace.indexes[0].status().num_files == 0


async def test_an_index_that_cannot_be_written_is_told_once_and_open_documents_still_count(
    tmp_path: Path, root: Path
) -> None:
    workspace = Workspace([root], root / "app.py" / "indexes")
    (problem,) = await workspace.build()
    assert "index is off" in problem
    assert await workspace.build() == []
    editor = Typed(workspace)
    editor.open(root / "rates.py")
    editor.open(root / "app.py")
    await editor.until(root / "app.py", lambda shown: "old_rate" in shown)
    await workspace.aclose()


async def test_changes_on_the_disk_that_the_editor_tells_of_are_followed(editor: Typed, root: Path) -> None:
    editor.open(root / "app.py")
    write_tree(root, {"rates.py": RATES.replace("years", "weeks")})
    editor.workspace.files_changed([str(root / "rates.py"), "/nowhere/else.py", "a\0b"])
    await editor.until(root / "app.py", lambda shown: "weeks" in shown)


async def test_nothing_goes_wrong_after_the_end(editor: Typed, root: Path) -> None:
    editor.open(root / "rates.py")
    editor.open(root / "app.py")
    await editor.workspace.aclose()
    editor.becomes(root / "rates.py", "x")
    editor.workspace.files_changed([str(root / "rates.py")])
    editor.close(root / "rates.py")
    assert paths(await editor.ask(root / "app.py")) == []
    await editor.workspace.aclose()
