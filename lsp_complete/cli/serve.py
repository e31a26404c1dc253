"""`lsp-complete serve`: the completion service."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.failure import fail, failing_with
from lsp_complete.cli.listening import Certificate, Host, Key, announce, telling
from lsp_complete.config.extras import EXIT_ENGINE_MISSING, EXIT_MODEL_MISSING, extra_of, how_to_install
from lsp_complete.models.errors import ModelError

if TYPE_CHECKING:
    from lsp_complete.backend.engines.base import Engine
    from lsp_complete.config.settings import Settings


_NO_UPSTREAM = "the engine `openai` needs the setting `upstream_url` (LSP_COMPLETE_UPSTREAM_URL)"


def run(
    host: Host = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0: any free one.")] = None,
    engine: Annotated[str | None, typer.Option(help="`llamacpp`, `transformers` or `openai`.")] = None,
    model: Annotated[str | None, typer.Option(help="Name in `model list`, or path of a file or folder.")] = None,
    tls_cert: Certificate = None,
    tls_key: Key = None,
    shared: Annotated[bool, typer.Option("--shared", help="As editors start it: one per user, until idle.")] = False,
) -> None:
    """The completion service: HTTP/2, a credential, a model."""
    from lsp_complete.config.logs import configure_logging
    from lsp_complete.config.paths import log_folder

    settings = loaded(host=host, port=port, engine=engine, model=model, tls_cert=tls_cert, tls_key=tls_key)
    configure_logging("serve", settings.log_level, log_folder())
    if shared:
        _serve_shared(settings)
    else:
        _serve(settings)


def _serve(settings: "Settings") -> None:
    if settings.engine == "openai" and not settings.upstream_url:
        fail(_NO_UPSTREAM, 2)
    with telling(settings, settings.port):
        _run(settings, announce=partial(announce, in_settings=settings.credential))


# What is for a service that others reach.
_NOT_SHARED = ("credential", "credentials_file", "tls_cert", "tls_key")


def _serve_shared(settings: "Settings") -> None:
    """Only one such service at a time: it holds the lock for as long as it lives."""
    from filelock import Timeout

    from lsp_complete.config.paths import runtime_folder
    from lsp_complete.config.runtime import EXIT_ALREADY_RUNNING, remove_runtime, service_lock

    try:
        folder = runtime_folder()
    except OSError as error:
        fail(f"no folder for the local service: {error}")
    settings = settings.model_copy(update=dict.fromkeys(_NOT_SHARED, "") | {"host": "127.0.0.1"})
    try:
        with service_lock(folder):
            remove_runtime(folder)  # of a service that could not do so itself
            _run(settings, runtime_folder=folder)
    except Timeout:
        fail("the local service is running already", EXIT_ALREADY_RUNNING)


def _run(settings: "Settings", **options: Any) -> None:
    import asyncio

    name, family_name, load_engine = _engine(settings)
    try:
        from lsp_complete.backend.serve import serve
    except ImportError as error:
        fail(f"{error.name} is missing: {how_to_install(extra_of(settings.engine))}", EXIT_ENGINE_MISSING)
    failure = asyncio.run(serve(settings, load_engine, model=name, family_name=family_name, **options))
    if failure:
        fail(failure)


def _engine(settings: "Settings") -> tuple[str, str, "Callable[[], Engine]"]:
    """Name and family of the model, and what loads it. Ends the process with a message where it is not here."""
    if settings.engine == "openai":
        return settings.upstream_model, "", lambda: _connect(settings)
    return _from_safetensors(settings) if settings.engine == "transformers" else _embedded(settings)


def _connect(settings: "Settings") -> "Engine":
    from lsp_complete.backend.engines.openai import OpenAIEngine
    from lsp_complete.protocol.errors import EngineFailed

    if not settings.upstream_url:
        raise EngineFailed(_NO_UPSTREAM)  # an editor's service says so where the editor looks
    return OpenAIEngine.connect(
        settings.upstream_url,
        credential=settings.upstream_credential,
        model=settings.upstream_model,
        num_slots=settings.slots,
    )


def _from_safetensors(settings: "Settings") -> tuple[str, str, "Callable[[], Engine]"]:
    from importlib.util import find_spec

    from lsp_complete.models.catalogue import resolve_safetensors

    with failing_with(ModelError, code=EXIT_MODEL_MISSING):
        entry = resolve_safetensors(settings.model)
    if find_spec("torch") is None or find_spec("transformers") is None:
        fail(f"no engine: {how_to_install('gpu')}", EXIT_ENGINE_MISSING)

    def load() -> "Engine":
        from lsp_complete.backend.engines.transformers import TransformersEngine

        return TransformersEngine.load(
            entry.repo, model=entry.name, context_tokens=settings.context_tokens, num_slots=settings.slots,
            threads=settings.threads, compile_level=settings.compile_level,
        )  # fmt: skip

    return entry.name, entry.family, load


def _embedded(settings: "Settings") -> tuple[str, str, "Callable[[], Engine]"]:
    from importlib.util import find_spec

    from lsp_complete.config.paths import model_folder
    from lsp_complete.models.catalogue import resolve
    from lsp_complete.models.fetch import find

    with failing_with(ModelError, code=EXIT_MODEL_MISSING):
        entry = resolve(settings.model)
        path = entry if isinstance(entry, Path) else find(entry, model_folder())
    name, family_name = (entry.stem, "") if isinstance(entry, Path) else (entry.name, entry.family)
    if path is None:
        fail(f"{name} is not here; fetch it: lsp-complete model pull {name}", EXIT_MODEL_MISSING)
    if find_spec("xllamacpp") is None:
        fail(f"no engine: {how_to_install('cpu')}", EXIT_ENGINE_MISSING)
    return name, family_name, lambda: _load(settings, name, path)


def _load(settings: "Settings", name: str, path: Path) -> "Engine":
    from lsp_complete.backend.engines.llamacpp import LlamaCppEngine

    return LlamaCppEngine.load(
        path,
        model=name,
        context_tokens=settings.context_tokens,
        num_slots=settings.slots,
        threads=settings.threads,
    )
