"""`lsp-complete eval`: measure the suggestions against public data."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lsp_complete.evaluation.infilling import Report, Row, Score, Suggest

# What is measured is what is said, not how fast.
_DEADLINE_MS = 120_000

app = typer.Typer(help="Measure the suggestions against public data.", no_args_is_help=True)


@app.callback()
def _evaluate() -> None:
    """With a callback, a single command keeps its name."""


@app.command()
def infilling(
    data: Annotated[Path, typer.Argument(help="Folder or jsonl file of HumanEval-Infilling.")],
    limit: Annotated[int, typer.Option(min=1, help="Rows to take.")] = 80,
    seed: Annotated[int, typer.Option(help="Which rows are taken.")] = 7,
    max_chars: Annotated[int, typer.Option(min=1, help="Leave out rows with so much text or more.")] = 1400,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON line.")] = False,
) -> None:
    """Fill holes in small programs, and run their tests. Runs code that a model wrote, in a process of its own."""
    from lsp_complete.evaluation.infilling import EvaluationError, load_rows, select_rows
    from lsp_complete.protocol.errors import CompletionError

    try:
        rows = select_rows(load_rows(data), limit, seed, max_chars)
        result = asyncio.run(_measure(rows))
    except (EvaluationError, CompletionError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(1) from None
    if as_json:
        print(json.dumps(asdict(result)))
    else:
        _print_table(result)


@asynccontextmanager
async def _suggester() -> "AsyncIterator[Suggest]":
    """The pipeline of the editor, asked as by hand: no debounce, and as much time as it takes."""
    from lsp_complete.cli.connection import connected
    from lsp_complete.completion.pipeline import Pipeline
    from lsp_complete.config.settings import load_settings
    from lsp_complete.protocol.completion import Trigger
    from lsp_complete.text.document import Document

    settings, problems = load_settings({"deadline_ms": _DEADLINE_MS})
    for problem in problems:
        print(f"lsp-complete: {problem}", file=sys.stderr)
    async with connected(settings) as completer:
        pipeline = Pipeline(completer, settings, "evaluation")

        async def suggest(document: Document, offset: int) -> str:
            answer = await pipeline.suggest(document, offset, Trigger.INVOKED)
            return answer.insertion.text if answer.insertion else ""

        yield suggest


async def _measure(rows: "list[Row]") -> "Report":
    from lsp_complete.evaluation.infilling import evaluate

    async with _suggester() as suggest:
        with _progress(len(rows)) as on_score:
            return await evaluate(rows, suggest, on_score)


@contextmanager
def _progress(num_rows: int) -> "Iterator[Callable[[Score], None]]":
    """A bar on a terminal, on stderr; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("infilling", total=num_rows)
        yield lambda score: bar.update(task, advance=1, description=f"{score.outcome:9}")


def _print_table(result: "Report") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("measure", "value", box=None, pad_edge=False)
    table.add_row("pass@1", f"{result.pass_at_1:.1%}")
    table.add_row("exact match", f"{result.exact_match:.1%}")
    table.add_row("rows", str(result.num))
    Console().print(table)
