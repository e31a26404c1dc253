"""`lsp-complete stats`: what became of suggestions on this machine, as tables with small plots, HTML or JSON."""

import json
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.failure import failing_with
from lsp_complete.cli.since import HELP, since_s
from lsp_complete.telemetry.reports import By

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from lsp_complete.telemetry.reports import Figures, Latency

_WIDTH = 24


def run(
    since: Annotated[str, typer.Option(metavar="WHEN", help=HELP)] = "",
    by: Annotated[By | None, typer.Option(help="Figures for each.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write one HTML file.", dir_okay=False)] = None,
    store: Annotated[Path | None, typer.Option(metavar="FILE", help="What `lsp-complete ingest` took in.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What became of suggestions, how fast, at what cost. Read on this machine alone."""
    from lsp_complete.telemetry.page import page

    report = _report(store, since_s(since), by)
    if as_json:
        print(json.dumps({name: asdict(figures) for name, figures in report.items()}))
    elif not report:
        print(_why_nothing(since) if store is None else f"Nothing is recorded in {store}.")
    elif html is not None:
        _write(html, page(report, "Suggestions", f"since {since}" if since else ""))
    else:
        _print(report)


def _why_nothing(since: str) -> str:
    from lsp_complete.config.paths import config_file, state_folder
    from lsp_complete.telemetry.store import FILE

    file, telemetry = state_folder() / FILE, loaded().telemetry
    if telemetry == "off":
        return (
            "Nothing is recorded: `telemetry` is `off`. For figures that stay on this machine, write "
            f'telemetry = "local" into {config_file()}, and restart the editor (DO_NOT_TRACK keeps it off).'
        )
    if since and file.exists():
        return f"Nothing is recorded since {since}."
    return (
        f"Nothing is recorded yet. `telemetry` is `{telemetry}`: an editor that is started now writes to {file} "
        "as soon as it shows a suggestion, unless its own settings say `off`."
    )


def _write(file: Path, text: str) -> None:
    with failing_with(OSError):
        file.write_text(text, "utf-8")
    print(file)


def _report(file: Path | None, from_s: float, by: By | None) -> "dict[str, Figures]":
    """Models go by their hash, and by their name where the catalogue has it."""
    from lsp_complete.config.paths import state_folder
    from lsp_complete.models.catalogue import CATALOGUE
    from lsp_complete.protocol.events import hashed
    from lsp_complete.telemetry.reports import report
    from lsp_complete.telemetry.store import FILE, EventStore

    with failing_with(OSError, sqlite3.Error), EventStore(file or state_folder() / FILE) as store:
        found = report(store.since(from_s), by)
    names = {str(hashed(model.name)): model.name for model in CATALOGUE}
    return {names.get(name, name): figures for name, figures in found.items()}


def _print(report: "Mapping[str, Figures]") -> None:
    from rich.console import Console

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    for name, figures in report.items():
        if name != "all":
            console.rule(f"[bold]{name}")
        _print_figures(console, figures)


def _print_figures(console: "Console", figures: "Figures") -> None:
    from lsp_complete.telemetry.page import funnel

    console.print(_summary(figures))
    none = [*figures.suppressed.items(), *figures.errors.items()]
    for title, rows in (
        ("what became of them", funnel(figures)),
        ("where answers came from", list(figures.rungs.items())),
        ("why they were not taken", list(figures.rejected.items())),
        ("why there was none", none),
        ("given up on the way", list(figures.cancelled.items())),
    ):
        if any(count for _, count in rows):
            console.print(_bars(title, rows))
    if figures.retained:
        console.print(_shares(figures.retained))
    if figures.latency:
        console.print(_latencies(figures.latency))


def _summary(figures: "Figures") -> str:
    tokens = figures.tokens
    return (
        f"\n[bold]{figures.acceptance:.0%}[/] of {figures.num_shown:,} suggestions accepted; kept are "
        f"[bold]{figures.retained_per_accepted:.0%}[/] of the accepted characters, "
        f"[bold]{figures.retained_per_offered:.0%}[/] of those offered.\n"
        f"[bold]{figures.local_share:.0%}[/] answered without the network; "
        f"{tokens.cached:,} of {tokens.prompt:,} prompt tokens cached; "
        f"{tokens.wasted:,} of {tokens.generated:,} generated tokens wasted ([bold]{figures.wasted_share:.0%}[/]).\n"
    )


def _bars(title: str, rows: Sequence[tuple[str, int]]) -> "Table":
    most = max(count for _, count in rows)
    return _plot(title, [(name, count / most, f"{count:,}") for name, count in rows])


def _shares(retained: "Mapping[str, float]") -> "Table":
    return _plot("kept of what was accepted", [(name, share, f"{share:.0%}") for name, share in retained.items()])


def _plot(title: str, rows: Sequence[tuple[str, float, str]]) -> "Table":
    """A bar a row, in eighths of a character."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=None, show_header=False, pad_edge=False)
    table.add_column(min_width=18)
    table.add_column(width=_WIDTH, style="cyan")
    table.add_column(justify="right", min_width=8)
    for name, share, text in rows:
        full, rest = divmod(round(share * _WIDTH * 8), 8)
        table.add_row(name, "█" * full + " ▏▎▍▌▋▊▉"[rest].strip(), text)
    table.add_row()
    return table


def _latencies(latency: "Mapping[str, Latency]") -> "Table":
    from rich.table import Table

    table = Table(title="from the question to the answer", title_justify="left", title_style="bold", box=None)
    table.add_column("", min_width=17)
    for name in ("p50", "p90", "p99", "answers"):
        table.add_column(name, justify="right", min_width=9)
    for name, one in latency.items():
        table.add_row(name, *(f"{value:,.0f} ms" for value in (one.p50_ms, one.p90_ms, one.p99_ms)), f"{one.num:,}")
    return table
