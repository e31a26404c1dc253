import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_complete.context import heir, store
from lsp_complete.context.answers import IndexState
from lsp_complete.context.index import Index
from lsp_complete.context.policy import Policy
from lsp_complete.context.store import database_file, schema_version
from lsp_complete.text.languages import grammar_folder
from tests.context.trees import NO_ENTERPRISE, Open, paths_of, write_tree

TREE = {
    "app.py": "from rates import old_rate\n\nprint(old_rate(3))\n",
    "rates.py": "def old_rate(years): ...\n",
    "style.css": ".rate_table { color: red }\n",
}


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another editor's process, which has indexed half of the tree and is in the middle of a transaction."""
    root = write_tree(tmp_path / "w", TREE)
    arguments = [sys.executable, "-c", _HOLDER, str(root), str(tmp_path / "indexes")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the middle of a transaction\n"
        write_tree(root, {"unseen.py": "def unseen(): ...\n"})
        yield process
        process.kill()


_HOLDER = """
import sys, time
from pathlib import Path
from lsp_complete.context.index import Index
from lsp_complete.context.policy import Policy
index = Index.open(sys.argv[1], sys.argv[2], Policy([sys.argv[1]], enterprise_file=Path("/nonexistent")))
index.build()
index._keeper.store.writer.execute("BEGIN IMMEDIATE")
index._keeper.store.writer.execute("DELETE FROM files")
print("in the middle of a transaction", flush=True)
time.sleep(600)
"""


def test_of_two_processes_one_writes_and_both_answer(
    tmp_path: Path, open_index: Open, holder: subprocess.Popen[str]
) -> None:
    index = open_index(tmp_path / "w")
    assert index.build().state is IndexState.FOLLOWING
    index.update_files(["unseen.py"])
    assert (paths_of(index, "old_rate"), paths_of(index, "unseen")) == (["rates.py"], [])
    index.update_document("app.py", "def still_works(): ...\n")
    assert paths_of(index, "still_works") == ["app.py"]
    assert index.status().warnings == ()


def test_another_workspace_in_the_same_folder_is_not_disturbed(
    tmp_path: Path, open_index: Open, holder: subprocess.Popen[str]
) -> None:
    assert open_index(write_tree(tmp_path / "other", TREE)).build().state is IndexState.READY


def test_who_is_left_takes_over_by_itself_and_does_what_was_left_undone(
    tmp_path: Path, open_index: Open, holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heir, "PERIOD_S", 0.01)
    index = open_index(tmp_path / "w")
    assert index.build().state is IndexState.FOLLOWING
    holder.kill()
    waiting = index._heir._thread
    assert waiting is not None
    waiting.join(timeout=30)
    assert (index.status().state, index.status().warnings) == (IndexState.READY, ())
    assert (paths_of(index, "old_rate"), paths_of(index, "unseen")) == (["rates.py"], ["unseen.py"])


def test_a_closed_index_inherits_nothing(tmp_path: Path, open_index: Open, holder: subprocess.Popen[str]) -> None:
    index = open_index(tmp_path / "w")
    index.build()
    index.close()
    waiting = index._heir._thread
    assert waiting is not None
    waiting.join(timeout=30)
    assert not waiting.is_alive()


def test_a_changed_query_or_language_makes_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammars = Path(shutil.copytree(grammar_folder(), tmp_path / "grammars"))
    monkeypatch.setattr(store, "grammar_folder", lambda: grammars)
    versions = [schema_version.__wrapped__()]
    for name in ("lua/symbols.scm", "lua/language.toml"):
        (grammars / name).write_text((grammars / name).read_text(encoding="utf-8") + "\n", encoding="utf-8")
        versions.append(schema_version.__wrapped__())
    assert versions[0] == schema_version()
    assert len(set(versions)) == 3


def test_a_look_takes_no_lease(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root)
    index.build()
    index.close()
    policy = Policy([root], enterprise_file=NO_ENTERPRISE)
    look = Index.open(root, tmp_path / "indexes", policy, may_write=False)
    assert (look.status().state, look.status().num_files) == (IndexState.READY, 3)
    assert open_index(root).build().state is IndexState.READY
    look.close()


def test_a_writer_without_a_lease_is_waited_out_without_a_word(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root)
    index.build()
    write_tree(root, {"new.py": "def new(): ...\n"})
    other = sqlite3.connect(index.status().database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert index.build().warnings == ()
    assert paths_of(index, "old_rate") == ["rates.py"]
    other.execute("ROLLBACK")
    other.close()
    index.build()
    assert paths_of(index, "new") == ["new.py"]


@pytest.mark.parametrize("content", [b"not a database" * 100, b""])
def test_a_damaged_database_is_set_aside_and_built_again(tmp_path: Path, open_index: Open, content: bytes) -> None:
    root = write_tree(tmp_path / "w", TREE)
    file = database_file(tmp_path / "indexes", str(root))
    write_tree(tmp_path, {f"indexes/{file.name}": content})
    index = open_index(root)
    assert index.build().state is IndexState.READY
    assert paths_of(index, "old_rate") == ["rates.py"]
    assert Path(f"{file}.aside").exists() is bool(content)
    assert len(index.status().warnings) == (1 if content else 0)


def test_a_database_that_breaks_while_it_is_used_is_set_aside(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root)
    database = Path(index.build().database)
    other = sqlite3.connect(database)
    other.execute("DROP TABLE definitions")
    other.commit()
    other.close()
    assert paths_of(index, "old_rate") == []
    assert index.build().state is IndexState.READY
    assert paths_of(index, "old_rate") == ["rates.py"]
    assert Path(f"{database}.aside").exists()


def test_a_newer_database_is_set_aside_and_those_who_read_it_go_on(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root)
    database = index.build().database
    index.close()
    newer = sqlite3.connect(database)
    newer.execute(f"PRAGMA user_version = {schema_version() + 1}")
    newer.commit()
    again = open_index(root)
    assert again.build().state is IndexState.READY
    assert paths_of(again, "old_rate") == ["rates.py"]
    assert newer.execute("SELECT count(*) FROM files").fetchone() == (3,)
    newer.close()


def test_a_full_disk_switches_the_index_off_with_one_message(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root)
    index.build()
    writer = index._keeper.store.writer
    assert writer is not None
    writer.execute(f"PRAGMA max_page_count = {writer.execute('PRAGMA page_count').fetchone()[0]}")
    write_tree(root, {"big.py": "".join(f"def function_{n}_{n * n}(): ...\n" for n in range(9000))})
    for _ in range(2):
        status = index.build()
        assert status.state is IndexState.OFF
        assert status.warnings == ("the index cannot be written here (disk full or read-only)",)
    assert paths_of(index, "old_rate") == []
    index.update_document("app.py", "def still_works(): ...\n")
    assert paths_of(index, "still_works") == ["app.py"]


def test_a_folder_that_cannot_be_made_switches_the_index_off(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root, root / "app.py" / "indexes")
    assert index.build().state is IndexState.OFF
    assert len(index.status().warnings) == 1
