"""A real Helix, which has no ghost text: suggestions in its menu, set up as the README says."""

import contextlib
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest

from lsp_complete.protocol.events import Part, Rejection
from tests.editors import programs
from tests.editors.conftest import FAILED, Service
from tests.editors.outcomes import Outcomes, until
from tests.editors.readme import lines_for
from tests.editors.terminal import Terminal
from tests.editors.wire import search_path
from tests.server.editor import environ

pytestmark = pytest.mark.editors

ABOVE = "x = 'é😀'  # naïve 漢字"
NAME, REST = "_numbers", "(first, second):"
WHOLE = "def add" + NAME + REST
LABEL = f"add{NAME}{REST}"
_numbers = count()


class Helix:
    def __init__(self, program: Path, folder: Path, options: dict[str, str]) -> None:
        self.work, home = folder / "work", folder / "home"
        (self.work / ".git").mkdir(parents=True)
        (home / "helix").mkdir(parents=True)
        (home / "helix" / "languages.toml").write_text(lines_for("Helix").replace('"pylsp", ', ""))
        settings = {f"LSP_COMPLETE_{name.upper()}": value for name, value in options.items()}
        places = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "XDG_CACHE_HOME": str(home)}
        own = environ(folder, PATH=search_path(folder), **places, LSP_COMPLETE_TELEMETRY="local", **settings)
        self.log = Outcomes(folder)
        self.terminal = Terminal([str(program)], own, self.work)
        self.file = self.work / "none"

    def opened(self, text: str) -> None:
        """A new file, typing in a line below its text."""
        self.file = self.work / f"file{next(_numbers)}.py"
        self.file.write_text(text, "utf-8")
        self.log.forget()
        self.command(f"open {self.file}")
        self.terminal.until_row(f" {self.file.name} ")
        self.terminal.type("geo")

    def until_saved(self, text: str) -> None:
        def is_saved() -> bool:
            self.command("write")
            return self.file.read_text("utf-8").rstrip("\n") == text

        self.terminal.until(f"text {text!r}", is_saved)

    def command(self, text: str) -> None:
        """What comes at once behind an escape is taken for one key with it."""
        if any(" INS " in row for row in self.terminal.rows):
            self.terminal.keys("Escape")
        self.terminal.until_row(" NOR ")
        self.terminal.type(f":{text}\n")

    def type(self, text: str) -> None:
        self.terminal.type(text)

    def until_menu(self, label: str) -> None:
        """It is asked for by hand where it does not come by itself: the server may have started too late."""

        def comes() -> bool:
            with contextlib.suppress(AssertionError):
                return bool(until("a menu", lambda: any(f" {label} " in row for row in self.terminal.rows), 2))
            self.terminal.keys("Control+x")
            return False

        self.terminal.until(f"a menu with {label!r}", comes)

    def quit(self) -> None:
        self.command("quit-all!")
        until("the end", lambda: self.terminal.process.status() == psutil.STATUS_ZOMBIE)
        self.terminal.close()

    def kill(self) -> None:
        self.terminal.process.send_signal(signal.SIGKILL)
        self.terminal.close()


@pytest.fixture(scope="module")
def program() -> Path:
    found = programs.program("helix")
    if found is None:
        pytest.skip("no Helix: python -m tests.editors.programs")
    return found


@pytest.fixture(scope="module")
def running(program: Path, tmp_path_factory: Any, service: Service) -> Iterator[Helix]:
    helix = Helix(program, tmp_path_factory.mktemp("helix"), service.options)
    yield helix
    helix.quit()


@pytest.fixture
def helix(running: Helix, request: pytest.FixtureRequest, pictures: Path) -> Iterator[Helix]:
    running.opened(ABOVE)
    yield running
    name = "".join(char if char.isalnum() else "-" for char in request.node.name)
    failed = "-failed" if request.node.stash.get(FAILED, False) else ""
    (pictures / f"helix-{name}{failed}.txt").write_text("\n".join(running.terminal.rows), "utf-8")


def test_a_suggestion_is_an_item_of_the_menu_also_behind_wide_characters(helix):
    helix.type("y = 'é😀'; tot")
    helix.until_menu("total = price + tax")
    helix.until_saved(f"{ABOVE}\ny = 'é😀'; tot")


def test_it_is_accepted_and_the_log_has_it_once(helix):
    helix.type("def add")
    helix.until_menu(LABEL)
    helix.terminal.keys("Tab", "Enter")
    helix.until_saved(f"{ABOVE}\n{WHOLE}")
    helix.log.until(("accepted", Part.WHOLE, len(NAME + REST)))


def test_nothing_is_taken_that_was_not_chosen(helix):
    helix.type("def add")
    helix.until_menu(LABEL)
    helix.terminal.keys("Enter")
    helix.type("y")
    helix.until_saved(f"{ABOVE}\ndef add\ny")
    helix.log.until(("rejected", Rejection.OTHER_TEXT))


def test_closing_and_killing_an_editor_leave_no_process(program, tmp_path, service):
    for end in (Helix.quit, Helix.kill):
        helix = Helix(program, tmp_path / end.__name__, service.options)
        helix.opened(ABOVE)
        helix.type("def add")
        helix.until_menu(LABEL)
        servers = helix.terminal.process.children(recursive=True)
        assert servers
        end(helix)
        assert psutil.wait_procs(servers, 15)[1] == []
