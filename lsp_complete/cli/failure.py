"""How a command ends that cannot do what it was asked for."""

import sys
from typing import NoReturn

import typer


def fail(message: str, code: int = 1) -> NoReturn:
    print(f"lsp-complete: {message}", file=sys.stderr)
    raise typer.Exit(code)
