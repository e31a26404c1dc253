"""The local service's start as a progress notification. Clients that show none are not asked to."""

import asyncio
import logging
import uuid
from typing import TYPE_CHECKING

from lsprotocol import types

from lsp_complete.client.service import ServiceState, ServiceStatus

if TYPE_CHECKING:
    from lsp_complete.server.lsp import CompletionServer

_log = logging.getLogger(__name__)

_UNDER_WAY = {ServiceState.STARTING, ServiceState.LOADING}


class ServiceProgress:
    """Begins with the start of the service, reports what it is doing, ends when it is ready or has failed."""

    def __init__(self, server: "CompletionServer") -> None:
        self._server = server
        self._status = ServiceStatus(ServiceState.STOPPED)
        self._changed = asyncio.Event()
        self._showing: asyncio.Task[None] | None = None

    def update(self, status: ServiceStatus) -> None:
        self._status = status
        self._changed.set()
        is_idle = self._showing is None or self._showing.done()
        if status.state in _UNDER_WAY and is_idle and self._is_supported():
            self._showing = asyncio.create_task(self._show())

    def _is_supported(self) -> bool:
        window = self._server.client_capabilities.window
        return bool(window and window.work_done_progress)

    async def _show(self) -> None:
        progress, token = self._server.work_done_progress, uuid.uuid4().hex
        try:
            await progress.create_async(token)
        except Exception as error:
            _log.info("the client shows no progress: %s", type(error).__name__)
            return
        progress.begin(token, types.WorkDoneProgressBegin("lsp-complete", message=self._status.detail))
        while self._status.state in _UNDER_WAY:
            self._changed.clear()
            await self._changed.wait()
            progress.report(token, types.WorkDoneProgressReport(message=self._status.detail))
        progress.end(token, types.WorkDoneProgressEnd(message=self._status.state.value))
