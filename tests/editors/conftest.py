"""What the tests in real editors share: the editors, a service that knows what will be typed, pictures of failures."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.editors import programs
from tests.serving import CREDENTIAL

# What drives an editor is no part of the development set-up: `make test-editors` installs it.
_DRIVERS = {
    "test_vscode.py": "playwright",
    "test_neovim.py": "msgpack",
    "test_neovim_setups.py": "msgpack",
    "test_emacs.py": "pyte",
    "test_helix.py": "pyte",
}
collect_ignore = [file for file, driver in _DRIVERS.items() if importlib.util.find_spec(driver) is None]

_CHECKOUT = Path(__file__).parent.parent.parent


@dataclass
class Service:
    """A completion service in a process of its own, always at the same address."""

    port: int
    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    @property
    def options(self) -> dict[str, str]:
        """What an editor's settings say of it."""
        return {"url": f"http://127.0.0.1:{self.port}", "credential": CREDENTIAL}

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.editors.service", str(self.port)]
        self._process = subprocess.Popen(command, cwd=_CHECKOUT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith("http")

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate()


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    found = Service(port)
    found.start()
    yield found
    found.kill()


@pytest.fixture(scope="session")
def neovims() -> dict[str, Path]:
    """The programs by version. They are fetched by `python -m tests.editors.programs`."""
    found = {name: programs.program(f"neovim-{name}") for name in ("0.12", "0.11")}
    return {name: path for name, path in found.items() if path is not None}


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where the screens of failed tests are kept."""
    folder = Path(os.environ.get("LSP_COMPLETE_PICTURES", programs.cache_folder() / "pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Lets fixtures see whether the test has failed."""
    report = yield
    if report.when == "call":  # type: ignore[attr-defined]
        item.stash[FAILED] = report.failed  # type: ignore[attr-defined]
    return report


FAILED = pytest.StashKey[bool]()
