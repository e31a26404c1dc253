import errno
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lsp_complete.context import parse
from lsp_complete.context.answers import IndexState
from lsp_complete.context.exclusions import Exclusions
from lsp_complete.context.files import FileText, Skipped, read_file
from lsp_complete.context.index import Index
from lsp_complete.context.indexer import Hooks
from lsp_complete.context.policy import Policy
from lsp_complete.context.workers import Limits
from tests.context.test_walk import Disk
from tests.context.trees import NO_ENTERPRISE, Open, age, paths_of, write_tree

ONE_THREAD = Limits(min_files=1000)
TREE = {
    "app.py": "from rates import old_rate\n\nprint(old_rate(3))\n",
    "rates.py": "import math\n\n\ndef old_rate(years):\n    return math.exp(years)\n\n\nclass Rate:\n    pass\n",
    "style.css": ".rate_table { color: red }\n",
}


def test_what_the_tree_defines_imports_and_mentions_is_found(tmp_path: Path, open_index: Open) -> None:
    index = open_index(write_tree(tmp_path / "w", TREE))
    status = index.build()
    assert (status.state, status.num_files, status.warnings) == (IndexState.READY, 3, ())
    found = index.definitions("old_rate")
    assert [(one.path, one.language, one.definition.signature) for one in found] == [
        ("rates.py", "python", "def old_rate(years)")
    ]
    assert [one.name for one in index.definitions_in("rates.py")] == ["old_rate", "Rate"]
    assert [one.module for one in index.imports_of("app.py")] == ["rates"]
    assert {(one.path, one.line) for one in index.references("old_rate")} == {
        ("app.py", 0),
        ("app.py", 2),
        ("rates.py", 3),
    }
    assert index.has_file("style.css")
    assert not index.has_file("nowhere.py")


def test_a_file_without_a_grammar_is_found_by_its_words(tmp_path: Path, open_index: Open) -> None:
    index = open_index(write_tree(tmp_path / "w", TREE))
    index.build()
    assert index.search(["rateTable"])[0].path == "style.css"
    assert {found.path for found in index.search(["rate_table"], exclude={"style.css"})} == {"app.py", "rates.py"}


def test_names_in_any_script_can_be_asked_for(tmp_path: Path, open_index: Open) -> None:
    index = open_index(write_tree(tmp_path / "w", {"a.py": "def größe_𝒳(): ...\n"}))
    index.build()
    for name in ("größe", "", '"', "a\0b", "*", "x" * 10_000):
        index.definitions(name)
        index.references(name)
        index.search([name])
    assert [found.line for found in index.references("größe_𝒳")] == [0]


def test_encodings_and_marks_do_not_hide_symbols(tmp_path: Path, open_index: Open) -> None:
    tree = {
        "legacy.py": "# prix en francs, à la fin\ndef old_rate(): ...\n".encode("latin-1"),
        "bom.py": "class Marked: ...\n".encode("utf-8-sig"),
        "utf16.py": "class Wide: ...\n".encode("utf-16"),
        "ok.py": b"class Fine: ...\n",
    }
    index = open_index(write_tree(tmp_path / "w", tree))
    assert not index.build().warnings
    assert [paths_of(index, name) for name in ("old_rate", "Marked", "Wide", "Fine")] == [
        ["legacy.py"],
        ["bom.py"],
        ["utf16.py"],
        ["ok.py"],
    ]
    assert index.definitions("Marked")[0].definition.start == 0


def test_useless_files_are_counted_and_not_opened_again(tmp_path: Path, open_index: Open) -> None:
    tree: dict[str, str | bytes] = {f"f{n}.py": f"def f{n}(): ...\n" for n in range(10)}
    tree |= {"one_line.js": "a=1;" * 28_000, "film.py": b"\0\0\0\x18ftyp", "big.txt": b"x\n" * 600_000}
    root = write_tree(tmp_path / "w", tree)
    age(root)
    os.mkfifo(root / "pipe.py")
    index = open_index(root)
    status = index.build()
    assert status.num_files == 10
    assert status.skipped == {"a line too long": 1, "binary": 1, "too large": 1, "not a regular file": 1}
    index.update_files(["f1.py"])
    assert index.status().skipped == status.skipped
    parsed: list[int] = []
    index.build(Hooks(progress=lambda done, total: parsed.append(done)))
    assert parsed == []


def test_an_update_follows_changes_deletions_and_renames(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", {**TREE, "old/a.py": "def moved(): ...\n"})
    index = open_index(root)
    index.build()
    write_tree(root, {"rates.py": "def new_rate(): ...\n"})
    (root / "old").rename(root / "new")
    (root / "app.py").unlink()
    index.update_files([str(root / "rates.py"), "old", "new", "app.py"])
    assert paths_of(index, "old_rate") == []
    assert paths_of(index, "new_rate") == ["rates.py"]
    assert paths_of(index, "moved") == ["new/a.py"]
    assert index.imports_of("app.py") == []


def test_a_rewrite_with_the_same_size_and_an_old_time_is_noticed_by_its_time(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", {"a.py": "def one(): ...\n"})
    index = open_index(root)
    index.build()
    write_tree(root, {"a.py": "def two(): ...\n"})
    os.utime(root / "a.py", ns=(1, 1))
    index.build()
    assert (paths_of(index, "one"), paths_of(index, "two")) == ([], ["a.py"])


def test_a_rewrite_within_one_step_of_the_clock_is_noticed(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", {"a.py": "def one(): ...\n"})
    then_ns = time.time_ns() + 3_600_000_000_000  # no build is so slow that this is not just now
    os.utime(root / "a.py", ns=(then_ns, then_ns))
    index = open_index(root)
    index.build()
    write_tree(root, {"a.py": "def two(): ...\n"})
    os.utime(root / "a.py", ns=(then_ns, then_ns))
    index.build()
    assert paths_of(index, "two") == ["a.py"]


def test_a_file_that_is_only_touched_is_not_parsed_again(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root)
    index.build()
    age(root)
    before = index.definitions("old_rate")
    for _ in range(2):
        index.build()
        assert index.definitions("old_rate") == before


def test_many_changes_at_once_are_one_walk(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", {f"a/f{n}.py": f"def f{n}(): ...\n" for n in range(250)})
    index = open_index(root)
    index.build()
    write_tree(root, {f"a/f{n}.py": f"def g{n}(): ...\n" for n in range(40)})
    index.update_files(f"a/f{n}.py" for n in range(250))
    assert (paths_of(index, "f39"), paths_of(index, "g39")) == ([], ["a/f39.py"])


def test_an_ignore_file_that_changes_takes_files_out_and_lets_them_in_again(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root)
    index.build()
    write_tree(root, {".gitignore": "rates.py\n"})
    index.update_files([".gitignore"])
    assert paths_of(index, "old_rate") == []
    (root / ".gitignore").unlink()
    index.update_files([".gitignore"])
    assert paths_of(index, "old_rate") == ["rates.py"]


def test_an_open_document_is_ahead_of_its_file(tmp_path: Path, open_index: Open) -> None:
    index = open_index(write_tree(tmp_path / "w", TREE))
    index.build()
    index.update_document("rates.py", "import json\ndef unsaved_rate(): ...\n")
    assert (paths_of(index, "old_rate"), paths_of(index, "unsaved_rate")) == ([], ["rates.py"])
    assert [one.module for one in index.imports_of("rates.py")] == ["json"]
    assert [one.path for one in index.references("unsaved_rate")] == ["rates.py"]
    assert index.search(["unsaved_rate"])[0].path == "rates.py"
    assert index.read("rates.py") == "import json\ndef unsaved_rate(): ...\n"
    index.close_document("rates.py")
    assert (paths_of(index, "old_rate"), paths_of(index, "unsaved_rate")) == (["rates.py"], [])


def test_what_the_policy_denies_is_neither_indexed_nor_read_nor_laid_over(tmp_path: Path, open_index: Open) -> None:
    tree = {**TREE, ".gitignore": "local_settings.py\n", "local_settings.py": "API_KEY = 1\ndef local(): ...\n"}
    index = open_index(write_tree(tmp_path / "w", {**tree, ".env": "KEY=1\n"}))
    index.build()
    index.update_document("local_settings.py", "def local(): ...\n")
    assert paths_of(index, "local") == []
    assert index.search(["API_KEY"]) == []
    assert index.read("local_settings.py") is None
    assert index.read(".env") is None
    assert index.read("../indexes") is None


def test_new_exclusions_apply_at_once(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    index = open_index(root)
    index.build()
    index.update_document("app.py", "def open_one(): ...\n")
    index.use_policy(Policy([root], Exclusions(("rates.py", "app.py")), enterprise_file=NO_ENTERPRISE))
    assert (paths_of(index, "old_rate"), paths_of(index, "open_one")) == ([], [])
    assert index.definitions_in("rates.py") == []
    assert index.build().num_files == 1


def test_what_was_indexed_under_other_settings_is_hidden_at_once(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    keeps = open_index(root)
    keeps.build()
    policy = Policy([root], Exclusions(("rates.py",)), enterprise_file=NO_ENTERPRISE)
    follows = Index.open(root, tmp_path / "indexes", policy)
    assert follows.build().state is IndexState.FOLLOWING
    assert (paths_of(follows, "old_rate"), follows.definitions_in("rates.py")) == ([], [])
    assert {one.path for one in follows.search(["old_rate"])} == {"app.py", "style.css"}
    assert not follows.has_file("rates.py")
    follows.close()


def test_nothing_outside_the_root_is_read(tmp_path: Path, open_index: Open) -> None:
    write_tree(tmp_path, {"outside/x.py": "def outside(): ...\n"})
    root = write_tree(tmp_path / "w", TREE)
    (root / "linked").symlink_to("../outside")
    index = open_index(root)
    index.build()
    for name in ("../outside/x.py", "linked/x.py", str(tmp_path / "outside/x.py"), "a\0b/c", "\ud800/x", ""):
        assert index.read(name) is None
        index.update_files([name])
        index.update_document(name, "def outside(): ...\n")
    assert paths_of(index, "outside") == []


def test_documents_may_change_in_several_threads_at_once(tmp_path: Path, open_index: Open) -> None:
    index = open_index(write_tree(tmp_path / "w", {}))
    with ThreadPoolExecutor(4) as pool:
        for n in range(40):
            pool.submit(index.update_document, f"f{n}.py", f"def f{n}(): ...\n")
    assert [paths_of(index, f"f{n}") for n in range(40)] == [[f"f{n}.py"] for n in range(40)]


def test_one_unreadable_part_leaves_the_rest_and_what_was_known_of_it(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", {"ok/a.py": "def a(): ...\n", "locked/b.py": "def b(): ...\n"})
    index = open_index(root)
    index.build()
    write_tree(root, {"ok/c.py": "def c(): ...\n"})
    status = index.build(Hooks(scandir=Disk({"locked": errno.EACCES}).scandir))
    assert (status.state, status.unreadable) == (IndexState.READY, {"locked": "Permission denied"})
    assert status.warnings == ("not read: locked: Permission denied",)
    assert [paths_of(index, name) for name in "abc"] == [["ok/a.py"], ["locked/b.py"], ["ok/c.py"]]
    assert not index.build().warnings


def test_a_file_that_cannot_be_opened_is_told_of_until_it_can(
    tmp_path: Path, open_index: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str) -> FileText | Skipped:
        if path.endswith("b.py"):
            raise PermissionError(errno.EPERM, "not permitted")
        return read_file(path)

    index = open_index(write_tree(tmp_path / "w", {f"{name}.py": f"def {name}(): ...\n" for name in "abc"}))
    with monkeypatch.context() as disk:
        disk.setattr(parse, "read_file", refused)
        status = index.build()
    assert (status.state, status.num_files) == (IndexState.READY, 2)
    assert status.warnings == ("not read: b.py: Operation not permitted",)
    assert (index.build().warnings, paths_of(index, "b")) == ((), ["b.py"])


def test_a_cancelled_build_goes_on_where_it_stopped(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", {f"f{n}.py": f"def f{n}(): ...\n" for n in range(150)})
    age(root)
    index = open_index(root)
    seen: list[tuple[int, int]] = []
    hooks = Hooks(lambda done, total: seen.append((done, total)), lambda: len(seen) > 0, limits=ONE_THREAD)
    assert index.build(hooks).state is IndexState.EMPTY
    assert seen == [(60, 150)]
    status = index.build(Hooks(lambda done, total: seen.append((done, total)), limits=ONE_THREAD))
    assert (status.state, status.num_files) == (IndexState.READY, 150)
    assert seen[1:] == [(60, 90), (90, 90)]


def test_the_index_grows_no_further_however_often_files_are_rewritten(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", {})
    index = open_index(root)
    sizes = []
    for generation in range(200):
        body = "".join(f"def f_{generation}_{n}(argument_{generation}):\n    return other_{n}\n" for n in range(8))
        write_tree(root, {f"f{n}.py": body for n in range(3)})
        sizes.append(index.build().num_bytes)
    assert index.status().num_definitions == 24
    assert sizes[-1] < 3 * sizes[5]


def test_names_of_files_that_are_no_text_are_counted(tmp_path: Path, open_index: Open) -> None:
    root = write_tree(tmp_path / "w", TREE)
    with open(os.fsencode(root) + b"/\xff.py", "w"):
        pass
    status = open_index(root).build()
    assert (status.num_files, status.skipped) == (3, {"a name that is no text": 1})


def test_text_that_cannot_be_encoded_does_no_harm(tmp_path: Path, open_index: Open) -> None:
    index = open_index(write_tree(tmp_path / "w", TREE))
    index.build()
    index.update_document("app.py", "def \ud800(): ...\n")
    assert (index.definitions("\ud800"), index.references("\ud800x"), index.search(["\ud800x"])) == ([], [], [])
    assert index.build().warnings == ()
