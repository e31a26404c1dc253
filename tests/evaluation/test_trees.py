import hashlib
import io
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_complete.evaluation.trees import DEVELOPMENT, TREES, Tree, TreeError, fetched, unpack

MEMBERS = {
    "package/src/a.ts": "export const a = 1\n",
    "package/src/inner/b.ts": "export const b = 1\n",
    "package/src/a.d.ts": "declare const a: number\n",
    "package/src/readme.md": "text\n",
    "package/dist/c.ts": "compiled\n",
    "package/src/../../../evil.ts": "evil\n",
    "/package/src/root.ts": "evil\n",
}


def tar_of(path: Path) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, text in MEMBERS.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
        link = tarfile.TarInfo("package/src/link.ts")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    return path


def wheel_of(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in MEMBERS.items():
            wheel.writestr(name, text)
    return path


@pytest.fixture(params=["tgz", "whl"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return {"tgz": tar_of, "whl": wheel_of}[request.param](tmp_path / f"p.{request.param}")


def tree_of(archive: Path) -> Tree:
    return Tree("p", "p", "1", hashlib.sha256(archive.read_bytes()).hexdigest(), "package/src")


def test_sources_below_the_folder_are_copied_and_nothing_else(archive: Path, tmp_path: Path) -> None:
    unpack(archive, tree_of(archive), tmp_path / "root")
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*") if path != archive}
    assert files == {"root/p/a.ts", "root/p/inner/b.ts"}


def test_another_archive_than_the_pinned_one_is_refused(archive: Path, tmp_path: Path) -> None:
    tree = replace(tree_of(archive), sha256="0" * 64)
    with pytest.raises(TreeError, match="expected 000"):
        unpack(archive, tree, tmp_path / "root")
    assert not (tmp_path / "root").exists()


def test_what_was_fetched_before_is_used_without_a_word(tmp_path: Path) -> None:
    tree = TREES[0]
    root = tmp_path / f"{tree.name}-{tree.version}-{tree.sha256[:8]}"
    root.mkdir()
    said: list[str] = []
    assert fetched(tree, tmp_path, said.append) == root
    assert said == []


def test_a_tree_that_cannot_be_had_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    tree = next(tree for tree in TREES if not tree.is_python)
    with pytest.raises(TreeError, match="npm"):
        fetched(tree, tmp_path, lambda line: None)
    assert list(tmp_path.iterdir()) == []


def test_there_are_three_trees_of_python_and_two_of_typescript_and_one_of_each_to_develop_on() -> None:
    assert [tree.is_python for tree in TREES] == [True, True, True, False, False]
    assert [tree.is_python for tree in DEVELOPMENT] == [True, False]
    assert len({tree.name for tree in (*TREES, *DEVELOPMENT)}) == 7
