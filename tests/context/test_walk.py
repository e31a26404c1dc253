import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from lsp_complete.context.files import Skipped
from lsp_complete.context.policy import Policy, Reason
from lsp_complete.context.walk import Scandir, WalkReport, walk
from tests.context.trees import write_tree

NO_ENTERPRISE = Path("/nonexistent/policy.toml")


def walked(root: Path, scandir: Scandir = os.scandir, roots: tuple[Path, ...] = ()) -> tuple[list[str], WalkReport]:
    report = WalkReport()
    policy = Policy([root, *roots], enterprise_file=NO_ENTERPRISE)
    return [found.path for found in walk(str(root), policy, report, scandir)], report


class Disk:
    """A scandir that fails where it is told to, and counts."""

    def __init__(self, failures: dict[str, int]) -> None:
        self.failures = failures
        self.num_listed = 0

    def scandir(self, path: str) -> AbstractContextManager[Iterator["os.DirEntry[str]"]]:
        self.num_listed += 1
        name = path.rstrip("/").rpartition("/")[2]
        if name in self.failures:
            raise OSError(self.failures[name], "injected", path)
        return self._entries(path)

    @contextmanager
    def _entries(self, path: str) -> Iterator[Iterator["os.DirEntry[str]"]]:
        with os.scandir(path) as entries:
            yield (self._entry(entry) for entry in entries)

    def _entry(self, entry: "os.DirEntry[str]") -> "os.DirEntry[str]":
        return BadEntry(entry, self.failures[entry.name]) if entry.name in self.failures and entry.is_file() else entry  # type: ignore[return-value]


class BadEntry:
    def __init__(self, entry: "os.DirEntry[str]", number: int) -> None:
        self.name, self.path, self.number = entry.name, entry.path, number

    def is_symlink(self) -> bool:
        return False

    def is_dir(self, follow_symlinks: bool = True) -> bool:
        return False

    def stat(self, follow_symlinks: bool = True) -> os.stat_result:
        raise OSError(self.number, "injected", self.path)


def test_links_make_no_circle_lead_nowhere_outside_and_repeat_no_file(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "w", {f"{folder}/f{n}.py": "" for folder in "ab" for n in range(25)})
    write_tree(tmp_path / "outside", {"secret.py": ""})
    for name, target in {
        "a/loop": "..",
        "b/loop": "..",
        "out": "../outside",
        "dangling": "nowhere",
        "self": "self",
        "a/again.py": "f1.py",
        "b/again": "../a",
    }.items():
        (root / name).symlink_to(target)
    disk = Disk({})
    names, report = walked(root, disk.scandir)
    assert names == sorted(f"{folder}/f{n}.py" for folder in "ab" for n in range(25))
    assert disk.num_listed == 3
    assert report.skipped == {Skipped.SYMLINK: 7}


def test_one_unreadable_folder_does_not_end_the_walk(tmp_path: Path) -> None:
    names = ["gone/x.py", "locked/x.py", "ok1/a.py", "ok2/b.py", "ok2/eio.py"]
    write_tree(tmp_path, dict.fromkeys(names, ""))
    disk = Disk({"locked": errno.EACCES, "gone": errno.ENOENT, "eio.py": errno.EIO})
    found, report = walked(tmp_path, disk.scandir)
    assert found == ["ok1/a.py", "ok2/b.py"]
    assert report.unreadable == {"locked": errno.EACCES, "gone": errno.ENOENT, "ok2/eio.py": errno.EIO}
    found, report = walked(tmp_path)
    assert found == names
    assert not report.unreadable


def test_special_binary_generated_and_giant_files_are_not_opened(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.py": "", "a.png": "", "a.min.js": "", "big.txt": b"x\n" * 600_000})
    os.mkfifo(tmp_path / "pipe.py")
    names, report = walked(tmp_path)
    assert names == ["a.py"]
    assert report.skipped == {
        Skipped.BINARY: 1,
        Skipped.GENERATED: 1,
        Skipped.TOO_LARGE: 1,
        Skipped.NOT_A_FILE: 1,
    }


def test_excluded_folders_are_not_listed(tmp_path: Path) -> None:
    tree = {"node_modules/a/b.js": "", ".git/": "", "gen/x.py": "", ".gitignore": "gen/\n", ".env": "", "a.py": ""}
    disk = Disk({})
    names, report = walked(write_tree(tmp_path, tree), disk.scandir)
    assert names == [".gitignore", "a.py"]
    assert disk.num_listed == 1
    assert report.skipped == {Reason.BUILT_IN: 2, Reason.GIT: 1, Reason.SECRET: 1}


def test_the_files_of_a_nested_root_are_its_own(tmp_path: Path) -> None:
    write_tree(tmp_path, {"src/main": "", "plugins/x/src/main": "", "plugins/y/src/main": ""})
    assert walked(tmp_path, roots=(tmp_path / "plugins/x",))[0] == ["plugins/y/src/main", "src/main"]
    assert walked(tmp_path / "plugins/x", roots=(tmp_path,))[0] == ["src/main"]


def test_a_root_with_a_blank_in_its_name_is_walked(tmp_path: Path) -> None:
    assert walked(write_tree(tmp_path / "my proj", {"a b.py": ""}))[0] == ["a b.py"]


def test_a_root_that_is_not_there_is_reported(tmp_path: Path) -> None:
    assert walked(tmp_path / "nowhere")[1].unreadable == {".": errno.ENOENT}
