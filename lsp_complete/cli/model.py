"""`lsp-complete model`: the models that are known, and their files on this machine."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsp_complete.cli.failure import fail, failing_with
from lsp_complete.models.errors import ModelError

if TYPE_CHECKING:
    from lsp_complete.models.catalogue import ModelEntry

# What runs a model of each format. Safetensors load from the hub, and are slow without a GPU.
_ENGINES = {"gguf": "llamacpp", "safetensors": "transformers (GPU)"}

app = typer.Typer(help="List the models, fetch one, find its file.", no_args_is_help=True)

_Name = Annotated[str, typer.Argument(help="A name in `model list`, `auto`, or the path of a GGUF file.")]


@app.command("list")
def list_models(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """The models that are known by name, and which of them are here."""
    from lsp_complete.models.catalogue import CATALOGUE

    with failing_with(ModelError):
        rows = [_row(entry) for entry in CATALOGUE]
    if as_json:
        print(json.dumps(rows))
        return
    _print_table(rows)


@app.command()
def pull(
    name: _Name = "auto",
    verify: Annotated[bool, typer.Option("--verify", help="Read and hash a file that is already here.")] = False,
) -> None:
    """Fetch a model's file, unless it is here, and print its path."""
    from lsp_complete.cli.progress import shown
    from lsp_complete.config.paths import model_folder
    from lsp_complete.models import fetch

    with failing_with(ModelError):
        entry = _resolve(name)
        if isinstance(entry, Path):
            print(entry)
            return
        with shown("MB", in_bytes=True) as progress:
            file = (fetch.verify if verify else fetch.ensure)(entry, model_folder(), progress)
        print(file)


@app.command()
def path(name: _Name) -> None:
    """Print the path of a model's file. Ends with 1 where it is not here."""
    from lsp_complete.config.paths import model_folder
    from lsp_complete.models import fetch

    with failing_with(ModelError):
        entry = _resolve(name)
        found = entry if isinstance(entry, Path) else fetch.find(entry, model_folder())
    if found is None:
        fail(f"{name} is not here; fetch it with: lsp-complete model pull {name}")
    print(found)


def _resolve(name: str) -> "ModelEntry | Path":
    from lsp_complete.models.catalogue import resolve

    return resolve(name)


def _row(entry: "ModelEntry") -> dict[str, Any]:
    from lsp_complete.config.paths import model_folder
    from lsp_complete.models.fetch import find

    found = find(entry, model_folder())
    return {
        "name": entry.name,
        "num_bytes": entry.num_bytes or None,
        "licence": entry.licence,
        "family": entry.family,
        "format": str(entry.format),
        "engine": _ENGINES[entry.format],
        "repo": entry.repo,
        "path": str(found) if found else None,
    }


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from lsp_complete.cli.tables import printed

    table = Table("name", "size", "licence", "family", "engine", "here", box=None, pad_edge=False)
    for row in rows:
        size = f"{row['num_bytes'] / 1e6:,.0f} MB" if row["num_bytes"] else "from the hub"
        table.add_row(row["name"], size, row["licence"], row["family"], row["engine"], "yes" if row["path"] else "no")
    printed(table)
