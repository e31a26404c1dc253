"""The `lsp-complete` command: mounts the subcommands."""

from typing import Annotated

import typer

from lsp_complete import __version__
from lsp_complete.cli import (
    audit,
    blocklist,
    complete,
    demo,
    doctor,
    evaluate,
    explain,
    index,
    ingest,
    lsp,
    model,
    nvim,
    replay,
    serve,
    stats,
    top,
)

app = typer.Typer(
    help="Inline code completion: a language server, and a completion service of its own.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # in a frame, half of 80 columns is left for what is said
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("lsp")(lsp.run)
app.command("serve")(serve.run)
app.command("complete")(complete.run)
app.command("demo")(demo.run)
app.command("doctor")(doctor.run)
app.command("explain")(explain.run)
app.command("audit")(audit.run)
app.command("stats")(stats.run)
app.command("replay")(replay.run)
app.command("top")(top.run)
app.command("ingest")(ingest.run)
app.command("nvim")(nvim.run)
app.add_typer(model.app, name="model")
app.add_typer(blocklist.app, name="blocklist")
app.add_typer(index.app, name="index")
app.add_typer(evaluate.app, name="eval")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit()


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
