"""`lsp-complete eval`: measure the suggestions, and what the model is given for them."""

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.failure import failing_with
from lsp_complete.cli.progress import Draw, shown

if TYPE_CHECKING:
    from lsp_complete.evaluation.infilling import Report, Row, Score, Suggest
    from lsp_complete.evaluation.report import Report as Retrieved

# What is measured is what is said, not how fast.
_DEADLINE_MS = 120_000

app = typer.Typer(help="Measure the suggestions, and what the model is given for them.", no_args_is_help=True)


@app.command()
def infilling(
    data: Annotated[Path, typer.Argument(help="Folder or jsonl file of HumanEval-Infilling.")],
    limit: Annotated[int, typer.Option(min=1, help="Rows to take.")] = 80,
    seed: Annotated[int, typer.Option(help="Which rows are taken.")] = 7,
    max_chars: Annotated[int, typer.Option(min=1, help="Leave out rows with so much text or more.")] = 1400,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON line.")] = False,
) -> None:
    """Fill holes in small programs, and run their tests. That is code that a model wrote, in a process of its own."""
    from lsp_complete.evaluation.infilling import EvaluationError, load_rows, select_rows
    from lsp_complete.protocol.errors import CompletionError

    with failing_with(EvaluationError, CompletionError):
        rows = select_rows(load_rows(data), limit, seed, max_chars)
        result = asyncio.run(_measure(rows))
    if as_json:
        print(json.dumps(asdict(result)))
    else:
        _print_table(result)


@app.command()
def retrieval(
    what: Annotated[list[str], typer.Argument(help="Folders, or names of trees that are known and fetched.")],
    num: Annotated[int, typer.Option(min=1, help="Holes of each kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Which holes are taken.")] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON line.")] = False,
) -> None:
    """How often the prompt holds what a hidden end of a line needs. Asks no model."""
    from lsp_complete.evaluation import report
    from lsp_complete.evaluation.trees import TreeError

    with failing_with(TreeError):
        reports = {name: _retrieved(root, num, seed) for name, root in map(_root, what)}
    if as_json:
        print(json.dumps(report.as_json(reports)))
    else:
        print(report.HEAD, *(line for name, one in reports.items() for line in report.lines(name, one)), sep="\n")


def _root(what: str) -> tuple[str, Path]:
    """Name and folder of what is measured. Raises TreeError."""
    from lsp_complete.config.paths import tree_folder
    from lsp_complete.evaluation.trees import root_of

    return root_of(what, tree_folder(), lambda line: print(line, file=sys.stderr))


def _retrieved(root: Path, num: int, seed: int) -> "Retrieved":
    from lsp_complete.config.paths import index_folder
    from lsp_complete.context.index import Index
    from lsp_complete.context.policy import Policy
    from lsp_complete.evaluation.retrieval import evaluate

    with closing(Index.open(root, index_folder(), Policy([root]))) as index, shown("holes") as draw:
        index.build()
        return evaluate(index, num, seed, partial(draw, "asked"))


@asynccontextmanager
async def _suggester() -> "AsyncIterator[Suggest]":
    """The pipeline of the editor, asked as by hand: no debounce, and as much time as it takes."""
    from lsp_complete.cli.connection import connected
    from lsp_complete.completion.pipeline import Pipeline
    from lsp_complete.protocol.completion import Trigger
    from lsp_complete.text.document import Document

    settings = loaded(deadline_ms=_DEADLINE_MS)
    async with connected(settings) as completer:
        pipeline = Pipeline(completer, settings, "evaluation")

        async def suggest(document: Document, offset: int) -> str:
            answer = await pipeline.suggest(document, offset, Trigger.INVOKED)
            return answer.insertion.text if answer.insertion else ""

        yield suggest


async def _measure(rows: "list[Row]") -> "Report":
    from lsp_complete.evaluation.infilling import evaluate

    async with _suggester() as suggest:
        with shown("rows") as draw:
            return await evaluate(rows, suggest, _counted(draw, len(rows)))


def _counted(draw: Draw, num_rows: int) -> "Callable[[Score], None]":
    done = itertools.count(1)
    return lambda score: draw("filled", next(done), num_rows)


def _print_table(result: "Report") -> None:
    from lsp_complete.cli.tables import print_measures

    shares = {"pass@1": result.pass_at_1, "exact match": result.exact_match}
    print_measures([*((name, f"{share:.1%}") for name, share in shares.items()), ("rows", str(result.num))])
