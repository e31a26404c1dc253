"""A completer that is ready, for the commands that need one: the configured service, or this machine's own."""

import contextlib
import os
import sys
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsp_complete.client.service import ServiceStatus
    from lsp_complete.config.settings import Settings
    from lsp_complete.protocol.completion import Completer, CompletionChunk, CompletionRequest


@contextlib.asynccontextmanager
async def connected(settings: "Settings") -> "AsyncGenerator[Completer, None]":
    """Says on stderr what it waits for. Raises CompletionError where there will be no service.

    The session is not ended: the next command finds the service as this one leaves it, with its cache warm.
    """
    from lsp_complete.client.audit import audit_of
    from lsp_complete.client.completer import HttpCompleter
    from lsp_complete.client.service import LocalService, service_command, service_environ
    from lsp_complete.config.paths import runtime_folder
    from lsp_complete.protocol.errors import Unavailable

    audit = audit_of(settings)
    if settings.url:
        completer = HttpCompleter(settings.url, settings.credential, ca_file=settings.ca_file or None, audit=audit)
        try:
            await completer.health()
            yield completer
        finally:
            await completer.aclose()
        return
    environ = service_environ(settings, os.environ)
    try:
        folder = runtime_folder()
    except OSError as error:
        raise Unavailable(f"no folder for the local service: {error}") from error
    service = LocalService(folder, service_command(), environ, _show, audit=audit)
    try:
        await service.wait_ready()
        yield service
    finally:
        await service.aclose()


class WhenAsked:
    """A `Completer` that looks for the service with the first question: what is not asked starts none."""

    def __init__(self, settings: "Settings") -> None:
        self._settings = settings

    async def complete(self, request: "CompletionRequest") -> "AsyncGenerator[CompletionChunk, None]":
        async with connected(self._settings) as completer, contextlib.aclosing(completer.complete(request)) as chunks:
            async for chunk in chunks:
                yield chunk


def _show(status: "ServiceStatus") -> None:
    from lsp_complete.client.service import ServiceState

    if status.state in (ServiceState.STARTING, ServiceState.LOADING):
        print(f"{status.detail} …", file=sys.stderr, flush=True)
