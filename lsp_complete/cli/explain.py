"""`lsp-complete explain`: what became of the last questions of an editor, and why. Reads a local file, asks nobody."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsp_complete.cli.failure import fail, failing_with

if TYPE_CHECKING:
    from rich.text import Text

# What fits on a screen.
_SHOWN = 20
_LAST = "last"
# Of an id: enough for 200 records.
_ID_LENGTH = 6


def run(
    which: Annotated[str, typer.Argument(metavar="[last|ID]", help="One in full: the last, or by its id.")] = "",
    last: Annotated[int, typer.Option(min=1, help="How many, the latest.")] = _SHOWN,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Why there was a suggestion, or none. The last questions of the editor, or of `lsp-complete complete`."""
    from lsp_complete.config.paths import state_folder
    from lsp_complete.server.records import FILE, read

    file = state_folder() / FILE
    with failing_with(OSError):
        rows = read(file)
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
        _print_all(_grouped(rows)[-last:])


def _print_all(groups: list[list[dict[str, Any]]]) -> None:
    """Each a line of 80 columns: of a path the name, of an id its beginning. `explain ID` has all of it."""
    from rich.table import Table

    from lsp_complete.cli.tables import printed

    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for name in ("when", "id", "place", "answer", "ms", "reused", "became"):
        table.add_column(name, overflow="fold", justify="right" if name in ("ms", "reused") else "left")
    for group in groups:
        table.add_row(*_cells(group[-1], len(group)))
    printed(table)


def _grouped(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Neighbours that asked the model nothing and became the same are one: a key is a question, and most are answered
    by what is known already."""
    return [list(group) for _, group in groupby(rows, _kind)]


def _kind(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["path"], _answer(row), _became(row), row["request_id"] if _num_prompt_tokens(row) else ""


def _num_prompt_tokens(row: dict[str, Any]) -> int:
    return int((row.get("usage") or {}).get("prompt_tokens", 0))


def _cells(row: dict[str, Any], num: int) -> "Iterator[Text]":
    from rich.text import Text

    num_tokens, total = _num_prompt_tokens(row), (row.get("timing_ms") or {}).get("total", 0.0)
    yield Text(datetime.fromtimestamp(row["at_s"]).strftime("%H:%M:%S"))
    yield Text(row["request_id"][:_ID_LENGTH])
    yield Text(f"{row['path'].rpartition('/')[2]}:{row['line']}")
    yield Text(_answer(row), "dim" if row.get("reason") else "")
    yield Text(f"{total:,.0f}")
    yield Text(f"{row['usage']['cached_tokens'] / num_tokens:.0%}" if num_tokens else "")
    yield Text(_became(row) if num == 1 else f"{num} times")


def _answer(row: dict[str, Any]) -> str:
    return f"{row.get('reason') or row['rung']}{', by hand' if row['trigger'] == 'invoked' else ''}"


def _became(row: dict[str, Any]) -> str:
    return row.get("outcome") or row.get("detail") or ""


def _print_one(row: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from lsp_complete.cli.tables import printed

    facts = Table(box=None, pad_edge=False, show_header=False)
    for name, text in _facts(row):
        facts.add_row(Text(name, "dim"), Text(text))
    printed(facts)
    if packed := [one for one in row.get("snippets") or () if not one["cut"]]:
        snippets = Table("", "lines of", "found by", "score", "tokens", box=None, pad_edge=False)
        for one in packed:
            cells = ("", one["path"], one["source"], f"{one['score']:.4f}", str(one["tokens"]))
            snippets.add_row(*map(Text, cells))
        printed(snippets)


def _facts(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Those that there are."""
    usage = row.get("usage") or {}
    yield "question", f"{row['request_id']}, {datetime.fromtimestamp(row['at_s']):%Y-%m-%d %H:%M:%S}"
    yield "place", f"{row['path']}:{row['line']} ({row['language']})"
    yield "asked", _asked(row)
    detail = f": {row['detail']}" if row.get("detail") else ""
    size = f"{row['mode']} of {row['num_characters']} characters, {row['rung']}"
    yield "answer", f"none, {row['reason']}{detail}" if row.get("reason") else size
    if row.get("asked") not in ("", None, row["request_id"]):
        yield "of question", row["asked"]
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
    yield "took", took(row.get("timing_ms") or {})
    if row.get("snippets"):
        yield "snippets", _counted(row["snippets"])


def took(timing_ms: Mapping[str, float]) -> str:
    """The stages of the pipeline in their order, then those of the service."""
    stages = [f"{name.replace('_', ' ')} {ms:,.0f}" for name, ms in timing_ms.items() if name != "total"]
    return f"{timing_ms.get('total', 0.0):,.0f} ms: {', '.join(stages)}"


def _counted(snippets: list[dict[str, Any]]) -> str:
    cut = Counter(one["cut"] for one in snippets if one["cut"])
    left_out = "".join(f", {num} left out: {why}" for why, num in cut.items())
    return f"{len(snippets) - cut.total()} of {len(snippets)} found{left_out}"


def _asked(row: dict[str, Any]) -> str:
    if row["trigger"] == "invoked":
        return "by hand"
    return "automatically" if row.get("debounce_ms") is None else f"after a pause of {row['debounce_ms']:,.0f} ms"
