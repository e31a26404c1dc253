"""`lsp-complete audit`: what left this machine, when, and to where. Reads a local file and asks nobody."""

import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from lsp_complete.cli.since import HELP, since_s

if TYPE_CHECKING:
    from lsp_complete.client.audit_file import Entry

# What fits on a screen.
_SHOWN = 20
# Where no screen limits a line, each request has one.
_PIPED_COLUMNS = 400


def run(
    last: Annotated[int | None, typer.Option(min=1, help="How many, the latest; 20, or all with --since.")] = None,
    since: Annotated[str, typer.Option(metavar="WHEN", help=HELP)] = "",
    clear: Annotated[bool, typer.Option("--clear", help="Remove all that is recorded.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What left this machine: when, to where, of which files, how much. Recorded here and nowhere else."""
    from lsp_complete.client import audit_file
    from lsp_complete.config.paths import audit_file as path_of_audit

    file, from_s = path_of_audit(), since_s(since)
    try:
        if clear:
            audit_file.clear(file)
            print("cleared")
            return
        found, num_bad = audit_file.read(file)
    except OSError as error:
        _fail(f"{file}: {error.strerror or error}")
    entries = [entry for entry in found if entry.at_s >= from_s]
    num_found = len(entries)
    entries = entries[-(last or (num_found if since else _SHOWN)) :]
    if num_bad:
        print(f"lsp-complete: {num_bad} lines of {file} cannot be read", file=sys.stderr)
    if as_json:
        print(json.dumps({"requests": [_row(entry) for entry in entries]}, ensure_ascii=False))
    elif entries:
        _print_table(entries, num_found)
    else:
        print("nothing is recorded")


def _row(entry: "Entry") -> dict[str, Any]:
    """As JSON has it: the time in ISO 8601, the text, where it was kept, as the request that it was."""
    at = datetime.fromtimestamp(entry.at_s, UTC).isoformat(timespec="milliseconds")
    request = json.loads(entry.text) if entry.text else None
    fields = {name: value for name, value in asdict(entry).items() if name not in ("at_s", "text")}
    return {"at": at, **fields} | ({"request": request} if request else {})


def _print_table(entries: "list[Entry]", num_found: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in ("when", "to", "file", "with", "bytes", "covered", "tokens", "end"):
        table.add_column(name, overflow="fold")
    for entry in entries:
        table.add_row(*map(Text, _cells(entry)))
    console = Console() if sys.stdout.isatty() else Console(width=_PIPED_COLUMNS)
    console.print(table)
    total, places = sum(entry.num_bytes for entry in entries), {entry.destination for entry in entries}
    count = f"{len(entries)} of {num_found}" if len(entries) < num_found else str(num_found)
    console.print(Text(f"{count} requests, {total:,} bytes, to {', '.join(sorted(places))}", style="dim"))


def _cells(entry: "Entry") -> tuple[str, ...]:
    at = datetime.fromtimestamp(entry.at_s).strftime("%m-%d %H:%M:%S")
    others = ", ".join(dict.fromkeys(snippet.path for snippet in entry.snippets))
    tokens = f"{entry.prompt_tokens:,}" if entry.prompt_tokens else ""
    covered = str(entry.num_redacted or "")
    return at, entry.destination, entry.path, others, f"{entry.num_bytes:,}", covered, tokens, entry.outcome


def _fail(message: str) -> NoReturn:
    print(f"lsp-complete: {message}", file=sys.stderr)
    raise typer.Exit(1)
