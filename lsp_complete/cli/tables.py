"""Tables for people: as wide as the terminal, and a line a row where there is none."""

import sys

from rich.console import Console, RenderableType

# Where no screen limits a line, each row has one.
_PIPED_COLUMNS = 400


def printed(*what: RenderableType) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=_PIPED_COLUMNS)
    for one in what:
        console.print(one)
