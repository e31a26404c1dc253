"""`lsp-complete serve`: the completion service."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsp_complete.cli.failure import fail

if TYPE_CHECKING:
    from lsp_complete.backend.engines.base import Engine
    from lsp_complete.config.settings import Settings


def run(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0: any free one.")] = None,
    engine: Annotated[str | None, typer.Option(help="`llamacpp`, `transformers` or `openai`.")] = None,
    model: Annotated[str | None, typer.Option(help="Name in `model list`, or path of a file or folder.")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="PEM file with the certificate chain.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="PEM file with its key (PKCS#8).")] = None,
    shared: Annotated[bool, typer.Option("--shared", help="As editors start it: one per user, until idle.")] = False,
) -> None:
    """The completion service: HTTP/2, a credential, a model."""
    from lsp_complete.client.proxies import is_loopback
    from lsp_complete.config.logs import configure_logging
    from lsp_complete.config.paths import log_folder
    from lsp_complete.config.settings import COMMAND_LINE, load_settings

    tls = {"tls_cert": tls_cert, "tls_key": tls_key}
    flags = {"host": host, "port": port, "engine": engine, "model": model, **tls}
    settings, problems = load_settings({name: value for name, value in flags.items() if value is not None})
    for problem in problems:
        print(f"lsp-complete: {problem}", file=sys.stderr)
    if any(problem.startswith(COMMAND_LINE) for problem in problems):
        raise typer.Exit(2)
    if not settings.tls_cert and not is_loopback(settings.host):
        print(f"lsp-complete: {settings.host} without TLS: code and credential can be read on the way", file=sys.stderr)
    configure_logging("serve", settings.log_level, log_folder())
    if shared:
        _serve_shared(settings)
    else:
        _serve(settings)


def _serve(settings: "Settings") -> None:
    def announce(url: str, credential: str) -> None:
        shown = "the one in your settings" if settings.credential else credential
        print(f"listening on {url}\ncredential: {shown}", file=sys.stderr, flush=True)

    try:
        _run(settings, announce=announce)
    except OSError as error:
        fail(_why_not(error, f"{settings.host}:{settings.port}"))


def _why_not(error: OSError, place: str) -> str:
    """A file that cannot be read, a setting that is missing, or a place that is taken."""
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    return f"cannot listen on {place}: {error.strerror}" if error.strerror else str(error)


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
        print(f"lsp-complete: no folder for the local service: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    settings = settings.model_copy(update=dict.fromkeys(_NOT_SHARED, "") | {"host": "127.0.0.1"})
    try:
        with service_lock(folder):
            remove_runtime(folder)  # of a service that could not do so itself
            _run(settings, runtime_folder=folder)
    except Timeout:
        raise typer.Exit(EXIT_ALREADY_RUNNING) from None


def _run(settings: "Settings", **options: Any) -> None:
    import asyncio

    from lsp_complete.config.runtime import EXIT_ENGINE_MISSING

    name, family_name, load_engine = _engine(settings)
    try:
        from lsp_complete.backend.serve import serve
    except ImportError as error:
        print(f"lsp-complete: {error.name} is not installed: pip install 'lsp-complete[cpu]'", file=sys.stderr)
        raise typer.Exit(EXIT_ENGINE_MISSING) from None
    failure = asyncio.run(serve(settings, load_engine, model=name, family_name=family_name, **options))
    if failure:
        print(f"lsp-complete: {failure}", file=sys.stderr)
        raise typer.Exit(1)


def _engine(settings: "Settings") -> tuple[str, str, "Callable[[], Engine]"]:
    """Name and family of the model, and what loads it. Ends the process with a message where it is not here."""
    if settings.engine == "openai":
        return settings.upstream_model, "", lambda: _connect(settings)
    return _from_safetensors(settings) if settings.engine == "transformers" else _embedded(settings)


def _connect(settings: "Settings") -> "Engine":
    from lsp_complete.backend.engines.openai import OpenAIEngine
    from lsp_complete.protocol.errors import EngineFailed

    if not settings.upstream_url:
        raise EngineFailed("the engine `openai` needs upstream_url")
    return OpenAIEngine.connect(
        settings.upstream_url,
        credential=settings.upstream_credential,
        model=settings.upstream_model,
        num_slots=settings.slots,
    )


def _from_safetensors(settings: "Settings") -> tuple[str, str, "Callable[[], Engine]"]:
    from importlib.util import find_spec

    from lsp_complete.config.runtime import EXIT_ENGINE_MISSING, EXIT_MODEL_MISSING
    from lsp_complete.models.catalogue import resolve_safetensors
    from lsp_complete.models.errors import ModelError

    try:
        entry = resolve_safetensors(settings.model)
    except ModelError as error:
        print(f"lsp-complete: {error}", file=sys.stderr)
        raise typer.Exit(EXIT_MODEL_MISSING) from None
    if find_spec("torch") is None or find_spec("transformers") is None:
        print("lsp-complete: no engine; install it: pip install 'lsp-complete[gpu]'", file=sys.stderr)
        raise typer.Exit(EXIT_ENGINE_MISSING)

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
    from lsp_complete.config.runtime import EXIT_ENGINE_MISSING, EXIT_MODEL_MISSING
    from lsp_complete.models.catalogue import resolve
    from lsp_complete.models.errors import ModelError
    from lsp_complete.models.fetch import find

    try:
        entry = resolve(settings.model)
        path = entry if isinstance(entry, Path) else find(entry, model_folder())
    except ModelError as error:
        print(f"lsp-complete: {error}", file=sys.stderr)
        raise typer.Exit(EXIT_MODEL_MISSING) from None
    name, family_name = (entry.stem, "") if isinstance(entry, Path) else (entry.name, entry.family)
    if path is None:
        print(f"lsp-complete: {name} is not here; fetch it: lsp-complete model pull {name}", file=sys.stderr)
        raise typer.Exit(EXIT_MODEL_MISSING)
    if find_spec("xllamacpp") is None:
        print("lsp-complete: no engine; install one: pip install 'lsp-complete[cpu]'", file=sys.stderr)
        raise typer.Exit(EXIT_ENGINE_MISSING)
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
