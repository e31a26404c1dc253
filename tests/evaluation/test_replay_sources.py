"""What a replay types: pieces of files and changes of their history, each of which leads to the file as it is."""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_complete.evaluation.replay.sources import Task, tasks

LINES = st.lists(st.sampled_from(["def f(a, b):", "    return a + b", "", "x = f(1, 2)", "# é ü 😀 said"]), min_size=60)


def result(task: Task) -> str:
    text = task.before
    for change in task.changes:
        text = text[: change.start] + change.text + text[change.start + change.num_removed :]
    return text


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8", newline="")


def git(folder: Path, *arguments: str) -> None:
    names = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environ = {**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=folder, env=environ, check=True, capture_output=True)


@settings(max_examples=40, deadline=None)
@given(lines=LINES, seed=st.integers(0, 99))
def test_pieces_of_a_file_lead_back_to_it(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    text = "\n".join(lines) + "\n"
    write(folder, "a.py", text)
    for task in tasks(folder, random.Random(seed), 1000):
        assert task.after == text == result(task)
        assert (task.path, task.language) == ("a.py", "python")
        assert len(task.before) < len(text)


def test_the_files_are_those_of_the_language_of_most_of_the_tree(tmp_path: Path) -> None:
    write(tmp_path, "a.go", "package a\n" * 200)
    write(tmp_path, "b.py", "x = 1\n" * 150)
    assert {task.language for task in tasks(tmp_path, random.Random(1), 10_000)} == {"go"}


def test_the_same_seed_types_the_same(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, f"{number}.py", f"x = {number}\n" * 200)
    assert tasks(tmp_path, random.Random(3), 500) == tasks(tmp_path, random.Random(3), 500)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_changes_of_the_history_are_typed_and_nothing_of_the_repository_is_run(tmp_path: Path) -> None:
    old = "".join(f"line_{number} = {number}\n" for number in range(80))
    new = old.replace("line_7 = 7\n", "line_7 = seven()\nmore = 1\n").replace("line_50 = 50\n", "")
    git(tmp_path, "init", "-q")
    for text in (old, new):
        write(tmp_path, "a.py", text)
        git(tmp_path, "add", "a.py")
        git(tmp_path, "commit", "-qm", "x")
    ran = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\n")
    script.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "diff.external"):
        git(tmp_path, "config", name, str(script))
    (task,) = tasks(tmp_path, random.Random(1), 20)
    assert (task.before, task.after) == (old, new)
    assert result(task) == new
    assert [change.num_removed > 0 for change in task.changes] == [True, True]
    assert not ran.exists()
