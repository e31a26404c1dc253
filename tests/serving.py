"""The real service on a real port, with an engine that recites, for tests over loopback."""

import contextlib
from collections.abc import AsyncGenerator

from lsp_complete.backend.app import Backend, create_app
from lsp_complete.backend.serve import listening
from lsp_complete.backend.service import CompletionService
from lsp_complete.backend.sessions import Sessions
from lsp_complete.config.settings import Settings
from tests.fakes import QWEN, RecitingEngine

CREDENTIAL = "a-credential-for-tests"


def backend_over(engine: RecitingEngine | None, queue_length: int = 8, max_body_bytes: int = 100_000) -> Backend:
    backend = Backend(CREDENTIAL, max_body_bytes, Sessions(1000, 0))
    if engine is not None:
        backend.service = CompletionService(engine, QWEN, queue_length, backend.metrics)
    return backend


@contextlib.asynccontextmanager
async def serving(backend: Backend, **settings: object) -> AsyncGenerator[str, None]:
    """Gives the URL of the service."""
    async with listening(create_app(backend), Settings(**settings), 0) as url:
        yield url
