"""Any `Completer` behind the project's own HTTP application, for a server that is another process."""

import secrets
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from lsp_complete.backend.app import Backend, create_app
from lsp_complete.backend.serve import listening
from lsp_complete.backend.service import Asked, CompletionService
from lsp_complete.backend.sessions import Sessions
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import Completer, CompletionChunk

_MAX_BODY_BYTES = 2**20


@asynccontextmanager
async def serving(completer: Completer) -> AsyncIterator[dict[str, str]]:
    """Gives the variables by which a server finds it."""
    credential = secrets.token_urlsafe(16)
    backend = Backend(credential, _MAX_BODY_BYTES, Sessions(3600, time.monotonic()))
    backend.service = cast(CompletionService, _Service(completer))
    async with listening(create_app(backend), Settings(), 0) as url:
        yield {"LSP_COMPLETE_URL": url, "LSP_COMPLETE_CREDENTIAL": credential}


class _Service:
    """What the application asks of a `CompletionService` when it answers."""

    def __init__(self, completer: Completer) -> None:
        self._completer = completer

    def answer(self, asked: Asked) -> AsyncGenerator[CompletionChunk, None]:
        return self._completer.complete(asked.request)
