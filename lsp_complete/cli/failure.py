"""How a command says what is wrong, and how it ends where it cannot do what it was asked for. Stdout is for results."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer


def fail(message: str, code: int = 1) -> NoReturn:
    warn(message)
    raise typer.Exit(code)


def warn(message: str) -> None:
    print(f"lsp-complete: {message}", file=sys.stderr)


@contextmanager
def failing_with(*errors: type[Exception], code: int = 1) -> Iterator[None]:
    """Errors whose messages are meant for the user, and those of the system, which name their file."""
    try:
        yield
    except errors as error:
        fail(said(error), code)


def said(error: Exception) -> str:
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
