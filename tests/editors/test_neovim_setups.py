"""The plugin in Neovims as users set them up: beside completion menus and mappings of their own, with a service that
dies, and with the real model.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from lsp_complete.protocol.events import Part
from tests.editors import programs
from tests.editors.neovim import CASES, HEIGHT, PLUGIN, SERVER, Bench, Neovim, configured, started
from tests.editors.outcomes import until

pytestmark = pytest.mark.editors

BEGUN, REST = "def add", "_numbers(first, second):"
WHOLE = BEGUN + REST
# A source of completions that knows two words.
_CMP = """
local cmp = require('cmp')
local words = { complete = function(_, _, call) call({ { label = 'zebra_one' }, { label = 'zebra_two' } }) end }
cmp.register_source('words', words)
cmp.setup({
  sources = { { name = 'words' } },
  mapping = {
    ['<Tab>'] = function(fallback)
      if cmp.visible() then cmp.select_next_item() else fallback() end
    end,
  },
})
"""
_BLINK = """
package.preload['zebras'] = function()
  local words = {}
  function words.new() return setmetatable({}, { __index = words }) end
  function words:get_completions(_, call)
    local items = { { label = 'zebra_one' }, { label = 'zebra_two' } }
    call({ items = items, is_incomplete_forward = false, is_incomplete_backward = false })
  end
  return words
end
require('blink.cmp').setup({
  fuzzy = { implementation = 'lua' },
  keymap = { preset = 'none', ['<Tab>'] = { 'select_next', 'fallback' } },
  completion = { list = { selection = { preselect = false, auto_insert = true } } },
  sources = { default = { 'words' }, providers = { words = { name = 'words', module = 'zebras' } } },
})
"""
_FIND = """
local home, places = ...
require('lsp_complete.server').checkout = function() end
require('lsp_complete').options.cmd = nil
vim.env.HOME, vim.env.PATH, vim.env.XDG_DATA_HOME = home, places .. '/path', nil
vim.env.VIRTUAL_ENV, vim.env.CONDA_PREFIX = places .. '/environment', nil
return (require('lsp_complete.server').find())
"""
_SLOW = """
local slow = ...
vim.lsp.enable('lsp_complete', false)
vim.wait(10000, function() return #vim.lsp.get_clients({ name = 'lsp_complete' }) == 0 end)
vim.lsp.config('lsp_complete', { cmd = { slow } })
vim.lsp.enable('lsp_complete')
"""
_FIND_IN = """
require('lsp_complete').options.cmd = nil
return (dofile(...).find())
"""
# To load it, and to answer, on a busy machine.
_MODEL_S = 120.0
# Menus are late for who types faster.
_PAUSE_S = 0.1
_MENUS = {"nvim-cmp": _CMP, "blink.cmp": _BLINK}
# As Neovim's manual has it, but for what a user does with the suggestion.
_OWN_KEY = """
vim.keymap.set('i', '<C-f>', function()
  return vim.lsp.inline_completion.get({ on_accept = function(item) %s end }) and '' or '<C-f>'
end, { expr = true })
"""
_PUTS_IN = "vim.api.nvim_paste(item.insert_text, false, -1)"


@pytest.fixture
def start(request, tmp_path, neovims, service):
    """Starts a Neovim, and closes it after the test."""
    benches: list[Bench] = []

    def starting(case: str = CASES[0], settings: dict[str, Any] | None = None, **lua: str) -> Bench:
        bench = started(case, tmp_path / f"{len(benches)}", neovims, settings or service.options, **lua)
        benches.append(bench)
        bench.opened("")
        return bench

    yield starting
    for bench in benches:
        bench.neovim.quit()


def menu(name: str) -> str:
    """The Lua that puts a completion menu on the path."""
    folder = programs.plugin(name)
    if folder is None:
        pytest.skip(f"{name} is not here: python -m tests.editors.programs")
    return f"vim.opt.runtimepath:append({str(folder)!r})\n{_MENUS[name]}"


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", _MENUS)
@pytest.mark.parametrize("order", ["before", "after"])
def test_a_menu_has_the_key_while_it_is_open_and_the_suggestion_else(start, name, case, order):
    bench = start(case, **{order: menu(name)})
    bench.neovim.type("zeb", _PAUSE_S)
    until("the menu", lambda: "zebra_two" in "".join(bench.neovim.screen))
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text("zebra_one")
    bench.neovim.type("\n" + BEGUN, _PAUSE_S)
    until("no menu", lambda: "zebra_two" not in "".join(bench.neovim.screen))
    bench.neovim.until_ghost(REST)
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text("zebra_one\n" + WHOLE)
    bench.neovim.keys("<CR>q<Tab>")
    until("a tab", lambda: bench.neovim.text.rpartition("q")[2].isspace())


@pytest.mark.parametrize("case", CASES)
def test_a_key_that_a_user_has_mapped_does_that_without_a_suggestion(start, case):
    mapped = "vim.keymap.set('i', '<Tab>', function() return 'mapped' end, { expr = true })"
    bench = start(case, before=mapped, after="require('lsp_complete').setup({})")  # as a reloaded configuration has it
    bench.neovim.keys("zzz<Tab>")
    bench.neovim.until_text("zzzmapped")
    bench.neovim.type("\n" + BEGUN)
    bench.neovim.until_ghost(REST)
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text("zzzmapped\n" + WHOLE)


@pytest.mark.parametrize("does", ["return item", _PUTS_IN], ids=["lets it", "does it itself"])
def test_neovims_own_way_to_accept_is_told_of_once_also_where_a_user_swallows_the_command(start, does):
    bench = start(before=_OWN_KEY % does)
    bench.neovim.type(BEGUN)
    bench.neovim.until_ghost(REST)
    bench.neovim.keys("<C-f>")
    bench.neovim.until_text(WHOLE)
    bench.log.until(("accepted", Part.WHOLE, len(REST)))


@pytest.mark.parametrize("case", CASES)
def test_what_is_in_the_index_is_sent_and_what_is_ignored_is_not(start, case, tmp_path):
    work = tmp_path / "0" / "work"
    work.mkdir(parents=True)
    (work / ".gitignore").write_text("ignored.py\n")
    for name in ("indexed", "ignored"):
        (work / f"{name}.py").write_text(f"def {name}_helper({name}_first):\n    return 1\n")
    bench = start(case)
    bench.neovim.type("from indexed import indexed_helper\nfrom ignored import ignored_helper\n\nseen =")
    bench.neovim.until_ghost("['indexed_first']")


@pytest.mark.parametrize("case", CASES)
def test_the_service_may_die_and_come_back_while_somebody_types(start, case, service):
    bench = start(case)
    bench.neovim.type(BEGUN)
    bench.neovim.until_ghost(REST)
    service.kill()
    bench.neovim.type("\ntotal")
    until("the state", lambda: bench.neovim.lua("return require('lsp_complete').status().state") == "offline")
    assert "offline" in bench.neovim.lua("return require('lsp_complete').statusline()")
    assert bench.neovim.text == f"{BEGUN}\ntotal"
    service.start()

    def is_back() -> bool:
        bench.neovim.keys("<BS>l")
        with contextlib.suppress(AssertionError):
            return bool(until("an answer", lambda: bench.neovim.ghost, 2))
        return False

    until("suggestions", is_back)
    until("the state", lambda: bench.neovim.lua("return require('lsp_complete').status().state") == "ready")


@pytest.mark.parametrize("case", CASES[::2])
def test_a_server_that_crashes_is_started_again(start, case):
    bench = start(case, before="vim.o.cmdheight = 6")  # Neovim has much to say of it, and no key need be pressed
    crashed = bench.neovim.process.children()
    for process in crashed:
        process.kill()
    psutil.wait_procs(crashed, 15)
    client = "return #vim.lsp.get_clients({ bufnr = 0, name = 'lsp_complete' })"
    until("it is gone", lambda: not bench.neovim.lua(client))
    until("another one", lambda: bench.neovim.lua(client))
    bench.neovim.type(BEGUN)
    bench.neovim.until_ghost(REST)


def test_commands_say_what_there_is_to_say(start):
    bench = start()
    bench.neovim.type(BEGUN)
    bench.neovim.until_ghost(REST)
    bench.neovim.keys("<Esc>")
    bench.neovim.command("LspComplete status")
    until("the state", lambda: "lsp-complete: ready" in bench.neovim.command("messages"))
    bench.neovim.command("LspComplete explain")
    until("the reasons", lambda: "answer    the service was asked" in bench.neovim.text)
    assert len(bench.neovim.text.splitlines()) < HEIGHT
    bench.neovim.keys("q")
    until("the file", lambda: bench.neovim.text == BEGUN)
    bench.neovim.command("LspComplete snooze 5")
    until("the pause", lambda: bench.neovim.lua("return require('lsp_complete').status().state") == "snoozed")
    bench.neovim.command("LspComplete snooze 0")
    bench.neovim.command("LspComplete toggle")
    until("off", lambda: bench.neovim.lua("return require('lsp_complete').status().state") == "off")
    bench.neovim.command("LspComplete toggle")
    until("on", lambda: bench.neovim.lua("return require('lsp_complete').status().state") == "ready")
    bench.neovim.command("LspComplete stats")
    until("figures", lambda: "shown" in bench.neovim.text)
    bench.neovim.command("close | LspComplete log")
    until("the log", lambda: "index: ready" in bench.neovim.text)
    assert bench.neovim.lua("return vim.fn.getcompletion('LspComplete s', 'cmdline')") == ["snooze", "stats", "status"]
    assert bench.neovim.lua("return vim.fn.getcompletion('LspComplete toggle rus', 'cmdline')") == ["rust"]


def test_a_language_is_switched_off_and_the_status_says_by_whom(start):
    bench = start()
    for command, said in (
        ("toggle python", "off for python, until Neovim is closed"),
        ("status", "off: off here: in a language that was switched off"),
        ("toggle python", "on for python, until Neovim is closed"),
    ):
        bench.neovim.command(f"LspComplete {command}")
        until("an answer", partial(bench.neovim.has_said, f"lsp-complete: {said}"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("snooze soon", "snooze takes minutes"),
        ("snooze -1", "snooze takes minutes"),
        ("explain 0", "explain takes how many"),
        ("toggle klingon", "no language klingon; toggle takes a language, or nothing for all, as python"),
        ("status now", "status takes nothing"),
        ("nonsense", "there are explain, log, snooze, stats, status, toggle"),
    ],
)
def test_what_no_command_takes_is_said(start, given, said):
    bench = start()
    assert said in bench.neovim.command(f"LspComplete {given}")


def test_while_the_server_starts_the_status_says_so(start, tmp_path):
    bench = start()
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    bench.neovim.lua(_SLOW, str(slow))
    until("it starts", lambda: bench.neovim.lua("return require('lsp_complete').status().state") == "starting")
    assert "the language server is starting" in bench.neovim.command("LspComplete status")


@pytest.mark.parametrize("case", CASES)
def test_checkhealth_finds_no_fault(start, case):
    bench = start(case)
    bench.neovim.keys("<Esc>")
    bench.neovim.command("checkhealth lsp_complete")
    report = bench.neovim.text
    assert "server: " in report
    assert "running for" in report
    assert "ERROR" not in report


def test_the_server_is_found_where_installers_put_it(start, tmp_path):
    bench = start()
    home, places = tmp_path / "home", tmp_path / "places"
    found = {}
    for place in (
        home / ".local" / "bin",
        home / ".local" / "share" / "uv" / "tools" / "lsp-complete" / "bin",
        home / ".local" / "share" / "pipx" / "venvs" / "lsp-complete" / "bin",
        places / "environment" / "bin",
        places / "path",
    ):
        place.mkdir(parents=True)
        program = place / "lsp-complete"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        found[program] = bench.neovim.lua(_FIND, str(home), str(places))
    assert found == {program: [str(program), "lsp"] for program in found}


def test_the_server_of_the_checkout_that_the_plugin_runs_from_is_found(start, tmp_path):
    bench, checkout = start(), tmp_path / "checkout"
    shutil.copytree(PLUGIN, checkout / "lsp_complete" / "nvim")
    (checkout / "pyproject.toml").touch()
    program = checkout / ".venv" / "bin" / "lsp-complete"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    copied = str(checkout / "lsp_complete" / "nvim" / "lua" / "lsp_complete" / "server.lua")
    assert bench.neovim.lua(_FIND_IN, copied) == [str(program), "lsp"]


def test_what_is_printed_for_a_plain_configuration_works(tmp_path, neovims, service, monkeypatch):
    printed = subprocess.run([*SERVER[:-1], "nvim"], capture_output=True, text=True, check=True).stdout
    config = printed.partition("no manager at all\n")[2].partition("\n\n")[0]
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for name, value in service.options.items():
        monkeypatch.setenv(f"LSP_COMPLETE_{name.upper()}", value)
    bench = configured("0.12", tmp_path, neovims, config)
    bench.neovim.keys("i")
    bench.neovim.type(BEGUN)
    bench.neovim.until_ghost(REST)
    bench.neovim.quit()


@pytest.mark.model
@pytest.mark.parametrize("case", CASES)
def test_the_real_model_suggests_also_to_who_has_stopped_typing_before_it_was_loaded(start, case, model_path):
    bench = start(case, {"model": str(model_path), "threads": 1})
    bench.neovim.type("# naïve 😀\ndef add_numbers(first, second):\nreturn first +")
    until("ghost text", lambda: "second" in bench.neovim.ghost, _MODEL_S)
    bench.neovim.keys("<Tab>")
    bench.neovim.until_text("# naïve 😀\ndef add_numbers(first, second):\n    return first + second")


def test_closing_and_killing_an_editor_leave_no_process(tmp_path, neovims, service):
    for number, end in enumerate((Neovim.quit, Neovim.kill)):
        for case in CASES:
            bench = started(case, tmp_path / f"{number}{case}", neovims, service.options)
            processes = [bench.neovim.process, *bench.neovim.process.children(recursive=True)]
            assert len(processes) > 1
            end(bench.neovim)
            assert psutil.wait_procs(processes, 15)[1] == []
