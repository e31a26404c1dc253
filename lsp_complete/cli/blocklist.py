"""`lsp-complete blocklist`: fingerprints of public code, so that no suggestion repeats it word for word."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from lsp_complete.cli.failure import failing_with

# Larger files are data or generated.
_MAX_BYTES = 1_000_000

app = typer.Typer(help="Lists of code that no suggestion may repeat.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    pass


@app.command()
def build(
    out: Annotated[Path, typer.Argument(help="File to write.")],
    paths: Annotated[list[Path], typer.Argument(help="Files and folders with the code.")],
) -> None:
    """Write the fingerprints of all files of text below the paths."""
    from lsp_complete.backend.winnowing import write_blocklist

    with failing_with(OSError):
        num_fingerprints = write_blocklist(out, _texts(paths))
    print(f"{num_fingerprints} fingerprints in {out}")


def _texts(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        path.stat()  # raises where there is none
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not file.is_symlink() and file.stat().st_size <= _MAX_BYTES:
                data = file.read_bytes()
                if b"\0" not in data:
                    yield data.decode("utf-8", "replace")
