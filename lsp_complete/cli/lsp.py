"""`lsp-complete lsp`: the language server that an editor starts."""

from typing import Annotated

import typer

from lsp_complete.cli.failure import fail, said


def run(
    tcp: Annotated[str, typer.Option(metavar="HOST:PORT", help="Listen here instead of stdin and stdout.")] = "",
) -> None:
    """The language server, over stdin and stdout."""
    from lsp_complete.server.stdio import take_stdio

    place = _place(tcp) if tcp else None
    streams = None if place else take_stdio()
    from lsp_complete.config.logs import configure_logging
    from lsp_complete.config.paths import log_folder
    from lsp_complete.config.settings import load_settings
    from lsp_complete.server.main import run_stdio

    settings, _ = load_settings()
    configure_logging("lsp", settings.log_level, log_folder(), stderr_level="warning")  # editors show it as errors
    if streams:
        run_stdio(*streams)
    if place is not None:
        _run_tcp(*place)


def _place(tcp: str) -> tuple[str, int]:
    """Host and port. Raises BadParameter."""
    host, _, port = tcp.rpartition(":")
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 2**16):
        raise typer.BadParameter("not HOST:PORT", param_hint="--tcp")
    return host.strip("[]") or "127.0.0.1", int(port)


def _run_tcp(host: str, port: int) -> None:
    from lsp_complete.server.main import run_tcp

    try:
        run_tcp(host, port)
    except (OSError, UnicodeError) as error:
        fail(f"cannot listen on {host}:{port}: {said(error)}")
