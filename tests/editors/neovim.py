"""A real Neovim without a terminal, driven through its own interface: keys in, screen and buffer out."""

import json
import os
import select
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import msgpack
import psutil
import pytest

from tests.editors.outcomes import PATIENCE_S, Outcomes, until

PLUGIN = Path(__file__).parent.parent.parent / "lsp_complete" / "nvim"
SERVER = [sys.executable, "-P", "-m", "lsp_complete", "lsp"]
WIDTH, HEIGHT = 80, 14
# A version, and who draws.
CASES = ("0.12 native", "0.12 own", "0.11 own")
ABOVE = "x = 'é😀'  # naïve 漢字"
_REQUEST, _RESPONSE = 0, 1
_numbers = count()
NAMESPACES = ("nvim.lsp.inline_completion", "lsp_complete")

_GHOST = """
local lines = {}
for _, name in ipairs(...) do
  local id = vim.api.nvim_get_namespaces()[name]
  for _, mark in ipairs(id and vim.api.nvim_buf_get_extmarks(0, id, 0, -1, { details = true }) or {}) do
    for _, chunks in ipairs({ mark[4].virt_text or {}, unpack(mark[4].virt_lines or {}) }) do
      lines[#lines + 1] = table.concat(vim.tbl_map(function(chunk) return chunk[1] end, chunks))
    end
  end
end
return table.concat(lines, '\\n')
"""
_LEAVE = """
local client = vim.lsp.get_clients({ name = 'lsp_complete' })[1]
vim.cmd('bwipeout!')
client:request_sync('lsp-complete/explain', { last = 1 }, 30000)
"""
_SCREEN = """
vim.cmd.redraw()
local rows = {}
for row = 1, vim.o.lines do
  local cells = {}
  for col = 1, vim.o.columns do cells[col] = vim.fn.screenstring(row, col) end
  rows[row] = (table.concat(cells):gsub('%s+$', ''))
end
return rows
"""


class Connection:
    """Neovim's msgpack-RPC over the pipes of a child. What it tells unasked, such as what it draws, is passed over."""

    def __init__(self, argv: list[str], environ: dict[str, str]) -> None:
        self.process = subprocess.Popen(argv, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._unpacker = msgpack.Unpacker(ext_hook=lambda code, data: msgpack.unpackb(data))
        self._num_calls = 0

    def call(self, method: str, *arguments: Any) -> Any:
        """Raises EOFError if Neovim goes, RuntimeError if it cannot do it, TimeoutError if it waits for a key."""
        assert self.process.stdin is not None
        self._num_calls += 1
        self.process.stdin.write(msgpack.packb([_REQUEST, self._num_calls, method, arguments]))
        self.process.stdin.flush()
        while True:
            kind, *message = self._read()
            if kind == _RESPONSE and message[0] == self._num_calls:
                _, error, result = message
                if error:
                    raise RuntimeError(error[-1])
                return result

    def _read(self) -> list[Any]:
        assert self.process.stdout is not None
        while True:
            for message in self._unpacker:
                return list(message)
            if not select.select([self.process.stdout], [], [], PATIENCE_S)[0]:
                raise TimeoutError("Neovim does not answer")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise EOFError
            self._unpacker.feed(data)

    def close(self) -> None:
        """The pipes; and wait until it is gone."""
        self.process.communicate()


class Neovim:
    """`config` is what a user has in init.lua."""

    def __init__(self, program: Path, file: Path, config: str) -> None:
        folder = file.parent.parent
        init = folder / "init.lua"
        init.write_text("vim.o.swapfile, vim.o.termguicolors = false, true\n" + config, "utf-8")
        argv = [str(program), "--embed", "--headless", "-n", "-u", str(init), str(file)]
        self._connection = Connection(argv, {**os.environ, **_own_folders(folder)})
        self._call = self._connection.call
        self.process = psutil.Process(self._connection.process.pid)
        self._call("nvim_ui_attach", WIDTH, HEIGHT, {"rgb": True})
        until("the server", lambda: self.lua("return #vim.lsp.get_clients({ bufnr = 0 })"))

    def keys(self, text: str) -> None:
        self._call("nvim_input", text)

    def type(self, text: str, pause_s: float = 0.0) -> None:
        """Key by key, as fast as they are taken, or slower."""
        for char in text:
            time.sleep(pause_s)
            self.keys("<lt>" if char == "<" else char)

    def lua(self, code: str, *arguments: Any) -> Any:
        return self._call("nvim_exec_lua", code, arguments)

    def command(self, text: str) -> str:
        return str(self._call("nvim_exec2", text, {"output": True})["output"])

    def has_said(self, text: str) -> bool:
        return text in self.command("messages")

    @property
    def ghost(self) -> str:
        """The virtual text in the buffer."""
        return str(self.lua(_GHOST, NAMESPACES))

    @property
    def screen(self) -> list[str]:
        return [str(row) for row in self.lua(_SCREEN)]

    @property
    def text(self) -> str:
        return "\n".join(self._call("nvim_buf_get_lines", 0, 0, -1, False))

    @property
    def cursor(self) -> tuple[int, int]:
        row, col = self._call("nvim_win_get_cursor", 0)
        return row, col

    @property
    def mode(self) -> str:
        return str(self._call("nvim_get_mode")["mode"])

    def until_ghost(self, text: str) -> None:
        until(f"ghost text {text!r}", lambda: self.ghost == text)

    def until_text(self, text: str) -> None:
        until(f"text {text!r}", lambda: self.text == text)

    def quit(self) -> None:
        try:
            self._call("nvim_command", "qa!")
        except TimeoutError:
            self._connection.process.kill()
        except (EOFError, BrokenPipeError):
            pass
        self._connection.close()

    def kill(self) -> None:
        self._connection.process.kill()
        self._connection.close()


def _set_up(options: dict[str, Any]) -> str:
    given = json.dumps(json.dumps({"cmd": SERVER, **options}))
    folder = json.dumps(str(PLUGIN))
    return f"vim.opt.runtimepath:prepend({folder})\nrequire('lsp_complete').setup(vim.json.decode({given}))\n"


def _own_folders(folder: Path) -> dict[str, str]:
    """Nothing of the user's own set-up is read or written."""
    own = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    own |= {f"LSP_COMPLETE_{kind}": str(folder / kind.lower()) for kind in ("LOGS", "INDEXES", "STATE", "RUNTIME")}
    return {**own, "LSP_COMPLETE_CONFIG": str(folder / "config.toml")}


@dataclass
class Bench:
    """An editor, and what its server has remembered since the test began."""

    neovim: Neovim
    folder: Path
    log: Outcomes

    def opened(self, text: str, name: str = "") -> None:
        """A new file, the cursor at its end, typing."""
        file = self.folder / "work" / (name or f"file{next(_numbers)}.py")
        file.write_text(text, "utf-8")
        self.log.forget()
        self.neovim.command(f"edit! {file}")
        until("the server", lambda: self.neovim.lua("return #vim.lsp.get_clients({ bufnr = 0 })"))
        self.neovim.keys("GA")

    def left(self) -> None:
        """The file is closed, and the server has heard of it."""
        self.neovim.keys("<C-\\><C-n>")
        self.neovim.lua(_LEAVE)


def started(
    case: str, folder: Path, neovims: dict[str, Path], settings: dict[str, Any], before: str = "", after: str = ""
) -> Bench:
    """`before` is Lua that runs ahead of the plugin's set-up, `after` behind it."""
    version, drawing = case.split()
    options = {"drawing": drawing, "settings": {**settings, "telemetry": "local"}}
    return configured(version, folder, neovims, f"{before}\n{_set_up(options)}\n{after}")


def configured(version: str, folder: Path, neovims: dict[str, Path], config: str) -> Bench:
    if version not in neovims:
        pytest.skip(f"no Neovim {version}: python -m tests.editors.programs")
    (folder / "work" / ".git").mkdir(parents=True)
    file = folder / "work" / "first.py"
    file.write_text("", "utf-8")
    return Bench(Neovim(neovims[version], file, config), folder, Outcomes(folder))
