"""What takes long as progress notifications: the start of the local service, and a build of the index. Clients that
show none are not asked to."""

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lsprotocol import types

from lsp_complete.client.service import ServiceState, ServiceStatus
from lsp_complete.context.indexer import Progress

if TYPE_CHECKING:
    from lsp_complete.server.lsp import CompletionServer

_log = logging.getLogger(__name__)

# A build that ends sooner, as most do, is not worth a word; and nobody reads faster than this.
_BUILD_DELAY_S = 1.0
_REPORT_S = 0.5
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
        if status.state in _UNDER_WAY and is_idle and _is_supported(self._server):
            self._showing = asyncio.create_task(self._show())

    async def _show(self) -> None:
        progress, token = self._server.work_done_progress, uuid.uuid4().hex
        if not await _is_created(self._server, token):
            return
        progress.begin(token, types.WorkDoneProgressBegin("lsp-complete", message=self._status.detail))
        while await self._goes_on():
            progress.report(token, types.WorkDoneProgressReport(message=self._status.detail))
        progress.end(token, types.WorkDoneProgressEnd(message=self._status.detail or self._status.state.value))

    async def _goes_on(self) -> bool:
        """Wait for what it does next; False where that is no work."""
        if self._status.state in _UNDER_WAY:
            self._changed.clear()
            await self._changed.wait()
        return self._status.state in _UNDER_WAY


class BuildProgress:
    """How far a build of the index is, once it has taken `delay_s`. The user can cancel it there."""

    def __init__(self, server: "CompletionServer", delay_s: float = _BUILD_DELAY_S) -> None:
        self._server = server
        self._delay_s = delay_s

    @contextmanager
    def shown(self, cancel: Callable[[], None]) -> Iterator[Progress]:
        """Gives what a build calls, from any thread, with the number of files done and of all."""
        state = [0, 0]

        def progress(done: int, total: int) -> None:
            state[:] = done, total

        showing = asyncio.create_task(self._show(state, cancel)) if _is_supported(self._server) else None
        try:
            yield progress
        finally:
            if showing is not None:
                showing.cancel()

    async def _show(self, state: list[int], cancel: Callable[[], None]) -> None:
        progress, token = self._server.work_done_progress, uuid.uuid4().hex
        await asyncio.sleep(self._delay_s)
        if not await _is_created(self._server, token):
            return
        progress.tokens[token].add_done_callback(lambda future: cancel() if future.cancelled() else None)
        progress.begin(token, types.WorkDoneProgressBegin("lsp-complete: index", cancellable=True, percentage=0))
        try:
            while not progress.tokens[token].cancelled():
                progress.report(token, _report(*state))
                await asyncio.sleep(_REPORT_S)
        finally:
            progress.end(token, types.WorkDoneProgressEnd())
            del progress.tokens[token]


def _report(done: int, total: int) -> types.WorkDoneProgressReport:
    share = 100 * done // total if total else 0
    return types.WorkDoneProgressReport(message=f"{done} of {total} files" if total else "", percentage=share)


def _is_supported(server: "CompletionServer") -> bool:
    window = server.client_capabilities.window
    return bool(window and window.work_done_progress)


async def _is_created(server: "CompletionServer", token: str) -> bool:
    try:
        await server.work_done_progress.create_async(token)
    except Exception as error:
        _log.info("the client shows no progress: %s", type(error).__name__)
        return False
    return True
