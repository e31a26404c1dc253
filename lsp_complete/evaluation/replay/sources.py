"""What is typed: pieces of the files of a tree that are taken out and written again, and the changes of its history.

A `Task` is a file, as it is and as it will be, and what is to be done in between from the top to the bottom. Files are
read; of a repository's git nothing is run but what reads objects, with its configuration and hooks kept out.
"""

import difflib
import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from lsp_complete.text.languages import language_of

# Shorter files hold nothing to complete; longer ones are written by programs.
LEAST_CHARACTERS, MOST_CHARACTERS = 800, 60_000
_MAX_LINE = 160
# What is written at one place: a few lines, or the end of one; and how many places of a file.
_NUM_LINES = (1, 12)
_NUM_PLACES = (2, 4)
_LINE_END_SHARE = 0.25
# A change of more lines is a move, or made by a tool.
_MAX_CHANGE_LINES = 40
_MAX_COMMITS = 400
_GIT_TIMEOUT_S = 20.0
_SKIPPED_FOLDERS = {".git", "node_modules", "__pycache__", "vendor", "dist", "build"}
_DIFF_LINE = re.compile(rb":\d+ \d+ ([0-9a-f]+) ([0-9a-f]+) M\t(.+)")


@dataclass(frozen=True, slots=True)
class Change:
    """At `start` of the text as all changes before this one have left it, `num_removed` characters give way to
    `text`."""

    start: int
    num_removed: int
    text: str


@dataclass(frozen=True, slots=True)
class Task:
    """`path` is relative to the tree. Applied in their order the changes make `after` of `before`."""

    path: str
    language: str
    before: str
    after: str
    changes: tuple[Change, ...]

    @property
    def num_characters(self) -> int:
        return sum(len(change.text) for change in self.changes)


def tasks(root: Path, rng: random.Random, num_characters: int) -> list[Task]:
    """So much to type in this tree, or as much as there is: changes of its history where it has one, else pieces of its
    files. No file comes twice."""
    paths = _files(root)
    rng.shuffle(paths)
    found: dict[str, Task] = {}
    pieces = (task for path in paths if path not in found and (task := _of_file(root, path, rng)))
    for task in chain(_of_history(root, paths), pieces):
        found[task.path] = task
        num_characters -= task.num_characters
        if num_characters <= 0:
            break
    return rng.sample(list(found.values()), len(found))


def _files(root: Path) -> list[str]:
    """The files of the tree's own language, that of most of its text."""
    sizes: Counter[str] = Counter()
    by_language: dict[str, list[str]] = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            language = language_of(name)
            if language.language_ids and not path.is_symlink():
                sizes[language.key] += path.stat().st_size
                by_language.setdefault(language.key, []).append(path.relative_to(root).as_posix())
    return by_language[sizes.most_common(1)[0][0]] if sizes else []


def _text(root: Path, path: str) -> str | None:
    try:
        return _fit((root / path).read_bytes())
    except OSError:
        return None


def _fit(data: bytes) -> str | None:
    """The text of a file that a person may have typed."""
    try:
        text = data.decode("utf-8")
    except ValueError:
        return None
    is_fit = LEAST_CHARACTERS <= len(text) <= MOST_CHARACTERS and "\r" not in text and not text.startswith("\ufeff")
    return text if is_fit and max(map(len, text.split("\n"))) <= _MAX_LINE else None


def _of_file(root: Path, path: str, rng: random.Random) -> Task | None:
    text = _text(root, path)
    spans = _spans(text, rng) if text else []
    if text is None or not spans:
        return None
    changes, before, done = [], "", 0
    for start, end in spans:
        before += text[done:start]
        changes.append(Change(start, 0, text[start:end]))
        done = end
    language = language_of(path).language_ids[0]
    return Task(path, language, before + text[done:], text, tuple(changes))


def _spans(text: str, rng: random.Random) -> list[tuple[int, int]]:
    """Places that are written again, from the top to the bottom, each at its distance from the next."""
    lines = [match.span() for match in re.finditer(r"[^\n]*\n", text)]
    num = rng.randint(*_NUM_PLACES)
    spans, free = [], 1
    for first in sorted(rng.sample(range(1, len(lines)), min(num, len(lines) - 1))):
        if first < free:
            continue
        last = min(len(lines) - 1, first + rng.randint(*_NUM_LINES) - 1)
        span = _line_end(text, lines[first], rng) if rng.random() < _LINE_END_SHARE else None
        span = span or (lines[first][0] - 1, lines[last][1] - 1)
        if text[slice(*span)].strip():
            spans.append(span)
        free = last + 2
    return spans


def _line_end(text: str, line: tuple[int, int], rng: random.Random) -> tuple[int, int] | None:
    """From the border of a token in the line to its end, as where somebody writes a line anew."""
    borders = [line[0] + match.start() for match in re.finditer(r"\b\w", text[line[0] : line[1]])]
    return (rng.choice(borders[1:]), line[1] - 1) if len(borders) > 2 else None


def _of_history(root: Path, paths: list[str]) -> Iterator[Task]:
    """The newest change of each file, where the tree is the top of a repository."""
    if not (root / ".git").exists():
        return
    wanted, done = set(paths), set[str]()
    for commit in _git(root, "rev-list", "--no-merges", f"--max-count={_MAX_COMMITS}", "HEAD").split():
        for match in _DIFF_LINE.finditer(_git(root, "diff-tree", "-r", "--no-commit-id", commit.decode())):
            old, new, name = match[1].decode(), match[2].decode(), os.fsdecode(match[3])
            if name in wanted and name not in done:
                done.add(name)
                before, after = (_fit(_git(root, "cat-file", "blob", blob)) for blob in (old, new))
                if before and after and (changes := _changes(before, after)):
                    yield Task(name, language_of(name).language_ids[0], before, after, changes)


def _changes(before: str, after: str) -> tuple[Change, ...]:
    """Line by line; none where it is too much for a person."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    changes = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            if max(j - i, m - k) > _MAX_CHANGE_LINES:
                return ()
            changes.append(_joined(sum(map(len, new[:k])), "".join(old[i:j]), "".join(new[k:m])))
    return tuple(changes)


def _joined(start: int, old: str, new: str) -> Change:
    """Lines are written behind the end of the one above, as people do, where there is one."""
    if start and new.endswith("\n") and (not old or old.endswith("\n")):
        return Change(start - 1, len(old), "\n" + new[:-1])
    return Change(start, len(old), new)


def _git(root: Path, *arguments: str) -> bytes:
    """What git reads from its objects, or nothing. No hook, pager, filter or configured program runs."""
    isolated = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_NO_LAZY_FETCH": "1"}
    options = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "--no-pager")
    try:
        done = subprocess.run(
            ("git", *options, "-C", str(root), *arguments),
            env={**os.environ, **isolated, "GIT_TERMINAL_PROMPT": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout if done.returncode == 0 else b""
