import errno
import itertools
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_complete.context.index import Index
from lsp_complete.context.policy import Policy
from lsp_complete.context.watch import MAX_DELAY_S, POLL_S, QUIET_S, Debounce, Watcher
from lsp_complete.context.watch_backends import Backend, Changed, system_backend
from tests.context.trees import write_tree

NO_ENTERPRISE = Path("/nonexistent/policy.toml")


class Kernel:
    """A backend that has only so many watches."""

    is_recursive = False

    def __init__(self, num_watches: int = 1000, number: int = errno.ENOSPC) -> None:
        self.num_watches = num_watches
        self.number = number
        self.folders: list[str] = []
        self.is_closed = False
        self.changed: Changed = lambda path: None

    def make(self, root: str, changed: Changed) -> Backend:
        if self.num_watches < 0:
            raise OSError(self.number, os.strerror(self.number))
        self.changed = changed
        return self

    def watch(self, folder: str) -> None:
        if len(self.folders) >= self.num_watches:
            raise OSError(self.number, os.strerror(self.number))
        self.folders.append(folder)

    def unwatch(self, folder: str) -> None:
        self.folders.remove(folder)

    def close(self) -> None:
        self.folders.clear()
        self.is_closed = True


class Signalling:
    """The system's backend; says when the first watch is placed."""

    def __init__(self, root: str, changed: Changed, placed: threading.Event) -> None:
        self.backend = system_backend(root, changed)
        self.is_recursive = self.backend.is_recursive
        self.placed = placed

    def watch(self, folder: str) -> None:
        self.backend.watch(folder)
        self.placed.set()

    def unwatch(self, folder: str) -> None:
        self.backend.unwatch(folder)

    def close(self) -> None:
        self.backend.close()


class Watched:
    """A watcher of a tree, driven by a clock in hand. Names are relative to the root."""

    def __init__(self, root: Path, backend: Callable[[str, Changed], Backend]) -> None:
        self.root = root
        self.now_s = 100.0
        self.reports: list[list[str]] = []
        policy = Policy([root], enterprise_file=NO_ENTERPRISE, clock=lambda: self.now_s)
        self.watcher = Watcher(str(root), policy, self._report, backend, lambda: self.now_s)
        self.watcher.open()

    def after(self, seconds: float) -> list[list[str]]:
        self.now_s += seconds
        self.watcher.tick(self.now_s)
        reports, self.reports = self.reports, []
        return reports

    def _report(self, paths: set[str]) -> None:
        self.reports.append(sorted(os.path.relpath(path, self.root) for path in paths))


def names(root: Path, folders: list[str]) -> list[str]:
    return sorted(os.path.relpath(folder, root) for folder in folders)


TREE = {
    "a/x.py": "",
    "b/c/y.py": "",
    "node_modules/d/z.js": "",
    ".git/objects/e": "",
    ".venv/lib/f.py": "",
    "gen/g.py": "",
    ".gitignore": "gen/\n",
}


def test_paths_are_reported_when_it_is_quiet_or_has_lasted_too_long() -> None:
    debounce = Debounce()
    debounce.add("a", 0.0)
    debounce.add("b", QUIET_S / 2)
    assert debounce.take(QUIET_S) == set()
    assert debounce.take(2 * QUIET_S) == {"a", "b"}
    assert debounce.take(3 * QUIET_S) == set()
    now_s = 10.0
    while now_s < 10.0 + MAX_DELAY_S:
        debounce.add("c", now_s)
        assert debounce.take(now_s) == set()
        now_s += QUIET_S / 2
    debounce.add("c", now_s)
    assert debounce.take(now_s) == {"c"}


def test_ignored_folders_and_loops_are_not_watched(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    (tmp_path / "a" / "loop").symlink_to("..")
    kernel = Kernel()
    watched = Watched(tmp_path, kernel.make)
    assert names(tmp_path, kernel.folders) == [".", "a", "b", "b/c"]
    kernel.changed(str(tmp_path / "a/x.py"))
    kernel.changed(str(tmp_path / "node_modules/d/z.js"))
    kernel.changed(str(tmp_path / "gen/g.py"))
    assert watched.after(2 * QUIET_S) == [["a/x.py"]]


def test_a_folder_that_comes_is_watched_and_one_that_goes_is_released(tmp_path: Path) -> None:
    kernel = Kernel()
    watched = Watched(write_tree(tmp_path, TREE), kernel.make)
    write_tree(tmp_path, {"new/deep/z.py": "", "new/node_modules/q.js": ""})
    kernel.changed(str(tmp_path / "new"))
    assert watched.after(2 * QUIET_S) == [["new"]]
    assert names(tmp_path, kernel.folders) == [".", "a", "b", "b/c", "new", "new/deep"]
    (tmp_path / "b").rename(tmp_path / "new" / "b")
    kernel.changed(str(tmp_path / "b"))
    kernel.changed(str(tmp_path / "new" / "b"))
    assert watched.after(2 * QUIET_S) == [["b", "new/b"]]
    assert names(tmp_path, kernel.folders) == [".", "a", "new", "new/b", "new/b/c", "new/deep"]


@pytest.mark.parametrize(("num_watches", "number"), [(3, errno.ENOSPC), (-1, errno.EMFILE)])
def test_where_watches_run_out_the_rest_is_polled_with_one_warning(
    tmp_path: Path, num_watches: int, number: int
) -> None:
    write_tree(tmp_path, TREE)
    watched = Watched(tmp_path, Kernel(num_watches, number).make)
    assert len(watched.watcher.warnings) == 1
    assert os.strerror(number) in watched.watcher.warnings[0]
    write_tree(tmp_path, {"b/c/y.py": "changed", "b/c/new.py": ""})
    assert watched.after(POLL_S) == []
    assert watched.after(2 * QUIET_S) == [["b/c/new.py", "b/c/y.py"]]
    assert watched.after(POLL_S) == []
    assert watched.after(2 * QUIET_S) == []


def test_a_limit_that_is_reached_later_is_met_by_polling_too(tmp_path: Path) -> None:
    kernel = Kernel(num_watches=10)
    watched = Watched(write_tree(tmp_path, TREE), kernel.make)
    assert watched.watcher.warnings == ()
    write_tree(tmp_path, {f"new/d{n}/x.py": "" for n in range(500)})
    kernel.changed(str(tmp_path / "new"))
    assert watched.after(2 * QUIET_S) == [["new"]]
    assert len(kernel.folders) == 10
    assert len(watched.watcher.warnings) == 1
    write_tree(tmp_path, {"new/d499/x.py": "changed"})
    watched.after(POLL_S)
    assert watched.after(2 * QUIET_S) == [["new/d499/x.py"]]


def test_what_is_reported_is_what_the_index_follows(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "w", {"a/x.py": "def one(): ...\n"})
    policy = Policy([root], enterprise_file=NO_ENTERPRISE, clock=itertools.count().__next__)
    index = Index.open(root, tmp_path / "indexes", policy)
    index.build()
    kernel = Kernel()
    watcher = Watcher(str(root), policy, index.update_files, kernel.make, lambda: 0.0)
    watcher.open()
    (root / "a").rename(root / "b")
    kernel.changed(str(root / "a"))
    kernel.changed(str(root / "b"))
    watcher.tick(1.0)
    assert [found.path for found in index.definitions("one")] == ["b/x.py"]
    watcher.stop()
    index.close()


def test_all_watches_are_released_when_it_stops(tmp_path: Path) -> None:
    kernel = Kernel()
    watched = Watched(write_tree(tmp_path, TREE), kernel.make)
    watched.watcher.stop()
    assert (kernel.folders, kernel.is_closed) == ([], True)


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_the_kernel_tells_of_files_and_of_folders_that_come(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    seen: set[str] = set()
    arrived = threading.Event()
    wanted = {str(tmp_path / "a/x.py"), str(tmp_path / "new")}

    def changed(path: str) -> None:
        seen.add(path)
        if wanted <= seen:
            arrived.set()

    backend = system_backend(str(tmp_path), changed)
    backend.watch(str(tmp_path))
    backend.watch(str(tmp_path / "a"))
    write_tree(tmp_path, {"a/x.py": "changed", "new/": ""})
    assert arrived.wait(10)
    backend.unwatch(str(tmp_path / "a"))
    backend.close()
    with pytest.raises(OSError):
        system_backend(str(tmp_path), changed).watch(str(tmp_path / "nowhere"))


def test_a_change_on_the_disk_reaches_the_one_who_asked(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    opened, reported = threading.Event(), threading.Event()
    policy = Policy([tmp_path], enterprise_file=NO_ENTERPRISE)

    watcher = Watcher(
        str(tmp_path), policy, lambda paths: reported.set(), lambda root, changed: Signalling(root, changed, opened)
    )
    watcher.start()
    assert opened.wait(10)
    write_tree(tmp_path, {"new.py": ""})
    assert reported.wait(10)
    watcher.stop()
