"""What the commands that listen on a port have in common: their flags, and what they say."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from lsp_complete.cli.failure import fail, said, warn

if TYPE_CHECKING:
    from lsp_complete.config.settings import Settings

Host = Annotated[str | None, typer.Option(help="Address to listen on; without one, this machine alone.")]
Certificate = Annotated[str | None, typer.Option(metavar="FILE", help="PEM file with the certificate chain.")]
Key = Annotated[str | None, typer.Option(metavar="FILE", help="PEM file with its key (PKCS#8).")]


@contextmanager
def telling(settings: "Settings", port: int) -> Iterator[None]:
    """Says what others could read on the way, and ends the command where it cannot listen, or read a file."""
    from lsp_complete.client.proxies import is_loopback

    if not settings.tls_cert and not is_loopback(settings.host):
        warn(f"{settings.host} without TLS: what is sent, and the credential, can be read on the way")
    try:
        yield
    except OSError as error:  # a file that cannot be read, a setting that is missing, or a place that is taken
        is_place = error.strerror and not error.filename
        fail(f"cannot listen on {settings.host}:{port}: {said(error)}" if is_place else said(error))


def announce(url: str, credential: str, in_settings: str) -> None:
    shown = "the one in your settings" if credential == in_settings else credential
    print(f"listening on {url}\ncredential: {shown}", file=sys.stderr, flush=True)
