"""README.md's lists against the code: settings, commands, metrics, environment."""

import json
import re
from pathlib import Path
from typing import get_args

import typer

from lsp_complete.backend.metrics import Metrics
from lsp_complete.cli.main import app
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.events import Event
from lsp_complete.server import commands, lsp

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def test_every_setting_is_listed_with_its_default_and_its_description():
    rows = re.findall(r"^\| `(\w+)` \| `([^`]*)` \| (.*) \|$", README, re.M)
    listed = {name: (json.loads(default), description) for name, default, description in rows}
    fields = Settings.model_fields.items()
    known = {
        name: (list(f.default) if isinstance(f.default, tuple) else f.default, f.description) for name, f in fields
    }
    assert listed == known


def test_every_command_is_listed():
    root = typer.main.get_group(app)
    for name, command in root.commands.items():
        subcommands = getattr(command, "commands", {"": None})
        for subcommand in subcommands:
            row = next((line for line in README.splitlines() if line.startswith(f"| `lsp-complete {name}")), "")
            assert row, name
            assert subcommand in row, (name, subcommand)


def test_every_metric_is_listed_and_no_other():
    listed = set(re.findall(r"`(lsp_complete_\w+)`", README))
    samples = {f"{m.name}_total" if m.type == "counter" else m.name for m in Metrics().registry.collect()}
    assert listed == samples


def test_every_message_of_our_own_is_named():
    for name in (commands.EXPLAIN_REQUEST, commands.STATUS, *commands.COMMANDS):
        assert f"`{name}`" in README


def test_every_variable_that_moves_a_folder_is_named():
    source = (Path(lsp.__file__).parent.parent / "config" / "paths.py").read_text("utf-8")
    for variable in set(re.findall(r"LSP_COMPLETE_[A-Z]+", source)):
        assert f"`{variable}`" in README


def test_every_event_is_listed():
    for event in get_args(Event):
        assert f"`{event.__name__.lower()}`" in README
