"""`lsp-complete doctor`: is everything here that a suggestion needs? Each line is ok, or says how to mend it."""

import json
import os
import platform
import shutil
import socket
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsp_complete.config.extras import how_to_install

if TYPE_CHECKING:
    from lsp_complete.config.settings import Settings


@dataclass(frozen=True, slots=True)
class Finding:
    """`mend` is empty where there is nothing to mend."""

    what: str
    found: str
    mend: str = ""


def run(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    upstream: Annotated[str, typer.Option(help="Say what server answers at this URL, and nothing else.")] = "",
) -> None:
    """What is here, what is missing, how to mend it. Ends with 1 where something is to be mended."""
    findings = [_upstream(upstream)] if upstream else list(examine())
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings]))
    else:
        _print_findings(findings)
    if any(finding.mend for finding in findings):
        raise typer.Exit(1)


def examine() -> Iterator[Finding]:
    from lsp_complete.config.settings import load_settings

    settings, problems = load_settings()
    yield _python()
    yield from (Finding("settings", problem, "correct the value or remove it") for problem in problems)
    if settings.url:
        yield _remote(settings)
    elif settings.engine == "openai":
        yield from (_upstream(settings.upstream_url), _service(), _port(settings))
    else:
        yield from (_engine(settings), _model(settings), _gpu(settings), _service(), _port(settings))
    yield _credential(settings)
    yield from _exclusions(settings)
    yield from _folders()
    yield _editors()


def _python() -> Finding:
    supported = (3, 11) <= sys.version_info < (3, 14)
    return Finding("python", platform.python_version(), "" if supported else "use Python 3.11, 3.12 or 3.13")


def _engine(settings: "Settings") -> Finding:
    packages, extra = (["xllamacpp"], "cpu") if settings.engine == "llamacpp" else (["torch", "transformers"], "gpu")
    try:
        return Finding("engine", ", ".join(f"{package} {version(package)}" for package in [*packages, "granian"]))
    except PackageNotFoundError as error:
        return Finding("engine", f"{error.name} is not installed", how_to_install(extra))


def _model(settings: "Settings") -> Finding:
    from lsp_complete.config.paths import model_folder
    from lsp_complete.models.catalogue import resolve, resolve_safetensors
    from lsp_complete.models.errors import ModelError
    from lsp_complete.models.fetch import find

    try:
        if settings.engine == "transformers":
            return Finding("model", f"{resolve_safetensors(settings.model).repo}: loaded by the engine itself")
        entry = resolve(settings.model)
    except ModelError as error:
        return Finding("model", str(error), "choose another in the setting `model`")
    if isinstance(entry, Path):
        return Finding("model", str(entry))
    try:
        path = find(entry, model_folder())
    except ModelError as error:
        return Finding("model", str(error), "make the folder readable, or set LSP_COMPLETE_MODELS")
    mend = "" if path else f"lsp-complete model pull {entry.name}"
    return Finding("model", f"{entry.name}: {path or 'not here'}", mend)


def _upstream(url: str) -> Finding:
    """Asks the server, with the credential and the model of the settings."""
    from lsp_complete.config.settings import load_settings
    from lsp_complete.protocol.errors import EngineFailed

    settings, _ = load_settings()
    if not url:
        return Finding("upstream", "no address", "set `upstream_url`, or LSP_COMPLETE_UPSTREAM_URL")
    try:
        from lsp_complete.backend.engines.upstream import probe

        return Finding("upstream", str(probe(url, settings.upstream_credential, settings.upstream_model)))
    except EngineFailed as error:
        return Finding("upstream", error.detail, "check `upstream_url`, `upstream_credential` and `upstream_model`")


def _gpu(settings: "Settings") -> Finding:
    found = shutil.which("nvidia-smi") is not None
    if settings.engine == "transformers":
        return Finding("gpu", "found" if found else "none found by nvidia-smi; on a CPU llama.cpp is faster")
    return Finding("gpu", "found; the engine `transformers` would use it" if found else "none; not needed")


def _service() -> Finding:
    from lsp_complete.config.paths import runtime_folder
    from lsp_complete.config.runtime import read_runtime

    try:
        runtime = read_runtime(runtime_folder())
    except OSError as error:
        return Finding("service", f"no folder for it: {error}", "make the folder writable, or set LSP_COMPLETE_RUNTIME")
    return Finding("service", f"running at {runtime.url}" if runtime else "not running; an editor starts it")


def _port(settings: "Settings") -> Finding:
    place = f"{settings.host}:{settings.port}"
    try:
        with socket.create_server((settings.host, settings.port)):
            return Finding("port", f"{place} is free for `lsp-complete serve`")
    except OSError:
        return Finding("port", f"{place} is taken; only `lsp-complete serve` needs it, editors do not")


def _remote(settings: "Settings") -> Finding:
    import asyncio

    from lsp_complete.client.completer import HttpCompleter
    from lsp_complete.protocol.errors import CompletionError

    async def health() -> str:
        completer = HttpCompleter(settings.url, settings.credential, ca_file=settings.ca_file or None)
        try:
            answer = await completer.health()
        finally:
            await completer.aclose()
        return f"{settings.url}: {'ready' if answer.get('ready') else 'loading'}, model {answer.get('model')}"

    try:
        return Finding("service", asyncio.run(health()))
    except CompletionError as error:
        return Finding("service", f"{settings.url}: {error}", "check the settings `url`, `credential` and `ca_file`")


def _credential(settings: "Settings") -> Finding:
    if not settings.url:
        return Finding("credential", "made anew by the local service, in a private file")
    mend = "" if settings.credential else "set `credential`, or LSP_COMPLETE_CREDENTIAL"
    return Finding("credential", "set" if settings.credential else "none", mend)


def _exclusions(settings: "Settings") -> Iterator[Finding]:
    from lsp_complete.completion.exclusions import exclusions_of
    from lsp_complete.context.enterprise import default_enterprise_file
    from lsp_complete.context.policy import Policy

    problems = Policy((), exclusions_of(settings)).problems
    yield from (Finding("exclusions", problem, "correct the pattern, or the file") for problem in problems)
    if not problems:
        file = default_enterprise_file()
        yield Finding("exclusions", f"those of {file} count" if file.exists() else "your own; none of an organisation")


def _folders() -> Iterator[Finding]:
    from lsp_complete.config import paths

    yield Finding("settings file", f"{paths.config_file()}{'' if paths.config_file().exists() else ' (none yet)'}")
    named = {"models": paths.model_folder, "indexes": paths.index_folder, "log": paths.log_folder}
    for name, folder in {**named, "runtime": paths.runtime_folder}.items():
        try:
            path = folder()
        except OSError as error:
            yield Finding(f"folder: {name}", str(error), "make it writable")
            continue
        existing = next(p for p in [path, *path.parents] if p.exists())
        yield Finding(f"folder: {name}", str(path), "" if os.access(existing, os.W_OK) else f"make {existing} writable")


def _editors() -> Finding:
    known = {"nvim": "Neovim", "code": "VS Code", "emacs": "Emacs", "hx": "Helix"}
    found = [name for command, name in known.items() if shutil.which(command)]
    return Finding("editors", f"{', '.join(found) or 'none on the PATH'}; set-up: README, “Editors”")


def _print_findings(findings: list[Finding]) -> None:
    """Whole lines, however wide the terminal: paths are there to be copied."""
    from rich.console import Console

    console = Console(soft_wrap=True, highlight=False)
    for finding in findings:
        mark, style = ("mend", "red") if finding.mend else ("ok", "green")
        console.print(f"{mark:4}  ", style=style, end="")
        console.print(f"{finding.what:16}  {finding.found}", markup=False)
        if finding.mend:
            console.print(f"{'':24}{finding.mend}", style="bold", markup=False)
