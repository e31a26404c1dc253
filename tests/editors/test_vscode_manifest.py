"""The extension's package.json against the code: settings, version, commands, and the page that lists them."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from lsp_complete.config.settings import Settings
from lsp_complete.server import commands

SHIM = Path(__file__).parent.parent.parent / "vscode-shim"
MANIFEST = json.loads((SHIM / "package.json").read_text("utf-8"))
README = (SHIM / "README.md").read_text("utf-8")
SOURCES = "".join(file.read_text("utf-8") for file in sorted((SHIM / "src").glob("*.ts")))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vscode_settings", SHIM / "settings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_settings_are_the_servers(script):
    assert script.manifest() == MANIFEST, "run: python vscode-shim/settings.py"


def test_what_decides_where_code_goes_is_not_the_workspaces():
    scopes = {name: one["scope"] for name, one in MANIFEST["contributes"]["configuration"]["properties"].items()}
    for name in ("server.path", "url", "credential", "ca_file", "model", "upstream_url", "telemetry", "telemetry_url"):
        assert scopes[f"lsp-complete.{name}"] == "machine"


def test_lists_of_the_workspace_add_to_the_users_as_they_only_ever_keep_something_back():
    lists = {name for name, field in Settings.model_fields.items() if isinstance(field.default, tuple)}
    assert lists == {"disabled_languages", "disabled_scopes", "exclude", "disabled_repositories"}


def test_every_command_that_the_extension_sends_is_the_servers():
    assert set(re.findall(r"execute(?:<.*?>)?\('(lsp-complete\.\w+)'", SOURCES)) <= set(commands.COMMANDS)


def test_every_command_and_key_is_listed():
    for command in MANIFEST["contributes"]["commands"]:
        assert command["title"] in README
    for binding in MANIFEST["contributes"]["keybindings"]:
        assert f"`{binding['key']}`" in README


def test_every_command_does_something():
    declared = {command["command"].removeprefix("lspComplete.") for command in MANIFEST["contributes"]["commands"]}
    body = SOURCES[SOURCES.index("const commands: Record") :].split("};")[0]
    assert declared == set(re.findall(r"^    (\w+)[:,]", body, re.M))
