"""`python -m lsp_complete` is the `lsp-complete` command."""

from lsp_complete.cli.main import app

app()
