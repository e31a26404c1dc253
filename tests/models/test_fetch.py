import errno
import hashlib
import logging
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lsp_complete.models.catalogue import CATALOGUE, Format, ModelEntry
from lsp_complete.models.errors import ModelError, SourceFailed
from lsp_complete.models.fetch import ensure, find, verify
from lsp_complete.models.source import Fetched, Progress, hash_file

_BYTES = b"GGUF" + bytes(range(256)) * 40
_ENTRY = ModelEntry(
    name="tiny",
    family="qwen2.5-coder",
    format=Format.GGUF,
    licence="Apache-2.0",
    repo="nobody/tiny",
    file_name="tiny.gguf",
    num_bytes=len(_BYTES),
    sha256=hashlib.sha256(_BYTES).hexdigest(),
)


@dataclass
class FolderSource:
    """A source that gives the same bytes each time, in two steps; `between` may fail the first of them."""

    name: str = "folder"
    content: bytes = _BYTES
    between: Callable[[], None] = lambda: None
    num_copies: int = 1
    num_fetches: int = field(default=0, init=False)

    def fetch(self, entry: ModelEntry, folder: Path, progress: Progress) -> Fetched:
        self.num_fetches += 1
        path, half = folder / entry.file_name, len(self.content) // 2
        path.write_bytes(self.content[:half])
        progress(self.name, half, entry.num_bytes)
        self.between()
        path.write_bytes(self.content)
        progress(self.name, len(self.content), entry.num_bytes)
        return Fetched(path, hash_file(path, "checking", progress))


def _raise(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def _visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def test_the_first_source_that_has_the_file_is_used(tmp_path: Path) -> None:
    away = FolderSource("away", between=_raise(SourceFailed("away", "not reachable")))
    here, never = FolderSource("here"), FolderSource("never")
    path = ensure(_ENTRY, tmp_path / "models", sources=[away, here, never])
    assert path.read_bytes() == _BYTES
    assert (away.num_fetches, here.num_fetches, never.num_fetches) == (1, 1, 0)


def test_a_file_that_is_here_asks_no_source(tmp_path: Path) -> None:
    ensure(_ENTRY, tmp_path, sources=[FolderSource()])
    assert ensure(_ENTRY, tmp_path, sources=[]) == tmp_path / "tiny.gguf"
    assert find(_ENTRY, tmp_path) == tmp_path / "tiny.gguf"


def test_nothing_but_the_file_is_left_to_see(tmp_path: Path) -> None:
    ensure(_ENTRY, tmp_path, sources=[FolderSource()])
    assert _visible(tmp_path) == ["tiny.gguf"]
    assert not (tmp_path / ".tiny.gguf.partial").exists()


def test_progress_goes_from_the_source_to_whoever_watches(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    ensure(_ENTRY, tmp_path, lambda *step: seen.append(step), [FolderSource()])
    total = len(_BYTES)
    assert seen == [("folder", total // 2, total), ("folder", total, total), ("checking", total, total)]


def test_wrong_bytes_name_their_source_and_the_next_one_is_tried(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    wrong = FolderSource("liar", content=b"GGUF" + b"x" * (len(_BYTES) - 4))
    assert ensure(_ENTRY, tmp_path, sources=[wrong, FolderSource()]).read_bytes() == _BYTES
    assert "liar: wrong bytes" in caplog.text


def test_wrong_bytes_are_removed_and_never_used(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="liar: wrong bytes"):
        ensure(_ENTRY, tmp_path, sources=[FolderSource("liar", content=b"x" * len(_BYTES))])
    assert _visible(tmp_path) == []
    assert [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size] == []


def test_every_failure_is_told(tmp_path: Path) -> None:
    sources = [
        FolderSource("first", between=_raise(SourceFailed("first", "not reachable"))),
        FolderSource("second", between=_raise(OSError(errno.EIO, "Input/output error"))),
    ]
    with pytest.raises(ModelError) as caught:
        ensure(_ENTRY, tmp_path, sources=sources)
    assert "tiny could not be fetched\n  first: not reachable\n  second: Input/output error" in str(caught.value)


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(1), OSError(errno.ENOSPC, "No space left on device")])
def test_half_a_file_is_never_under_the_final_name(tmp_path: Path, stop: BaseException) -> None:
    with pytest.raises((type(stop), ModelError)):
        ensure(_ENTRY, tmp_path, sources=[FolderSource(between=_raise(stop))])
    assert _visible(tmp_path) == []
    assert find(_ENTRY, tmp_path) is None
    assert ensure(_ENTRY, tmp_path, sources=[FolderSource()]).read_bytes() == _BYTES


def test_a_full_disk_is_told_before_anything_is_fetched(tmp_path: Path) -> None:
    source = FolderSource(num_copies=2)
    with pytest.raises(ModelError, match=r"needs 0 MB more on the disk of .*, 0 MB are free"):
        ensure(_ENTRY, tmp_path, sources=[source], free_bytes=lambda _: 2 * len(_BYTES) - 1)
    assert source.num_fetches == 0


def test_what_an_earlier_attempt_left_counts_against_the_space_needed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        ensure(_ENTRY, tmp_path, sources=[FolderSource(between=_raise(KeyboardInterrupt()))])
    half = len(_BYTES) - len(_BYTES) // 2
    assert ensure(_ENTRY, tmp_path, sources=[FolderSource()], free_bytes=lambda _: half).is_file()


def test_of_two_at_once_one_fetches_and_the_other_waits(tmp_path: Path) -> None:
    second_waits = threading.Event()
    first = FolderSource(between=lambda: _await(second_waits))
    paths: list[Path] = []

    def pull_second() -> None:
        def watch(source: str, _done: int, _total: int, /) -> None:
            if source == "another process":
                second_waits.set()

        paths.append(ensure(_ENTRY, tmp_path, watch, sources=[]))

    def start_second(source: str, _done: int, _total: int, /) -> None:
        if not thread.ident:
            thread.start()

    thread = threading.Thread(target=pull_second)
    paths.append(ensure(_ENTRY, tmp_path, start_second, sources=[first]))
    thread.join(10)
    assert paths == [tmp_path / "tiny.gguf"] * 2
    assert first.num_fetches == 1


def _await(event: threading.Event) -> None:
    assert event.wait(10)


def test_a_file_that_the_user_put_here_is_checked_once(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(_BYTES)
    seen: list[str] = []
    for _ in range(2):
        assert ensure(_ENTRY, tmp_path, lambda *step: seen.append(step[0]), []).is_file()
    assert seen == ["checking"]


def test_a_file_swapped_for_another_of_the_same_size_is_noticed(tmp_path: Path) -> None:
    path = ensure(_ENTRY, tmp_path, sources=[FolderSource()])
    path.write_bytes(b"x" * len(_BYTES))
    os.utime(path, ns=(1, 1))
    assert find(_ENTRY, tmp_path) is None
    assert ensure(_ENTRY, tmp_path, sources=[FolderSource()]).read_bytes() == _BYTES


def test_verify_reads_again_and_fetches_what_has_rotted(tmp_path: Path) -> None:
    path = ensure(_ENTRY, tmp_path, sources=[FolderSource()])
    times = path.stat().st_mtime_ns
    path.write_bytes(_BYTES[:-1] + b"?")
    os.utime(path, ns=(times, times))
    assert ensure(_ENTRY, tmp_path, sources=[]).read_bytes() != _BYTES
    assert verify(_ENTRY, tmp_path, sources=[FolderSource()]).read_bytes() == _BYTES


def test_verify_of_a_good_file_asks_no_source(tmp_path: Path) -> None:
    ensure(_ENTRY, tmp_path, sources=[FolderSource()])
    assert verify(_ENTRY, tmp_path, sources=[]) == tmp_path / "tiny.gguf"


def test_a_model_that_is_not_one_file_is_refused(tmp_path: Path) -> None:
    entry = next(entry for entry in CATALOGUE if entry.format is Format.SAFETENSORS)
    with pytest.raises(ModelError, match="loads it from the hub itself"):
        ensure(entry, tmp_path, sources=[FolderSource()])
    assert find(entry, tmp_path) is None


def test_a_folder_that_cannot_be_made_is_a_readable_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ModelError, match="tiny cannot be stored in"):
        ensure(_ENTRY, tmp_path / "file" / "models", sources=[FolderSource()])
