import multiprocessing
from pathlib import Path
from string import ascii_lowercase

import pytest

from lsp_complete.context import workers
from lsp_complete.context.answers import IndexState
from lsp_complete.context.indexer import Hooks
from lsp_complete.context.parse import ParsedFile, Unreadable
from lsp_complete.context.workers import Limits, Results, Work, parse_all
from tests.context.trees import Open, age, paths_of, write_tree

# tree-sitter looks at the clock between steps; here one step takes half a minute.
ENDLESS = ("".join(f"{letter}=>" for letter in ascii_lowercase) + "\n") * 250
ALWAYS_PROCESSES = Limits(min_files=0)


def work_of(root: Path) -> list[Work]:
    return [(path.name, b"", path.stat().st_size) for path in sorted(root.iterdir())]


def small_files(root: Path, count: int) -> Path:
    return write_tree(root, {f"f{n}.py": f"def f{n}(): ...\n" for n in range(count)})


def names(results: list[Results]) -> list[str]:
    return sorted(file.path for batch in results for file in batch if isinstance(file, ParsedFile))


def test_processes_find_what_one_thread_finds(tmp_path: Path) -> None:
    root = small_files(tmp_path / "my proj", 70)
    age(root)
    work = work_of(root)
    here, there = (
        [file for batch in parse_all(str(root), work, limits) for file in batch]
        for limits in (Limits(min_files=1000), ALWAYS_PROCESSES)
    )
    assert sorted(here, key=lambda file: file.path) == sorted(there, key=lambda file: file.path)


def test_worker_processes_make_the_index(tmp_path: Path, open_index: Open) -> None:
    index = open_index(small_files(tmp_path / "my proj", 70))
    assert index.build().num_files == 70
    assert paths_of(index, "f69") == ["f69.py"]


def test_a_file_that_takes_too_long_costs_itself_alone_and_only_once(tmp_path: Path, open_index: Open) -> None:
    root = small_files(tmp_path / "w", 10)
    write_tree(root, {"endless.java": ENDLESS})
    age(root)
    index = open_index(root)
    limits = Limits(max_file_s=0.3, min_files=0)
    status = index.build(Hooks(limits=limits))
    assert (status.state, status.num_files, status.skipped) == (IndexState.READY, 10, {"too slow to parse": 1})
    parsed: list[int] = []
    (root / "endless.java").touch()
    status = index.build(Hooks(progress=lambda done, total: parsed.append(total), limits=limits))
    assert (parsed, status.skipped) == ([1], {"too slow to parse": 1})
    write_tree(root, {"endless.java": "class Fixed {}\n"})
    assert index.build(Hooks(limits=limits)).skipped == {}
    assert paths_of(index, "Fixed") == ["endless.java"]


def test_a_worker_that_dies_costs_the_file_it_was_at(tmp_path: Path, open_index: Open) -> None:
    root = small_files(tmp_path / "w", 150)
    index = open_index(root)

    def kill_workers(done: int, total: int) -> None:
        if not killed:
            killed.extend(multiprocessing.active_children())
            for process in killed:
                process.kill()
                process.join()

    killed: list[multiprocessing.process.BaseProcess] = []
    status = index.build(Hooks(progress=kill_workers, limits=ALWAYS_PROCESSES))
    assert status.state is IndexState.READY
    assert killed
    assert set(status.unreadable.values()) <= {"No child processes"}
    assert status.num_files == 150 - len(status.unreadable) >= 150 - len(killed)
    assert index.build().num_files == 150


def test_no_process_is_left_when_a_build_is_given_up(tmp_path: Path) -> None:
    root = small_files(tmp_path / "w", 150)
    results = parse_all(str(root), work_of(root), ALWAYS_PROCESSES)
    next(results)
    assert multiprocessing.active_children()
    results.close()
    assert not multiprocessing.active_children()


def test_a_build_can_be_given_up_while_a_file_takes_long(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "w", {"endless.java": ENDLESS})
    results = parse_all(str(root), work_of(root), Limits(max_file_s=1e9, min_files=0))
    assert next(results) == []
    results.close()


def test_where_no_process_can_be_had_files_are_parsed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(root: str) -> None:
        raise BlockingIOError

    monkeypatch.setattr(workers, "_Worker", refused)
    root = small_files(tmp_path / "w", 70)
    assert len(names(list(parse_all(str(root), work_of(root))))) == 70


def test_paths_of_any_length_fit_into_the_pipes(tmp_path: Path) -> None:
    work: list[Work] = [(f"{n}" + "/long" * 700, b"", 0) for n in range(300)]
    results = [file for batch in parse_all(str(tmp_path), work, ALWAYS_PROCESSES) for file in batch]
    assert sum(isinstance(file, Unreadable) for file in results) == 300
