"""How far something is, on stderr: a bar on a terminal, a line for each tenth elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

# Enough to see that something moves, and few enough for a log.
_PLAIN_STEPS = 10

Draw = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and all there is to do."""


@contextmanager
def shown(unit: str, *, in_bytes: bool = False) -> Iterator[Draw]:
    if not sys.stderr.isatty():
        yield _plain_lines(unit, in_bytes)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*_columns(in_bytes), console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None, visible=False)
        yield lambda what, done, total: bar.update(task, description=what, completed=done, total=total, visible=True)


def _columns(in_bytes: bool) -> "tuple[ProgressColumn, ...]":
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TransferSpeedColumn,
    )

    rest = (DownloadColumn(), TransferSpeedColumn()) if in_bytes else (MofNCompleteColumn(), TimeElapsedColumn())
    return TextColumn("{task.description}", markup=False), BarColumn(), *rest


def _plain_lines(unit: str, in_bytes: bool) -> Draw:
    printed: set[tuple[str, int]] = set()
    scale = 1e6 if in_bytes else 1

    def draw(what: str, done: int, total: int) -> None:
        step = done * _PLAIN_STEPS // max(1, total)
        if (what, step) not in printed:
            printed.add((what, step))
            print(f"{what}: {done / scale:,.0f} of {total / scale:,.0f} {unit}", file=sys.stderr, flush=True)

    return draw
