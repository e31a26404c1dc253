"""The plugin in real Neovims, by its own drawing and by Neovim's, with a service that knows what will be typed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lsp_complete.protocol.events import Part, Rejection
from tests.editors.conftest import FAILED, Service
from tests.editors.neovim import ABOVE, CASES, Bench, started
from tests.editors.outcomes import until

pytestmark = pytest.mark.editors

NAME, REST, BODY = "_numbers", "(first, second):", "\n    return first + second"
WHOLE = "def add" + NAME + REST
ACCEPTED = "accepted", Part.WHOLE, len(NAME + REST)
ACCEPTED_WORD = "accepted", Part.WORD, len(NAME)


@pytest.fixture(scope="module", params=CASES)
def running(request: pytest.FixtureRequest, tmp_path_factory: Any, neovims: Any, service: Service) -> Iterator[Bench]:
    bench = started(request.param, tmp_path_factory.mktemp("neovim"), neovims, service.options)
    yield bench
    bench.neovim.quit()


@pytest.fixture
def bench(running: Bench, request: pytest.FixtureRequest, pictures: Path) -> Iterator[Bench]:
    running.opened(ABOVE + "\n")
    yield running
    if request.node.stash.get(FAILED, False):
        name = "".join(char if char.isalnum() else "-" for char in request.node.name)
        (pictures / f"{name}.txt").write_text("\n".join(running.neovim.screen), "utf-8")
    running.left()


def test_ghost_text_stands_behind_what_is_typed_also_behind_wide_characters(bench):
    bench.neovim.type("\ngreet = 'naï")
    bench.neovim.until_ghost("ve 😀' + name")
    assert bench.neovim.screen[:2] == [ABOVE, "greet = 'naïve 😀' + name"]
    assert bench.neovim.text == f"{ABOVE}\ngreet = 'naï"


def test_a_key_accepts_all_of_it_and_the_log_has_it_once(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}")
    assert bench.neovim.cursor == (2, len(WHOLE))
    assert bench.neovim.mode == "i"
    bench.log.until(ACCEPTED)


def test_several_lines_are_drawn_and_accepted(bench):
    bench.neovim.type("\n" + WHOLE)
    bench.neovim.until_ghost(BODY)
    assert bench.neovim.screen[1:3] == [WHOLE, BODY[1:]]
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}{BODY}")
    assert bench.neovim.cursor == (3, len(BODY[1:]))


def test_a_key_accepts_a_word_and_the_rest_stays(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.keys("<M-Right>")
    bench.neovim.until_text(f"{ABOVE}\ndef add{NAME}")
    assert bench.neovim.ghost == REST
    bench.log.until(ACCEPTED_WORD)
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}")
    bench.log.until(ACCEPTED_WORD, ACCEPTED)


def test_a_word_may_lie_behind_the_end_of_the_line(bench):
    bench.neovim.type("\n" + WHOLE)
    bench.neovim.until_ghost(BODY)
    bench.neovim.keys("<M-Right>")
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}\n    return")
    bench.neovim.until_ghost(" first + second")
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}{BODY}")


def test_a_key_accepts_a_line_of_several(bench):
    bench.neovim.type("\n" + WHOLE)
    bench.neovim.until_ghost(BODY)
    bench.neovim.keys("<M-C-Right>")
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}{BODY}")


def test_what_is_typed_through_leaves_the_rest_at_once(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    for number, char in enumerate(NAME, 1):
        bench.neovim.type(char)
        assert bench.neovim.ghost == NAME[number:] + REST
    bench.neovim.type(REST)
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}")
    bench.log.until(("typed through", len(NAME + REST)))


def test_a_key_right_behind_a_typed_letter_puts_nothing_in_twice(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.keys("_n<Tab>")
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}")


def test_what_contradicts_takes_it_away_at_once(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.type("x")
    assert bench.neovim.ghost == ""
    bench.neovim.type("yz")
    bench.log.until(("rejected", Rejection.OTHER_TEXT))


def test_backspace_brings_back_what_was_typed_through(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.type("_nu")
    bench.neovim.keys("<BS>")
    bench.neovim.until_ghost(NAME[2:] + REST)
    assert bench.log.outcomes == []


def test_escape_takes_it_away_and_changes_nothing(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.keys("<Esc>")
    until("the ghost text is gone", lambda: bench.neovim.ghost == "")
    assert bench.neovim.text == f"{ABOVE}\ndef add"


def test_a_key_sends_it_away_and_the_log_says_so(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.keys("<C-]>")
    until("the ghost text is gone", lambda: bench.neovim.ghost == "")
    assert bench.neovim.text == f"{ABOVE}\ndef add"
    assert bench.neovim.mode == "i"
    bench.log.until(("rejected", Rejection.DISMISSED))


def test_next_and_previous_keep_the_only_one(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.keys("<M-]>")
    assert bench.neovim.ghost.startswith(NAME + REST)
    bench.neovim.keys("<M-[>")
    assert bench.neovim.ghost.startswith(NAME + REST)


def test_a_key_asks_where_nothing_is_asked_by_itself(bench):
    bench.neovim.type("\ndef addx")
    bench.neovim.keys("<BS>")
    until("it is typed", lambda: bench.neovim.text.endswith("def add"))
    bench.neovim.keys("<M-Bslash>")
    bench.neovim.until_ghost(NAME + REST)


def test_undo_takes_back_what_was_accepted_and_no_more(bench):
    bench.neovim.type("\ndef add")
    bench.neovim.until_ghost(NAME + REST)
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text(f"{ABOVE}\n{WHOLE}")
    bench.log.until(ACCEPTED)
    bench.neovim.keys("<Esc>u")
    bench.neovim.until_text(f"{ABOVE}\ndef add")
    bench.log.until(ACCEPTED, ("rejected", Rejection.UNDONE))


def test_without_a_suggestion_a_key_does_what_it_did(bench):
    bench.neovim.lua("vim.bo.expandtab = false")
    bench.neovim.type("\nzzz")
    bench.neovim.keys("<Tab>y")
    bench.neovim.until_text(f"{ABOVE}\nzzz\ty")
    bench.neovim.keys("<C-\\><C-n>")
    bench.neovim.lua("vim.cmd.startinsert({ bang = true }); vim.snippet.expand('f($1, $2)')")
    bench.neovim.type("one")
    bench.neovim.keys("<Tab>two")
    bench.neovim.until_text(f"{ABOVE}\nzzz\tyf(one, two)")


def test_a_word_is_taken_before_text_that_the_suggestion_replaces(bench):
    bench.neovim.keys("<CR>print(to)<Left>")
    bench.neovim.until_ghost("tal, tax") if bench.neovim.ghost else None
    bench.neovim.keys("t")
    until("ghost text", lambda: bench.neovim.ghost.startswith("al, tax"))
    bench.neovim.keys("<M-Right>")
    bench.neovim.until_text(f"{ABOVE}\nprint(total)")
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text(f"{ABOVE}\nprint(total, tax)")
