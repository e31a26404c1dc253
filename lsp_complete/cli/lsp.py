"""`lsp-complete lsp`: the language server that an editor starts."""

from typing import Annotated

import typer


def run(
    tcp: Annotated[str, typer.Option(metavar="HOST:PORT", help="Listen here instead of stdin and stdout.")] = "",
) -> None:
    """The language server, over stdin and stdout."""
    from lsp_complete.server.stdio import take_stdio

    streams = None if tcp else take_stdio()
    from lsp_complete.config.logs import configure_logging
    from lsp_complete.config.paths import log_folder
    from lsp_complete.config.settings import load_settings
    from lsp_complete.server.main import run_stdio, run_tcp

    settings, _ = load_settings()
    configure_logging("lsp", settings.log_level, log_folder(), stderr_level="warning")  # editors show it as errors
    if streams:
        run_stdio(*streams)
    host, _, port = tcp.rpartition(":")
    if not port.isdigit():
        raise typer.BadParameter("not HOST:PORT", param_hint="--tcp")
    run_tcp(host.strip("[]") or "127.0.0.1", int(port))
