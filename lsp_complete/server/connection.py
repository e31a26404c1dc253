"""Where a session's completions come from: a service with a URL, or the one of this machine, which is kept alive while
the session is. Guarded, whichever it is. Knows no document.
"""

import asyncio
import logging
import os
from collections.abc import Callable

from lsp_complete.client.audit import audit_of
from lsp_complete.client.completer import HttpCompleter
from lsp_complete.client.guarded import Guarded, Trouble
from lsp_complete.client.service import LocalService, ServiceState, ServiceStatus, service_command, service_environ
from lsp_complete.config.paths import runtime_folder
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import Completer

_log = logging.getLogger(__name__)

# Well below the settings' `session_idle_s` of 120 s, after which the service takes a session for gone.
_KEEP_ALIVE_S = 40.0
# An editor left open over night need not hold a model in memory.
_AWAY_S = 1800.0

_Source = HttpCompleter | LocalService


class Connection:
    """`on_change` hears that `service` or `trouble` may have changed. Without a `completer`, `service` says why."""

    def __init__(self, session_id: str, on_change: Callable[[], None]) -> None:
        self._session_id, self._on_change = session_id, on_change
        self._settings = Settings()
        self._source: _Source | None = None
        self._failure: ServiceStatus | None = None
        self._stand_in: Completer | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._keeping: asyncio.Task[None] | None = None
        self._last_asked_s = 0.0
        self.completer: Guarded | None = None

    @property
    def service(self) -> ServiceStatus | None:
        """Of this machine's service; None where another one is asked."""
        return self._source.status if isinstance(self._source, LocalService) else self._failure

    @property
    def is_answering(self) -> bool:
        return self.completer is not None and self.completer.is_answering

    @property
    def trouble(self) -> Trouble | None:
        return self.completer.trouble if self.completer else None

    def answer_from(self, completer: Completer) -> None:
        """Whatever the settings say, from now on. For tests and replays."""
        self._stand_in, self._failure = completer, None
        self._guard(completer)

    def leads_elsewhere(self, settings: Settings) -> bool:
        """Whether these settings would be answered by somebody else, or under another name."""
        is_new = self._source is None or _place(settings) != _place(self._settings)
        return self._stand_in is None and is_new

    def configure(self, settings: Settings) -> None:
        """Where the settings lead elsewhere, go there, with a clean slate."""
        leads_elsewhere, self._settings = self.leads_elsewhere(settings), settings
        if leads_elsewhere:
            self._replace()

    def warm(self) -> None:
        """Begin to start the local service, so that it is there when the first question comes, and keep it."""
        if isinstance(self._source, LocalService) and self._settings.enabled:
            self._source.start()
            if self._keeping is None:
                self._last_asked_s = _loop_s()
                self._keeping = asyncio.create_task(self._keep_alive())

    def asked(self) -> None:
        """Somebody is at the keyboard."""
        self._last_asked_s = _loop_s()

    async def aclose(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
        if self.completer is not None:
            self.completer.close()
        ending = [_close(self._source, self._session_id)] if self._source is not None else []
        await asyncio.gather(*self._closing, *ending)

    def _replace(self) -> None:
        old, self._source = self._source, self._new()
        self._guard(self._source)
        if old is not None:
            stays = isinstance(self._source, LocalService)  # most likely with the very service that it had
            task = asyncio.ensure_future(_close(old, "" if stays else self._session_id))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _guard(self, completer: Completer | None) -> None:
        if self.completer is not None:
            self.completer.close()
        self.completer = Guarded(completer, self._on_change) if completer is not None else None
        self._on_change()

    def _new(self) -> _Source | None:
        settings, audit, self._failure = self._settings, audit_of(self._settings), None
        if settings.url:
            return HttpCompleter(settings.url, settings.credential, ca_file=settings.ca_file or None, audit=audit)
        try:
            folder = runtime_folder()
        except OSError as error:
            self._failure = ServiceStatus(ServiceState.FAILED, f"no folder for the local service: {error.strerror}")
            return None
        environ = service_environ(settings, os.environ)
        return LocalService(folder, service_command(), environ, self._heard, session_id=self._session_id, audit=audit)

    def _heard(self, status: ServiceStatus) -> None:
        """Of the local service, or of one that was asked before."""
        if status is not self.service:
            return
        if status.state is ServiceState.READY and self.completer is not None:
            self.completer.recovered()
        self._on_change()

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(_KEEP_ALIVE_S)
            is_away = _loop_s() - self._last_asked_s > _AWAY_S
            if isinstance(self._source, LocalService) and self._settings.enabled and not is_away:
                await self._source.keep_alive(self._session_id)


def _loop_s() -> float:
    return asyncio.get_running_loop().time()


def _place(settings: Settings) -> object:
    """Where the completions come from, and what is kept of them: what a change of other settings leaves as it is."""
    if settings.url:
        return settings.url, settings.credential, settings.ca_file, settings.audit
    return service_environ(settings, {}), settings.audit


async def _close(source: _Source, session_id: str) -> None:
    if isinstance(source, LocalService):
        await source.aclose(session_id)
    else:
        await source.aclose()
