"""The settings of a command. What is wrong with them is said on stderr; it ends a command only where its flags are."""

from typing import TYPE_CHECKING, Any

import typer

from lsp_complete.cli.failure import warn

if TYPE_CHECKING:
    from lsp_complete.config.settings import Settings


def loaded(**flags: Any) -> "Settings":
    """Flags that are None were not given."""
    from lsp_complete.config.settings import COMMAND_LINE, load_settings

    settings, problems = load_settings({name: value for name, value in flags.items() if value is not None})
    for problem in problems:
        warn(problem)
    if any(problem.startswith(COMMAND_LINE) for problem in problems):
        raise typer.Exit(2)
    return settings
