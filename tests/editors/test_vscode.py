"""The extension in a real VS Code, as a stable one is and with proposed interfaces, with a service that knows what will
be typed.
"""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser

from lsp_complete.protocol.events import Part, Rejection
from tests.editors import code_server
from tests.editors.code_server import Program
from tests.editors.conftest import FAILED, Service
from tests.editors.outcomes import Outcomes, until
from tests.editors.vscode import VSIX, VsCode, running_browser

pytestmark = pytest.mark.editors

CASES = ("stable", "proposed")
ABOVE = "x = 'é😀'  # naïve 漢字\n"
NAME, REST, BODY = "_numbers", "(first, second):", "\n    return first + second"
WHOLE = "def add" + NAME + REST
ACCEPTED = "accepted", Part.WHOLE, len(NAME + REST)
ACCEPTED_WORD = "accepted", Part.WORD, len(NAME)
# pip fetches and unpacks some thirty packages.
INSTALL_S = 240
# To load it, and to answer, on a busy machine.
MODEL_S = 120
_numbers = count()


@dataclass
class Bench:
    """An editor with a new file in it, and what its server remembers of that."""

    code: VsCode
    log: Outcomes
    has_proposed: bool
    file: Path = Path()

    def opened(self, text: str = ABOVE) -> None:
        self.log.forget()
        self.file = self.code.open(text, f"file{next(_numbers)}.py")

    def until_text(self, text: str) -> None:
        self.code.until_saved(self.file, ABOVE + text)


Window = Callable[..., AbstractContextManager[Bench]]
"""Takes a folder, whether the host has proposed interfaces, the path of the server, its settings if they are others,
and what `VsCode` takes of the workspace."""


@pytest.fixture(scope="module")
def window(service: Service) -> Iterator[Window]:
    program = code_server.found()
    if program is None or not VSIX.exists():
        pytest.skip("no VS Code, browser or extension: make test-editors")
    with running_browser(program) as browser:
        yield partial(opened_window, program, browser, service.options)


@contextlib.contextmanager
def opened_window(
    program: Program,
    browser: Browser,
    options: dict[str, str],
    folder: Path,
    has_proposed: bool = False,
    path: str = sys.executable,
    settings: dict[str, Any] | None = None,
    **workspace: Any,
) -> Iterator[Bench]:
    settings = {**(settings or options), "telemetry": "local", "server.path": path}
    machine = {f"lsp-complete.{name}": value for name, value in settings.items()}
    code = VsCode(program, browser, folder, machine, has_proposed, **workspace)
    try:
        yield Bench(code, Outcomes(folder), has_proposed)
    finally:
        if code.process.poll() is None:
            code.quit()


@pytest.fixture(scope="module", params=CASES)
def running(request: pytest.FixtureRequest, tmp_path_factory: Any, window: Window) -> Iterator[Bench]:
    with window(tmp_path_factory.mktemp("vscode"), request.param == "proposed") as bench:
        bench.code.until_status("ready")
        bench.opened()
        bench.code.keys("Alt+Backslash")  # a new editor gets ready for suggestions when it has time, or when it has to
        yield bench


@pytest.fixture
def bench(running: Bench, request: pytest.FixtureRequest, pictures: Path) -> Iterator[Bench]:
    running.opened()
    yield running
    name = "".join(char if char.isalnum() else "-" for char in request.node.name)
    running.code.picture(pictures / f"{name}{'-failed' if request.node.stash.get(FAILED, False) else ''}.png")
    running.code.keys("Escape")


def test_the_page_has_its_pictures(bench, pictures):
    bench.code.keys("Control+b")
    bench.code.open('"""Arithmetic for beginners."""\n\n\n', f"arithmetic{next(_numbers)}.py")
    bench.code.type(WHOLE)
    bench.code.until_ghost(BODY.strip("\n"))
    bench.code.picture(pictures / "ghost.png", 210)
    bench.code.status.click()
    bench.code.page.locator(".quick-input-list .monaco-list-row").nth(5).wait_for()
    bench.code.picture(pictures / "menu.png", 300)
    bench.code.keys("Escape", "Control+b")


def test_ghost_text_stands_behind_what_is_typed_also_behind_wide_characters(bench):
    bench.code.type("greet = 'naï")
    bench.code.until_ghost("ve 😀' + name")
    bench.until_text("greet = 'naï")


def test_a_key_accepts_all_of_it_and_the_log_has_it_once(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.keys("Tab")
    bench.until_text(WHOLE)
    bench.log.until(ACCEPTED)


def test_several_lines_are_drawn_and_accepted(bench):
    bench.code.type(WHOLE)
    bench.code.until_ghost(BODY.strip("\n"))
    bench.code.keys("Tab")
    bench.until_text(WHOLE + BODY)


def test_a_key_accepts_a_word_and_the_rest_stays(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.keys("Control+ArrowRight")
    bench.code.until_ghost(REST)
    bench.log.until(ACCEPTED_WORD)
    bench.code.keys("Tab")
    bench.until_text(WHOLE)
    bench.log.until(ACCEPTED_WORD, ACCEPTED)


def test_a_key_accepts_a_line_of_several(bench):
    bench.code.type(WHOLE)
    bench.code.until_ghost(BODY.strip("\n"))
    bench.code.keys("Control+Alt+ArrowRight")
    bench.until_text(WHOLE + BODY)


def test_what_is_typed_through_leaves_the_rest(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.type(NAME)
    bench.code.until_ghost(REST)
    bench.code.type(REST)
    bench.until_text(WHOLE)
    until("the log says so", lambda: [kind for kind, *_ in bench.log.outcomes] == ["typed through"])


def test_what_contradicts_takes_it_away(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.type("xyz")
    bench.code.until_ghost("")
    bench.log.until(("rejected", Rejection.OTHER_TEXT))


def test_backspace_brings_back_what_was_typed_through(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.type("_nu")
    bench.code.until_ghost(NAME[3:] + REST)
    bench.code.keys("Backspace")
    bench.code.until_ghost(NAME[2:] + REST)
    assert bench.log.outcomes == []


def test_escape_takes_it_away_and_changes_nothing(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.keys("Escape")
    bench.code.until_ghost("")
    bench.until_text("def add")
    if bench.has_proposed:  # a stable VS Code does not tell, and no text changes
        bench.log.until(("rejected", Rejection.DISMISSED))


def test_undo_takes_back_what_was_accepted_and_no_more(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.keys("Tab")
    bench.until_text(WHOLE)
    bench.log.until(ACCEPTED)
    bench.code.keys("Control+z")
    bench.until_text("def add")
    bench.log.until(ACCEPTED, ("rejected", Rejection.UNDONE))


def test_the_service_may_die_and_come_back_while_somebody_types(bench, service):
    service.kill()
    bench.code.type("total = pr")
    bench.code.until_status("offline")
    bench.until_text("total = pr")
    service.start()
    bench.code.type("ice")
    bench.code.command("Trigger Inline Suggestion")
    bench.code.until_ghost(" + tax")
    bench.code.until_status("ready")


def test_a_server_that_is_killed_is_started_again(bench):
    bench.code.server.kill()
    bench.code.until_status("stopped")
    bench.code.until_status("ready")
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)


def test_the_menu_snoozes_and_wakes_and_switches_a_language_off(bench):
    bench.code.choose_in_menu("Snooze for 10 Minutes")
    bench.code.until_status("snoozed")
    bench.code.choose_in_menu("Wake Up")
    bench.code.until_status("ready")
    bench.code.choose_in_menu("Off for python")
    bench.code.until_status("off")
    bench.code.choose_in_menu("On for python")
    bench.code.until_status("ready")


def test_a_file_is_switched_off_in_the_settings_of_the_workspace(bench):
    bench.code.choose_in_menu("Off for This File", "This file")
    bench.code.until_status("off")
    assert bench.file.name in (bench.code.work / ".vscode" / "settings.json").read_text()
    bench.code.choose_in_menu("Off for This File", "This file")
    bench.code.until_status("ready")


def test_the_last_suggestion_is_explained(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.choose_in_menu("Explain")
    explained = bench.code.shown_text("explain.yaml")
    assert f"path: {bench.file.name}" in explained
    assert "rung: " in explained


def test_what_left_the_machine_is_shown(bench):
    bench.code.type("def add")
    bench.code.until_ghost(NAME + REST)
    bench.code.choose_in_menu("What Left This Machine")
    assert "num bytes" in bench.code.shown_text("what-left-this-machine.yaml")


def test_statistics_are_a_page_in_the_colours_of_the_theme(bench, pictures):
    bench.code.choose_in_menu("Statistics")
    for theme in ("light", "dark"):
        bench.code.until_page(theme)
        bench.code.picture(pictures / f"statistics-{theme}.png")
        bench.code.command("Toggle between Light/Dark Themes")


def test_untitled_documents_get_suggestions(bench):
    bench.code.command("File: New Untitled Text File")
    bench.code.page.locator(".tab.active", has_text="Untitled-").wait_for()
    bench.code.type("total = price")
    bench.code.until_ghost(" + tax")


@pytest.mark.parametrize("roots", [(), ("one", "other")], ids=["one folder", "several"])
def test_what_is_in_the_index_is_sent_and_what_is_ignored_is_not(tmp_path, window, roots):
    root = tmp_path / "work" / (roots[-1] if roots else "")
    for folder in roots or ("",):
        (tmp_path / "work" / folder / ".git").mkdir(parents=True)
    (root / ".gitignore").write_text("ignored.py\n")
    for name in ("indexed", "ignored"):
        (root / f"{name}.py").write_text(f"def {name}_helper({name}_first):\n    return 1\n")
    with window(tmp_path, roots=roots) as bench:
        bench.code.until_status("ready")
        imports = "from indexed import indexed_helper\nfrom ignored import ignored_helper\n\n"
        bench.code.open(imports, str(Path(*roots[-1:], "user.py")))
        bench.code.type("seen =")
        bench.code.keys("Alt+Backslash")
        bench.code.until_ghost("['indexed_first']")


def test_before_a_workspace_is_trusted_it_decides_nothing_and_suggestions_come(tmp_path, window):
    (tmp_path / "work" / ".vscode").mkdir(parents=True)
    settings = {"lsp-complete.url": "http://127.0.0.1:9", "lsp-complete.server.path": "/nowhere"}
    (tmp_path / "work" / ".vscode" / "settings.json").write_text(json.dumps(settings))
    with window(tmp_path, is_trusted=False) as bench:
        bench.code.page.get_by_role("button", name="Restricted Mode").wait_for()
        bench.code.until_status("ready")
        bench.opened()
        bench.code.type("def add")
        bench.code.keys("Alt+Backslash")
        bench.code.until_ghost(NAME + REST)


@pytest.mark.model
def test_the_real_model_suggests(tmp_path, window, model_path):
    with window(tmp_path, settings={"model": str(model_path), "threads": 1}) as bench:
        until("the model", lambda: bench.code.status.inner_text().strip() == "lsp-complete", MODEL_S)
        bench.opened("# naïve 😀\ndef add_numbers(first, second):\n    ")
        bench.code.type("return first +")
        bench.code.keys("Alt+Backslash")
        until("ghost text", lambda: "second" in bench.code.ghost, MODEL_S)
        bench.code.keys("Tab")
        bench.code.until_saved(bench.file, "# naïve 😀\ndef add_numbers(first, second):\n    return first + second")


def test_without_a_server_it_is_installed_on_a_click(tmp_path, window, pictures):
    with window(tmp_path, path="") as bench:
        bench.code.until_status("not-installed")
        bench.code.picture(pictures / "not-installed.png")
        bench.code.page.get_by_role("button", name="Install", exact=True).click()
        until("the server", lambda: bench.code.status.inner_text().strip() == "lsp-complete", INSTALL_S)
        assert "globalStorage" in " ".join(bench.code.server.cmdline())
        bench.opened()
        bench.code.type("def add")
        bench.code.keys("Alt+Backslash")
        bench.code.until_ghost(NAME + REST)


def test_closing_and_killing_an_editor_leave_no_process(tmp_path, window):
    for end in (VsCode.quit, VsCode.kill):
        with window(tmp_path / end.__name__) as bench:
            bench.code.until_status("ready")
            processes = bench.code.processes
            assert bench.code.server in processes
            end(bench.code)
            assert psutil.wait_procs(processes, 15)[1] == []
