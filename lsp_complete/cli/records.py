"""`lsp-complete explain`: what became of the last questions of an editor, and why. Reads a local file, asks nobody."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsp_complete.cli.failure import fail

if TYPE_CHECKING:
    from rich.text import Text

# What fits on a screen.
_SHOWN = 20
_LAST = "last"


def run(
    which: Annotated[str, typer.Argument(metavar="[last|ID]", help="One in full: the last, or by its id.")] = "",
    last: Annotated[int, typer.Option(min=1, help="How many, the latest.")] = _SHOWN,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Why there was a suggestion, or none: the last questions of the running or last editor."""
    from lsp_complete.config.paths import state_folder
    from lsp_complete.server.records import FILE, read

    file = state_folder() / FILE
    try:
        rows = read(file)
    except OSError as error:
        fail(f"{file}: {error.strerror or error}")
    if which:
        rows = [row for row in rows if which == _LAST or row["request_id"].startswith(which)][-1:]
    if which and not rows:
        fail(f"no record of {which}" if which != _LAST else "nothing is recorded")
    if as_json:
        print(json.dumps({"records": rows[-last:]}, ensure_ascii=False))
    elif not rows:
        print("nothing is recorded")
    elif which:
        _print_one(rows[0])
    else:
        _print_all(rows[-last:])


def _print_all(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from lsp_complete.cli.tables import printed

    table = Table(box=None, pad_edge=False)
    for name in ("when", "id", "place", "asked", "answer", "ms", "tokens", "became"):
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*_cells(row))
    printed(table)


def _cells(row: dict[str, Any]) -> "tuple[Text, ...]":
    from rich.text import Text

    when = datetime.fromtimestamp(row["at_s"]).strftime("%H:%M:%S")
    answer = Text(row["reason"], "dim") if row.get("reason") else Text(f"{row['mode']}, {row['rung']}")
    usage, total = row.get("usage") or {}, (row.get("timing_ms") or {}).get("total", 0.0)
    tokens = f"{usage['cached_tokens']}/{usage['prompt_tokens']}" if usage.get("prompt_tokens") else ""
    cells = (when, row["request_id"][:8], f"{row['path']}:{row['line']}", row["trigger"])
    rest = (f"{total:,.0f}", tokens, row.get("outcome", ""))
    return *map(Text, cells), answer, *map(Text, rest)


def _print_one(row: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from lsp_complete.cli.tables import printed

    facts = Table(box=None, pad_edge=False, show_header=False)
    for name, text in _facts(row):
        facts.add_row(Text(name, "dim"), Text(text))
    printed(facts)
    if row.get("snippets"):
        snippets = Table(box=None, pad_edge=False)
        for name in ("snippets: file", "found by", "score", "tokens", "left out"):
            snippets.add_column(name, overflow="fold")
        for one in row["snippets"]:
            cells = (one["path"], one["source"], f"{one['score']:.4f}", str(one["tokens"] or ""), one["cut"])
            snippets.add_row(*map(Text, cells))
        printed(snippets)


def _facts(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Those that there are."""
    usage = row.get("usage") or {}
    yield "question", f"{row['request_id']}, {datetime.fromtimestamp(row['at_s']):%Y-%m-%d %H:%M:%S}"
    yield "place", f"{row['path']}:{row['line']} ({row['language']}), asked {_asked(row)}"
    detail = f": {row['detail']}" if row.get("detail") else ""
    size = f"{row['num_characters']} characters, {row['mode']}, {row['rung']}"
    yield "answer", f"none, {row['reason']}{detail}" if row.get("reason") else size
    if row.get("asked") not in ("", None, row["request_id"]):
        yield "asked by", row["asked"]
    if row.get("outcome"):
        yield "became", row["outcome"]
    if row.get("filters"):
        yield "filters", ", ".join(row["filters"])
    if usage.get("prompt_tokens"):
        counts = f"{usage['cached_tokens']} of {usage['prompt_tokens']} reused, {usage['completion_tokens']} generated"
        yield "tokens", f"{counts}, by {row['model']}"
    if row.get("num_redacted"):
        yield "covered", f"{row['num_redacted']} credentials"
    if row.get("late"):
        yield "too late", ", ".join(row["late"])
    yield "ms", "  ".join(f"{name} {ms:,.1f}" for name, ms in (row.get("timing_ms") or {}).items())


def _asked(row: dict[str, Any]) -> str:
    if row["trigger"] == "invoked":
        return "by hand"
    return "automatically" if row.get("debounce_ms") is None else f"after a pause of {row['debounce_ms']:,.0f} ms"
