"""`lsp-complete nvim` and the plugin that it leads to: what README.md says of keys and commands is so."""

import re
from pathlib import Path

from typer.testing import CliRunner

from lsp_complete.cli.main import app
from lsp_complete.cli.nvim import plugin_folder, snippets

README = (Path(__file__).parent.parent.parent / "README.md").read_text("utf-8")
LUA = plugin_folder() / "lua" / "lsp_complete"


def said(*arguments):
    return CliRunner().invoke(app, ["nvim", *arguments]).output


def test_the_path_is_a_folder_that_neovim_can_load_from():
    folder = Path(said("--path").strip())
    assert (folder / "lua" / "lsp_complete" / "init.lua").is_file()
    assert (folder / "plugin" / "lsp_complete.lua").is_file()


def test_the_lines_for_each_manager_name_the_path():
    for name, lines in snippets(plugin_folder()).items():
        assert f"-- {name}\n{lines}" in said()
        assert str(plugin_folder()) in lines


def test_a_path_with_quotes_and_backslashes_is_quoted_as_lua_has_it():
    lines = snippets(Path('C:\\a "b"\\ü'))
    assert all('"C:\\\\a \\"b\\"\\\\ü"' in line for line in lines.values())


def test_the_keys_are_those_that_are_listed():
    block = re.search(r"keys = \{\n(.*?)\n  \}", (LUA / "init.lua").read_text("utf-8"), re.S)
    assert block is not None
    keys = dict(re.findall(r"(\w+) = '([^']+)'", block[1]))
    listed: dict[str, str] = {}
    for lhs, names in re.findall(r"^\| ((?:`<[^|]*`)) \| ((?:`\w+`(?:, )?)+) \|", README, re.M):
        listed |= dict(zip(re.findall(r"`(\w+)`", names), re.findall(r"`([^`]+)`", lhs), strict=True))
    assert listed == keys


def test_the_commands_are_those_that_are_listed():
    block = re.search(r"M\.commands = \{\n(.*?)\n\}", (LUA / "commands.lua").read_text("utf-8"), re.S)
    assert block is not None
    names = re.findall(r"^  (\w+) = \{$", block[1], re.M)
    listed = re.search(r"`:LspComplete ([^;]*);", README)
    assert listed is not None
    assert sorted(re.findall(r"`(\w+)[^`]*`", f"`{listed[1]}")) == sorted(names)
