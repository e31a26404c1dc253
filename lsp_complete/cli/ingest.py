"""`lsp-complete ingest`: where other machines send their telemetry, those that have been told to."""

import asyncio
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.failure import fail
from lsp_complete.cli.listening import Certificate, Host, Key, announce, telling
from lsp_complete.config.extras import how_to_install

if TYPE_CHECKING:
    from lsp_complete.config.settings import Settings

# Beside a completion service.
_PORT = 8766
# A hundred users at work for a year.
_MAX_BYTES = 5_000_000_000
_MAX_AGE_S = 365 * 86_400.0


def run(
    store: Annotated[Path, typer.Argument(help="The file that they are kept in, for `lsp-complete stats --store`.")],
    host: Host = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0: any free one.")] = _PORT,
    tls_cert: Certificate = None,
    tls_key: Key = None,
) -> None:
    """Take in the telemetry of other machines. Figures, no code."""
    from lsp_complete.config.logs import configure_logging
    from lsp_complete.config.paths import log_folder

    settings = loaded(host=host, tls_cert=tls_cert, tls_key=tls_key)
    configure_logging("ingest", settings.log_level, log_folder())
    try:
        with telling(settings, port):
            asyncio.run(_serve(settings, port, store))
    except ImportError as error:
        fail(f"{error.name} is missing: {how_to_install('serve')}")


async def _serve(settings: "Settings", port: int, file: Path) -> None:
    """Until told to stop. Nobody is served without a credential."""
    from lsp_complete.backend.serve import listening, stop_on_signals
    from lsp_complete.telemetry.ingest import create_ingest
    from lsp_complete.telemetry.store import EventStore

    credential, stop = settings.telemetry_credential or secrets.token_urlsafe(32), asyncio.Event()
    with EventStore(file, max_bytes=_MAX_BYTES, max_age_s=_MAX_AGE_S) as store:
        async with listening(create_ingest(store, credential), settings, port) as url:
            announce(url, credential, settings.telemetry_credential)
            stop_on_signals(stop)
            await stop.wait()
