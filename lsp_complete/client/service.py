"""The completion service of this machine: found or started, shared by all editors of a user, a `Completer` itself.

Never blocks a request: while the service is not there it raises at once and starts it in the background. Knows how a
service is found and launched; what it runs is the service's own business.
"""

import asyncio
import contextlib
import logging
import math
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from filelock import Timeout

from lsp_complete.client.audit import NO_AUDIT, Audit
from lsp_complete.client.completer import HttpCompleter
from lsp_complete.config.extras import EXIT_ENGINE_MISSING, EXIT_MODEL_MISSING, extra_of, how_to_install
from lsp_complete.config.runtime import (
    EXIT_ALREADY_RUNNING,
    Runtime,
    clear_away,
    is_locked,
    read_runtime,
)
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import CompletionChunk, CompletionRequest
from lsp_complete.protocol.errors import (
    BadAnswer,
    CompletionError,
    DeadlinePassed,
    ModelLoading,
    Unauthorized,
    Unavailable,
    Unreachable,
)

_log = logging.getLogger(__name__)

_POLL_S = 0.1
# A service that has not opened its port by then hangs.
_START_TIMEOUT_S = 30.0
# A gigabyte from a slow disk; the 0.5B takes 3 s.
_LOAD_TIMEOUT_S = 180.0
_MAX_BACKOFF_S = 60.0
# A service that has lived so long did not crash for a reason that makes the next one crash at once.
_STABLE_S = 60.0
# What tells that the service found at the address is no more, or another one.
_GONE = (Unreachable, Unauthorized, BadAnswer)
# The settings that a service started here is given.
_SERVICE_SETTINGS = (
    "model", "engine", "threads", "slots", "context_tokens", "queue_length", "session_idle_s", "log_level",
    "upstream_url", "upstream_credential", "upstream_model", "response_cache_s", "blocklist",
)  # fmt: skip


class ServiceState(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    LOADING = "loading"
    READY = "ready"
    MODEL_MISSING = "model-missing"
    ENGINE_MISSING = "engine-missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    state: ServiceState
    detail: str = ""


_GONE_STATUS = ServiceStatus(ServiceState.STOPPED, "the local service is gone")
_EXITS = {
    EXIT_MODEL_MISSING: ServiceStatus(
        ServiceState.MODEL_MISSING, "the model is not on this machine: run `lsp-complete model pull {model}`"
    ),
    EXIT_ENGINE_MISSING: ServiceStatus(
        ServiceState.ENGINE_MISSING, f"no engine on this machine: {how_to_install('{extra}')}"
    ),
}


def service_command() -> list[str]:
    """How the service is started. `-P`: nothing is imported from the current folder."""
    return [sys.executable, "-P", "-m", "lsp_complete", "serve", "--shared"]


def service_environ(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a service that has the editor's settings."""
    chosen = {f"LSP_COMPLETE_{name.upper()}": str(getattr(settings, name)) for name in _SERVICE_SETTINGS}
    return {**environ, **chosen}


def backoff_s(num_failures: int) -> float:
    """How long to wait before the next start: 1, 2, 4 … seconds after as many failures in a row, a minute at most."""
    if num_failures == 0:
        return 0.0
    return min(_MAX_BACKOFF_S, 2.0 ** min(num_failures - 1, 10))  # an editor may stay open for thousands of them


class LocalService:
    """A `Completer` over the shared service. `on_status` hears of every change of state, in the event loop. The service
    lives for as long as a session with a `session_id` does."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        environ: Mapping[str, str],
        on_status: Callable[[ServiceStatus], None] = lambda status: None,
        clock: Callable[[], float] = time.monotonic,
        session_id: str = "",
        audit: Audit = NO_AUDIT,
    ) -> None:
        self.status = ServiceStatus(ServiceState.STOPPED)
        self._folder, self._command, self._environ = folder, list(command), dict(environ)
        self._on_status, self._clock, self._session_id = on_status, clock, session_id
        self._audit = audit
        self._completer: HttpCompleter | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._starting: asyncio.Task[None] | None = None
        self._is_closed = False
        self._num_failures = 0
        self._ready_at = self._retry_at = -math.inf

    async def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        completer = self._ready_completer()
        try:
            async with contextlib.aclosing(completer.complete(request)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except _GONE:
            self._lost(completer)
            raise

    def start(self) -> None:
        """Begin to find or start the service, if nobody is at it and the last failure is long enough ago."""
        is_due = not self._is_closed and self._completer is None and self._clock() >= self._retry_at
        if is_due and (self._starting is None or self._starting.done()):
            self._starting = asyncio.create_task(self._connect())

    async def wait_ready(self) -> None:
        """Until the service is ready. Raises Unavailable, with what to do, once it is known that it will not be."""
        self.start()
        if self._starting is not None:
            await asyncio.shield(self._starting)
        if self._completer is None:
            raise Unavailable(self.status.detail or "the local service did not start")

    async def keep_alive(self, session_id: str) -> None:
        """Tell the service that this session is still there. Finds out, too, whether the service is."""
        completer = self._completer
        if completer is not None and not self._is_alive():
            self._lost(completer)
        elif completer is not None:
            try:
                await completer.health(session_id)
            except _GONE:
                self._lost(completer)
            except CompletionError as error:
                _log.info("local service: no sign of life: %s", error.type)

    async def aclose(self, session_id: str = "") -> None:
        """Say good-bye, so that the service need not outlive its last editor."""
        self._is_closed = True
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        if self._completer is not None:
            if session_id and self._is_alive():
                await self._completer.end_session(session_id)
            await self._completer.aclose()
            self._completer = None

    def _ready_completer(self) -> HttpCompleter:
        if self._completer is not None and not self._is_alive():
            self._lost(self._completer)
        if self._completer is not None:
            return self._completer
        self.start()
        if self.status.state in (ServiceState.STOPPED, ServiceState.STARTING, ServiceState.LOADING):
            raise ModelLoading("the local service is starting")
        raise Unavailable(self.status.detail)

    def _is_alive(self) -> bool:
        """Does the service still hold its lock? Where it does not, its port may by now be somebody else's."""
        try:
            return is_locked(self._folder)
        except (OSError, Timeout):
            return False

    async def _connect(self) -> None:
        try:
            runtime = await self._runtime()
            completer = HttpCompleter(runtime.url, runtime.credential, audit=self._audit)
            try:
                await self._until_loaded(completer)
            except BaseException:
                if self._is_closed:  # the editor left while the model was loading
                    await completer.end_session(self._session_id)
                await completer.aclose()
                raise
        except _StartFailed as failure:
            self._process = None
            self._back_off()
            self._set(failure.status)
        else:
            self._completer, self._ready_at = completer, self._clock()
            self._set(ServiceStatus(ServiceState.READY))

    def _back_off(self) -> None:
        self._num_failures += 1
        self._retry_at = self._clock() + backoff_s(self._num_failures)

    async def _runtime(self) -> Runtime:
        """Where the service is; started if it is nowhere."""
        deadline = self._clock() + _START_TIMEOUT_S
        try:
            while (runtime := await asyncio.to_thread(read_runtime, self._folder)) is None:
                self._set(ServiceStatus(ServiceState.STARTING, "starting the completion service"))
                self._ensure_process()
                if self._clock() > deadline:
                    self._kill()
                    raise _StartFailed(_failed("it does not open its port"))
                await asyncio.sleep(_POLL_S)
        except OSError as error:
            raise _StartFailed(_failed(str(error))) from error
        return runtime

    def _ensure_process(self) -> None:
        """Start one, unless there is one under way, of ours or of another editor."""
        if self._process is None and clear_away(self._folder):
            self._process = self._spawn()
        code = self._process.poll() if self._process else None
        if code is not None:
            self._process = None
            if code != EXIT_ALREADY_RUNNING:
                raise _StartFailed(self._ended(code))

    def _ended(self, code: int) -> ServiceStatus:
        known = _EXITS.get(code, _failed(f"it ended with exit code {code}"))
        model = self._environ.get("LSP_COMPLETE_MODEL", "auto")
        extra = extra_of(self._environ.get("LSP_COMPLETE_ENGINE", ""))
        return replace(known, detail=known.detail.format(model=model, extra=extra))

    async def _until_loaded(self, completer: HttpCompleter) -> None:
        deadline = self._clock() + _LOAD_TIMEOUT_S
        while True:
            if self._clock() > deadline:
                raise _StartFailed(_failed("the model does not load"))
            try:
                health = await completer.health(self._session_id)
            except DeadlinePassed:
                health = {}  # llama.cpp holds Python's lock while it loads a model, and nothing else gets a turn
            except CompletionError as error:
                is_ours = self._process is not None
                raise _StartFailed(_failed(str(error)) if is_ours else _GONE_STATUS) from error
            if health.get("failure"):
                raise _StartFailed(_failed(str(health["failure"])))
            if health.get("ready"):
                return
            self._set(ServiceStatus(ServiceState.LOADING, "loading the model"))
            await asyncio.sleep(_POLL_S)

    def _spawn(self) -> "subprocess.Popen[bytes]":
        """A process of its own session: a signal meant for the editor does not reach it."""
        process = subprocess.Popen(
            self._command, env=self._environ, cwd=self._folder, close_fds=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )  # fmt: skip
        threading.Thread(target=process.wait, name="service", daemon=True).start()  # or its end leaves a zombie
        return process

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _lost(self, completer: HttpCompleter) -> None:
        """The service is gone: start it again, now if it has lived long, else when somebody asks after a while."""
        if self._completer is not completer:
            return
        self._completer = self._process = None
        self._set(_GONE_STATUS)
        closing = asyncio.ensure_future(completer.aclose())
        if self._clock() - self._ready_at < _STABLE_S:
            self._back_off()
        else:
            self._num_failures = 0
            closing.add_done_callback(lambda _: self.start())

    def _set(self, status: ServiceStatus) -> None:
        if status != self.status:
            self.status = status
            _log.info("local service: %s %s", status.state.value, status.detail)
            self._on_status(status)


class _StartFailed(Exception):
    def __init__(self, status: ServiceStatus) -> None:
        super().__init__(status.detail)
        self.status = status


def _failed(why: str) -> ServiceStatus:
    return ServiceStatus(ServiceState.FAILED, f"the local service does not start: {why}")
