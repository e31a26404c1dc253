"""`lsp-complete nvim`: where the Neovim plugin lies, and what to write into Neovim's configuration."""

import json
from pathlib import Path
from typing import Annotated

import typer

_SETUP = "require('lsp_complete').setup({})"


def run(
    path: Annotated[bool, typer.Option("--path", help="Print the plugin's folder alone.")] = False,
) -> None:
    """The plugin for Neovim: its folder, and how to set it up."""
    folder = plugin_folder()
    print(folder if path else _manual(folder))


def plugin_folder() -> Path:
    """A folder for Neovim's `runtimepath`."""
    return Path(__file__).parent.parent / "nvim"


def snippets(folder: Path) -> dict[str, str]:
    """What to write, by the manager of plugins."""
    quoted = json.dumps(str(folder), ensure_ascii=False)  # as Lua has strings, too
    return {
        "lazy.nvim": f"{{ dir = {quoted}, name = 'lsp_complete', lazy = false, opts = {{}} }}",
        "packer.nvim": f"use {{ {quoted}, as = 'lsp_complete', config = function() {_SETUP} end }}",
        "vim.pack, which takes repositories only, or no manager at all": (
            f"vim.opt.runtimepath:prepend({quoted})\n{_SETUP}"
        ),
    }


def _manual(folder: Path) -> str:
    blocks = [f"-- {name}\n{lines}" for name, lines in snippets(folder).items()]
    return "\n\n".join([f"The plugin: {folder}", *blocks, "Then :checkhealth lsp_complete says whether all is well."])
