"""lsp-mode's inline completion in a real Emacs, set up as the README says."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from lsp_complete.protocol.events import Part, Rejection
from tests.editors import programs
from tests.editors.conftest import FAILED, Service
from tests.editors.emacs import Emacs
from tests.editors.outcomes import until

pytestmark = pytest.mark.editors

ABOVE = "x = 'é😀'  # naïve 漢字\n"
NAME, REST, BODY = "_numbers", "(first, second):", "\n    return first + second"
WHOLE = "def add" + NAME + REST
ACCEPT = "Control+Enter"
# To load the model and to answer, on a busy machine.
_MODEL_S = 120.0


@pytest.fixture(scope="module")
def program() -> Path:
    found = programs.program("emacs")
    if found is None:
        pytest.skip("no Emacs: python -m tests.editors.programs")
    return found


@pytest.fixture(scope="module")
def running(program: Path, tmp_path_factory: Any, service: Service) -> Iterator[Emacs]:
    emacs = Emacs(program, tmp_path_factory.mktemp("emacs"), service.options)
    yield emacs
    emacs.quit()


@pytest.fixture
def emacs(running: Emacs, request: pytest.FixtureRequest, pictures: Path) -> Iterator[Emacs]:
    running.opened(ABOVE)
    yield running
    name = "".join(char if char.isalnum() else "-" for char in request.node.name)
    failed = "-failed" if request.node.stash.get(FAILED, False) else ""
    (pictures / f"emacs-{name}{failed}.txt").write_text("\n".join(running.terminal.rows), "utf-8")
    running.closed()


def test_ghost_text_stands_behind_what_is_typed_also_behind_wide_characters(emacs):
    emacs.type("greet = 'naï")
    emacs.until_ghost("ve 😀' + name")
    assert emacs.terminal.rows[2].strip() == "greet = 'naïve 😀' + name"
    emacs.keys("Control+g")
    emacs.until_saved(ABOVE + "greet = 'naï")


def test_a_key_accepts_all_of_it_and_the_log_has_it_once(emacs):
    emacs.type("def add")
    emacs.until_ghost(NAME + REST)
    emacs.keys(ACCEPT)
    emacs.until_saved(ABOVE + WHOLE)
    emacs.log.until(("accepted", Part.WHOLE, len(NAME + REST)))


def test_several_lines_are_drawn_and_accepted(emacs):
    emacs.type(WHOLE)
    emacs.until_ghost(BODY.strip("\n"))
    emacs.keys(ACCEPT)
    emacs.until_saved(ABOVE + WHOLE + BODY)


def test_what_is_typed_through_leaves_the_rest(emacs):
    emacs.type("def add")
    emacs.until_ghost(NAME + REST)
    emacs.type(NAME)
    emacs.until_ghost(REST)
    emacs.type(REST)
    emacs.until_saved(ABOVE + WHOLE)
    until("the log says so", lambda: [kind for kind, *_ in emacs.log.outcomes] == ["typed through"])


def test_what_contradicts_takes_it_away(emacs):
    emacs.type("def add")
    emacs.until_ghost(NAME + REST)
    emacs.type("xyz")
    emacs.until_ghost("")
    emacs.log.until(("rejected", Rejection.OTHER_TEXT))


def test_backspace_brings_back_what_was_typed_through(emacs):
    emacs.type("def add")
    emacs.until_ghost(NAME + REST)
    emacs.type("_nu")
    emacs.until_ghost(NAME[3:] + REST)
    emacs.keys("Backspace")
    emacs.until_ghost(NAME[2:] + REST)
    assert emacs.log.outcomes == []


def test_a_key_takes_it_away_and_changes_nothing(emacs):
    emacs.type("def add")
    emacs.until_ghost(NAME + REST)
    emacs.keys("Control+g")
    emacs.until_ghost("")
    emacs.until_saved(ABOVE + "def add")


def test_undo_takes_back_what_was_accepted(emacs):
    emacs.type("def add")
    emacs.until_ghost(NAME + REST)
    emacs.keys(ACCEPT)
    emacs.until_saved(ABOVE + WHOLE)
    emacs.keys("Control+_")
    emacs.until_saved(ABOVE + "def add")
    emacs.log.until(("accepted", Part.WHOLE, len(NAME + REST)), ("rejected", Rejection.UNDONE))


def test_what_is_in_the_index_is_sent_and_what_is_ignored_is_not(emacs):
    (emacs.work / ".gitignore").write_text("ignored.py\n")
    for name in ("ignored", "indexed"):
        (emacs.work / f"{name}.py").write_text(f"def {name}_helper({name}_first):\n    return 1\n")
    emacs.type("from indexed import indexed_helper\nfrom ignored import ignored_helper\n\nseen =")
    emacs.until_ghost("['indexed_first']")


def test_the_service_may_die_and_come_back_while_somebody_types(emacs, service):
    service.kill()
    emacs.type("total = pr")
    emacs.until_saved(ABOVE + "total = pr")
    service.start()
    until("suggestions", lambda: _comes(emacs, "r"))
    assert emacs.ghost == "ice + tax"


def test_closing_and_killing_an_editor_leave_no_process(program, tmp_path, service):
    for end in (Emacs.quit, Emacs.kill):
        emacs = Emacs(program, tmp_path / end.__name__, service.options)
        processes = emacs.processes
        assert len(processes) > 1
        end(emacs)
        assert psutil.wait_procs(processes[1:], 15)[1] == []


@pytest.mark.model
def test_the_real_model_suggests(program, tmp_path, model_path):
    emacs = Emacs(program, tmp_path, {"model": str(model_path), "threads": "1"})
    emacs.opened("# naïve 😀\ndef add_numbers(first, second):\n    ")
    emacs.type("return first +")
    until("ghost text", lambda: _comes(emacs, "+") and "second" in emacs.ghost, _MODEL_S)
    emacs.keys(ACCEPT)
    emacs.until_saved("# naïve 😀\ndef add_numbers(first, second):\n    return first + second")
    emacs.quit()


def _comes(emacs: Emacs, letter: str) -> bool:
    """Whether a suggestion does when the last letter is typed once more: lsp-mode asks once for each."""
    emacs.keys("Backspace", letter)
    with contextlib.suppress(AssertionError):
        return bool(until("ghost text", lambda: emacs.ghost, 2))
    return False
