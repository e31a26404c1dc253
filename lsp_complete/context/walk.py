"""Walks a root: which files the index may hold. Reads folders, opens no file.

One listing for each folder and one stat for each file that is allowed, and no more. Symbolic links are not followed:
what they lead to inside the root is reached without them, and what lies outside is not ours to read. What cannot be
read is noted and passed over; a later walk tries it again.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from lsp_complete.context.files import MAX_FILE_BYTES, Skipped
from lsp_complete.context.policy import FolderRules, Policy, Reason

# Never text, so not worth opening to see.
_BINARY_ENDINGS = frozenset(
    re.findall(
        r"\S+",
        """png jpg jpeg gif bmp ico webp tif tiff psd avif heic pdf zip gz tgz bz2 xz zst 7z rar tar jar war class o a
    so dylib dll exe lib obj pyc pyo pyd wasm woff woff2 ttf otf eot mp3 mp4 m4a wav ogg flac avi mov mkv webm db sqlite
    sqlite3 bin dat npy npz pkl pickle pt pth onnx gguf safetensors parquet h5 whl egg deb rpm iso dmg""",
    )
)
# Written by tools, in text that teaches nothing.
_GENERATED_ENDINGS = (".min.js", ".min.css", ".map", ".lock", "-lock.json", "-lock.yaml", ".svg", ".snap", ".log")

Scandir = Callable[[str], AbstractContextManager[Iterator["os.DirEntry[str]"]]]


@dataclass(frozen=True, slots=True)
class FoundFile:
    """`path` is relative to the root, with forward slashes."""

    path: str
    size: int
    mtime_ns: int


@dataclass(slots=True)
class WalkReport:
    """What a walk left out: how many of each kind, a folder being one, and by relative path what it could not read and
    why (an errno)."""

    skipped: Counter[Skipped | Reason] = field(default_factory=Counter)
    unreadable: dict[str, int] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


def walk(root: str, policy: Policy, report: WalkReport, scandir: Scandir = os.scandir) -> Iterator[FoundFile]:
    """Files of a canonical root in a stable order, without those of another root inside it. Never raises."""
    start = root.rstrip("/") + "/"
    try:
        waiting = [policy.folder(start)]
    except OSError as error:
        report.unreadable["."] = error.errno or 0
        return
    while waiting:
        rules = waiting.pop()
        report.folders.append(rules.path)
        below: list[FolderRules] = []
        yield from _files_of(rules, start, policy, report, scandir, below)
        waiting += reversed(below)


def _files_of(
    rules: FolderRules, root: str, policy: Policy, report: WalkReport, scandir: Scandir, below: list[FolderRules]
) -> Iterator[FoundFile]:
    """Yields the files of one folder and adds its folders to `below`."""
    try:
        with scandir(rules.path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        report.unreadable[rules.path[len(root) :].rstrip("/") or "."] = error.errno or 0
        return
    for entry in listed:
        path = rules.path[len(root) :] + entry.name
        try:
            found = _judge(entry, path, rules, policy, below)
        except OSError as error:
            report.unreadable[path] = error.errno or 0
            continue
        if isinstance(found, FoundFile):
            yield found
        elif found is not None:
            report.skipped[found] += 1


def _judge(
    entry: "os.DirEntry[str]", path: str, rules: FolderRules, policy: Policy, below: list[FolderRules]
) -> FoundFile | Skipped | Reason | None:
    if entry.is_symlink():
        return Skipped.SYMLINK
    if entry.is_dir(follow_symlinks=False):
        folder = policy.below(rules, entry.name)
        if not folder.verdict.allowed or folder.is_built_in:
            return folder.verdict.reason or Reason.BUILT_IN
        if folder.path not in policy.roots:
            below.append(folder)
        return None
    if reason := policy.file_verdict(rules, entry.name, for_index=True).reason:
        return reason
    return _judge_file(entry, path)


def _judge_file(entry: "os.DirEntry[str]", path: str) -> FoundFile | Skipped:
    name = entry.name.lower()
    if not _is_text(path):
        return Skipped.ODD_NAME
    if name.rpartition(".")[2] in _BINARY_ENDINGS and "." in name:
        return Skipped.BINARY
    if name.endswith(_GENERATED_ENDINGS):
        return Skipped.GENERATED
    info = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(info.st_mode):
        return Skipped.NOT_A_FILE
    if info.st_size > MAX_FILE_BYTES:
        return Skipped.TOO_LARGE
    return FoundFile(path, info.st_size, info.st_mtime_ns)


def _is_text(path: str) -> bool:
    """Whether a path can be written down: not one whose bytes are no text on this system."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
