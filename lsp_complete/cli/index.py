"""`lsp-complete index`: build the index of a folder, say how it is, ask it."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsp_complete.cli import index_explain
from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.failure import fail

if TYPE_CHECKING:
    from lsp_complete.context.answers import Status
    from lsp_complete.context.index import Index

app = typer.Typer(help="Build the index of a folder, say how it is, ask it.", no_args_is_help=True)

_SHOWN_WARNINGS = 10

_Root = Annotated[Path, typer.Argument(help="The folder; without one, the current.", exists=True, file_okay=False)]
_RootOption = Annotated[Path, typer.Option("--root", help="The folder that is indexed.", exists=True, file_okay=False)]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def rebuild(root: _Root = Path("."), as_json: _Json = False) -> None:
    """Build the index of a folder anew, and say what is left out."""
    from lsp_complete.cli.progress import shown
    from lsp_complete.context.indexer import Hooks

    with closing(_open(root, may_write=True)) as index:
        with shown("files") as draw:
            status = index.build(Hooks(progress=partial(draw, "indexed")), afresh=True)
        _print_status(status, as_json)


@app.command()
def status(root: _Root = Path("."), as_json: _Json = False) -> None:
    """How many files and definitions are indexed. Changes nothing."""
    with closing(_open(root)) as index:
        _print_status(index.status(), as_json)


@app.command()
def query(
    symbol: Annotated[str, typer.Argument(help="A name, as it stands in code.")],
    root: _RootOption = Path("."),
    as_json: _Json = False,
) -> None:
    """Where a name is defined and where it stands. Ends with 1 where it is nowhere."""
    with closing(_open(root)) as index:
        definitions = [_definition_row(index, found) for found in index.definitions(symbol)]
        references = [{"path": one.path, "line": one.line + 1} for one in index.references(symbol)]
    if as_json:
        print(json.dumps({"definitions": definitions, "references": references}, ensure_ascii=False))
    else:
        for row in definitions:
            print(f"{row['path']}:{row['line']}: {row['signature']}")
        for place in references:
            print(f"{place['path']}:{place['line']}")
    if not definitions and not references:
        fail(f"nothing in the index is called {symbol}")


app.command("explain")(index_explain.run)


def _open(root: Path, *, may_write: bool = False) -> "Index":
    from lsp_complete.completion.exclusions import exclusions_of
    from lsp_complete.config.paths import index_folder
    from lsp_complete.context.index import Index
    from lsp_complete.context.policy import Policy

    return Index.open(root, index_folder(), Policy([root], exclusions_of(loaded())), may_write=may_write)


def _definition_row(index: "Index", found: Any) -> dict[str, Any]:
    """A definition as JSON has it; lines count from 1."""
    from lsp_complete.text.document import Document

    definition = found.definition
    line = Document("", index.read(found.path) or "").line_at(definition.start) + 1
    row = {"path": found.path, "line": line, "kind": definition.kind.value, "language": found.language}
    return row | {"signature": definition.signature, "doc": definition.doc, "parent": definition.parent}


def _print_status(status: "Status", as_json: bool) -> None:
    from lsp_complete.context.answers import IndexState

    if as_json:
        print(json.dumps(asdict(status), ensure_ascii=False))
    elif status.state is not IndexState.OFF:
        print(*_status_lines(status), sep="\n")
    if status.state is IndexState.OFF:
        fail(f"no index of {status.root}: {'; '.join(status.warnings)}")


def _status_lines(status: "Status") -> Iterator[str]:
    yield f"{status.root}: {status.state}"
    yield f"{status.num_files:,} files, {status.num_definitions:,} definitions, {status.num_bytes / 1e6:,.1f} MB"
    yield f"database: {status.database}"
    if status.skipped:
        yield "left out, a folder counting as one:"
    for reason, count in sorted(status.skipped.items(), key=lambda pair: -pair[1]):
        yield f"{count:>10,}  {reason}"
    yield from (f"warning: {warning}" for warning in status.warnings[:_SHOWN_WARNINGS])
    if len(status.warnings) > _SHOWN_WARNINGS:
        yield f"warning: and {len(status.warnings) - _SHOWN_WARNINGS:,} more"
