"""The process `lsp-complete serve`: listen at once, load the model, serve until told to stop.

One process and one event loop: granian's embedded server. `shared` is the service that editors start by themselves:
one per user, on any free port, gone when no session is left.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import socket
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP2Settings
from granian.server.embed import Server

from lsp_complete import __version__
from lsp_complete.backend.app import Backend, create_app
from lsp_complete.backend.engines.base import Engine, EngineLost, Isolation
from lsp_complete.backend.exits import Exits
from lsp_complete.backend.fim import FAMILIES, detect_family
from lsp_complete.backend.service import CompletionService
from lsp_complete.backend.sessions import Sessions
from lsp_complete.backend.tenants import read_tenants
from lsp_complete.backend.winnowing import Blocklist
from lsp_complete.config.runtime import Runtime, remove_runtime, write_runtime
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.errors import CompletionError, EngineFailed

_log = logging.getLogger(__name__)

_MAX_HEADER_BYTES = 16 * 1024
_IDLE_CHECK_S = 1.0
# A service whose model cannot be loaded stays for so long, to say why to who has started it.
_FAILURE_SHOWN_S = 5.0
# How often an engine is loaded that is lost meanwhile.
_TRIES = 3

LoadEngine = Callable[[], Engine]


async def serve(
    settings: Settings,
    load_engine: LoadEngine,
    *,
    model: str,
    family_name: str = "",
    runtime_folder: Path | None = None,
    announce: Callable[[str, str], None] = lambda url, credential: None,
) -> str:
    """Serve until SIGTERM, SIGINT or, with a `runtime_folder`, until no session is left. `announce` is called with the
    address and the credential once the port is open. Gives why the model could not be loaded, if so. Raises OSError if
    the port cannot be opened, or a file of the settings cannot be read."""
    credential = settings.credential or secrets.token_urlsafe(32)
    port = settings.port if runtime_folder is None else 0
    backend = Backend(credential, settings.max_body_kib * 1024, Sessions(settings.session_idle_s, time.monotonic()))
    backend.model = model
    backend.tenants = read_tenants(Path(settings.credentials_file)) if settings.credentials_file else {}
    exits = Exits(is_on=True, blocklist=Blocklist(Path(settings.blocklist)) if settings.blocklist else None)
    stop = asyncio.Event()

    def load() -> CompletionService:
        engine = load_engine()
        try:
            return _service(engine, family_name, settings, backend, exits)
        except CompletionError:
            asyncio.run(engine.close())  # on a thread of its own
            raise

    async with listening(create_app(backend), settings, port) as url:
        if runtime_folder is not None:
            write_runtime(runtime_folder, Runtime(url, credential, os.getpid(), __version__))
        announce(url, credential)
        loading = asyncio.create_task(_keep_loaded(backend, load, stop))
        try:
            await _serve_until(stop, backend, loading, is_shared=runtime_folder is not None)
        finally:
            if runtime_folder is not None:
                remove_runtime(runtime_folder)
    await _break_off(backend)
    if backend.service is not None:
        await backend.service.engine.close()
    return backend.failure


async def _break_off(backend: Backend) -> None:
    """Answers that the limit for finishing them left over."""
    for answering in (late := [*backend.answering]):
        answering.cancel()
    await asyncio.gather(*late, return_exceptions=True)


async def _serve_until(stop: asyncio.Event, backend: Backend, loading: asyncio.Task[None], *, is_shared: bool) -> None:
    stop_on_signals(stop)
    reasons = {
        asyncio.create_task(stop.wait()): "told to",
        asyncio.create_task(_until_failed(backend, loading)): "no model",
    }
    if is_shared:
        reasons[asyncio.create_task(_until_idle(backend))] = "no session left"
    done, pending = await asyncio.wait(reasons, return_when=asyncio.FIRST_COMPLETED)
    backend.is_draining = True
    stop.set()
    for task in pending:
        task.cancel()
    _log.info("stopping: %s", reasons[done.pop()])
    await asyncio.wait([loading, *pending])


async def _keep_loaded(backend: Backend, load: Callable[[], CompletionService], stop: asyncio.Event) -> None:
    """Load the engine, and once more whenever it is lost, until told to stop or until it cannot be loaded."""
    while not stop.is_set() and (service := await _load(backend, load)):
        stop_on_signals(stop)  # llama.cpp takes the signals for itself
        waiting = [asyncio.create_task(event.wait()) for event in (service.lost, stop)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        if not stop.is_set():
            _log.warning("the engine is lost; loading it again")
            backend.service = None
            await service.engine.close()


async def _load(backend: Backend, load: Callable[[], CompletionService]) -> CompletionService | None:
    started = time.monotonic()
    try:
        backend.service = service = await asyncio.to_thread(_loaded, load)
    except CompletionError as error:
        backend.failure = error.detail or error.title
        _log.error("the model cannot be loaded: %s", backend.failure)
        return None
    backend.model = service.engine.model
    _log.info("ready: model %s loaded in %.1f s", backend.model, time.monotonic() - started)
    return service


def _loaded(load: Callable[[], CompletionService]) -> CompletionService:
    """An engine can be lost while it is loaded, too."""
    for _ in range(_TRIES - 1):
        with contextlib.suppress(EngineLost):
            return load()
    return load()


def _service(engine: Engine, family_name: str, settings: Settings, backend: Backend, exits: Exits) -> CompletionService:
    if backend.tenants and engine.isolation is Isolation.NONE:
        raise EngineFailed("this engine keeps its users' caches in common: serve each with a service of its own")
    return CompletionService(
        engine,
        FAMILIES[family_name] if family_name else detect_family(engine.tokenizer),
        settings.queue_length,
        backend.metrics,
        exits=exits,
        cache_s=settings.response_cache_s,
        requests_per_s=settings.requests_per_s,
    )


async def _until_failed(backend: Backend, loading: asyncio.Task[None]) -> None:
    await asyncio.wait([loading])
    await (asyncio.sleep(_FAILURE_SHOWN_S) if backend.failure else asyncio.Event().wait())


async def _until_idle(backend: Backend) -> None:
    while not backend.sessions.idle(time.monotonic()):  # noqa: ASYNC110
        await asyncio.sleep(_IDLE_CHECK_S)


def stop_on_signals(stop: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows: the default handlers raise KeyboardInterrupt
            loop.add_signal_handler(number, stop.set)


@contextlib.asynccontextmanager
async def listening(app: object, settings: Settings, port: int) -> AsyncGenerator[str, None]:
    """An application being served over HTTP/2 (and HTTP/1.1, for probes). Gives its URL; on leaving, answers in
    progress are finished and connections told to go away."""
    _check_tls(settings)
    port = port or _free_port(settings.host)
    _check_free(settings.host, port)
    server = Server(
        app, settings.host, port, interface=Interfaces.ASGINL, http=HTTPModes.auto, websockets=False,
        http2_settings=HTTP2Settings(max_headers_size=_MAX_HEADER_BYTES), log_enabled=False,
        ssl_cert=_path(settings.tls_cert), ssl_key=_path(settings.tls_key),
    )  # fmt: skip
    serving = asyncio.create_task(server.serve())
    try:
        await _until_open(settings.host, port, serving)
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        yield f"{'https' if settings.tls_cert else 'http'}://{host}:{port}"
    finally:
        server.stop()  # type: ignore[no-untyped-call]
        await asyncio.wait([serving], timeout=settings.drain_s)


async def _until_open(host: str, port: int, serving: asyncio.Task[None]) -> None:
    while not serving.done():
        try:
            _, writer = await asyncio.open_connection(host, port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return
    serving.result()
    raise OSError(f"{host}:{port} cannot be opened")


def _free_port(host: str) -> int:
    with socket.create_server((host, 0), family=_family(host)) as probe:
        return int(probe.getsockname()[1])


def _check_free(host: str, port: int) -> None:
    """The server binds on a thread of its own and would not tell."""
    with socket.create_server((host, port), family=_family(host)):
        pass


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _check_tls(settings: Settings) -> None:
    """Never cleartext where TLS was meant. Raises OSError that names the file."""
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise OSError("TLS needs both the certificate chain (tls_cert) and its key (tls_key)")
    for name in filter(None, (settings.tls_cert, settings.tls_key)):
        with open(name, "rb"):
            pass


def _path(name: str) -> Path | None:
    return Path(name) if name else None
