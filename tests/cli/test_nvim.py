"""`lsp-complete nvim`, and the lines that lead to the plugin."""

from pathlib import Path

from typer.testing import CliRunner

from lsp_complete.cli.main import app
from lsp_complete.cli.nvim import plugin_folder, snippets


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
