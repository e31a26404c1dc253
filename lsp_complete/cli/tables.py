"""Tables for people: as wide as the terminal, and a line a row where there is none."""

import sys
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.table import Table

# Where no screen limits a line, each row has one.
_PIPED_COLUMNS = 400


def printed(*what: RenderableType) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=_PIPED_COLUMNS)
    for one in what:
        console.print(one)


def print_measures(pairs: Iterable[tuple[str, str]]) -> None:
    table = Table("measure", "value", box=None, pad_edge=False)
    for pair in pairs:
        table.add_row(*pair)
    printed(table)
