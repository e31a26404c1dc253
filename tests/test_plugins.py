"""README.md's table of what the two plugins have: keys, commands and settings, against package.json and the Lua."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| (.*) \| (.*) \| (.*) \|$", README.split("| what | VS Code | Neovim |")[1].split("\n\n")[0], re.M
)
VSCODE, NEOVIM = ("\n".join(row[column] for row in ROWS) for column in (1, 2))
MANIFEST = json.loads((ROOT / "vscode-shim" / "package.json").read_text("utf-8"))["contributes"]
LUA = ROOT / "lsp_complete" / "nvim" / "lua" / "lsp_complete"


def test_every_command_and_key_of_the_extension_is_listed():
    for command in MANIFEST["commands"]:
        assert command["title"] in VSCODE
    for binding in MANIFEST["keybindings"]:
        assert {f"`{binding[name]}`" for name in ("key", "mac") if name in binding} <= set(re.findall("`.+?`", VSCODE))


def test_every_key_of_the_neovim_plugin_is_listed_with_its_name():
    (keys,) = re.findall(r"  keys = \{\n(.*?)\n  \}", (LUA / "init.lua").read_text("utf-8"), re.S)
    known = [(lhs, name) for name, lhs in re.findall(r"(\w+) = '(.+?)'", keys)]
    assert re.findall(r"`(<.+?>)`, `(\w+)`", NEOVIM) == known


def test_every_command_of_the_neovim_plugin_is_listed_and_no_other():
    source = (LUA / "commands.lua").read_text("utf-8").partition("M.commands = {")[2].partition("\n}")[0]
    assert set(re.findall(r":LspComplete (\w+)", NEOVIM)) == set(re.findall(r"^  (\w+) = \{", source, re.M))


def test_every_option_of_the_neovim_plugin_is_listed():
    options = set(re.findall(r"^---@field (\w+)\?", (LUA / "init.lua").read_text("utf-8"), re.M))
    assert options <= set(re.findall(r"`(\w+)`", NEOVIM))
