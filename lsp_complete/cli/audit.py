"""`lsp-complete audit`: what left this machine, when, and to where. Reads a local file and asks nobody."""

import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from lsp_complete.cli.failure import failing_with, warn
from lsp_complete.cli.since import HELP, since_s

if TYPE_CHECKING:
    from lsp_complete.client.audit_file import Entry

# What fits on a screen.
_SHOWN = 20


def run(
    last: Annotated[int | None, typer.Option(min=1, help="How many, the latest; 20, or all with --since.")] = None,
    since: Annotated[str, typer.Option(metavar="WHEN", help=HELP)] = "",
    clear: Annotated[bool, typer.Option("--clear", help="Remove all that is recorded.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What left this machine: when, to where, how much. Recorded here and nowhere else."""
    from lsp_complete.client import audit_file
    from lsp_complete.config.paths import audit_file as path_of_audit

    file, from_s = path_of_audit(), since_s(since)
    with failing_with(OSError):
        if clear:
            audit_file.clear(file)
            print("cleared")
            return
        found, num_bad = audit_file.read(file)
    entries = [entry for entry in found if entry.at_s >= from_s]
    num_found = len(entries)
    entries = entries[-(last or (num_found if since else _SHOWN)) :]
    if num_bad:
        warn(f"{num_bad} lines of {file} cannot be read")
    if as_json:
        print(json.dumps({"requests": [audit_file.as_row(entry) for entry in entries]}, ensure_ascii=False))
    elif entries:
        _print_table(entries, num_found)
    else:
        print("nothing is recorded")


def _print_table(entries: "list[Entry]", num_found: int) -> None:
    from rich.table import Table
    from rich.text import Text

    from lsp_complete.cli.tables import printed

    table = Table(box=None, pad_edge=False)
    for name in ("when", "to", "file", "with", "bytes", "covered", "tokens", "end"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        table.add_row(*map(Text, _cells(entry)))
    total, places = sum(entry.num_bytes for entry in entries), {entry.destination for entry in entries}
    count = f"{len(entries)} of {num_found}" if len(entries) < num_found else str(num_found)
    printed(table, Text(f"{count} requests, {total:,} bytes, to {', '.join(sorted(places))}", style="dim"))


def _cells(entry: "Entry") -> tuple[str, ...]:
    at = datetime.fromtimestamp(entry.at_s).strftime("%m-%d %H:%M:%S")
    others = ", ".join(dict.fromkeys(snippet.path for snippet in entry.snippets))
    tokens = f"{entry.prompt_tokens:,}" if entry.prompt_tokens else ""
    covered = str(entry.num_redacted or "")
    return at, entry.destination, entry.path, others, f"{entry.num_bytes:,}", covered, tokens, entry.outcome
