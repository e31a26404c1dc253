"""The settings, one frozen model. Defaults < TOML file < environment < flags or initializationOptions.

A bad value never stops anything: it is reported and the value below it in that order, or the default, is used.
Adding a setting is adding a field here; README.md lists them and a test compares.
"""

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lsp_complete.config.consent import consent
from lsp_complete.config.paths import config_file

_ENV_PREFIX = "LSP_COMPLETE_"
# How problems of the last layer begin.
COMMAND_LINE = "editor or command line"


class Settings(BaseModel):
    """Every setting there is. Durations end in `_ms` or `_s`."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=4096)

    enabled: bool = Field(True, description="Whether suggestions are made at all.")
    disabled_languages: tuple[str, ...] = Field(
        (), description="Language ids in which no suggestion is made, and whose files never leave the machine."
    )
    disabled_scopes: tuple[Literal["comment", "string"], ...] = Field(
        (), description="Where no suggestion is made: `comment`, `string`."
    )
    index: bool = Field(True, description="Whether the repository is indexed, and used for suggestions.")
    exclude: tuple[str, ...] = Field((), description="Files that never leave the machine, as patterns of .gitignore.")
    disabled_repositories: tuple[str, ...] = Field(
        (), description="Repositories that never leave it, as patterns of their remotes' addresses."
    )
    max_file_kib: int = Field(2048, ge=1, le=2048, description="Larger files never leave it.")
    audit: Literal["off", "paths", "text"] = Field(
        "paths", description="What is kept, on this machine, of each request: nothing, its paths and sizes, all of it."
    )
    debounce_ms: int | None = Field(
        None, ge=0, le=5000, description="Pause in typing before an automatic request is sent; unset: by your rhythm."
    )
    warm_ahead: bool = Field(
        True, description="Whether prompts are computed before the first key, and questions asked before the next one."
    )
    deadline_ms: int = Field(30_000, ge=100, le=120_000, description="A suggestion later than this is given up.")
    # A slow processor computes 1024 cold tokens in 20 s. With 384 of them for snippets instead of 256, of the names
    # that are needed 1 to 5 % more stand in the prompt, and a cursor that moves has less to compute anew.
    prompt_tokens: int = Field(1024, ge=128, le=32_768, description="Model tokens that a prompt may take.")
    snippet_tokens: int = Field(384, ge=0, le=32_768, description="Those of them that other files may take.")
    line_tokens: int = Field(48, ge=1, le=1024, description="Model tokens that a one-line suggestion may take.")
    block_tokens: int = Field(160, ge=1, le=1024, description="Model tokens that a block may take.")

    completion_menu: bool = Field(
        False, description="Whether editors without inline completion get suggestions as an item of their menus."
    )

    url: str = Field("", description="A completion service to use; empty: one of our own on this machine.")
    credential: str = Field("", repr=False, description="What the service asks for as proof of who you are.")
    ca_file: str = Field("", description="PEM file of the authority that signed the service's certificate.")

    model: str = Field("auto", description="Name of a model in the catalogue, or a path to one.")
    engine: Literal["llamacpp", "transformers", "openai"] = Field("llamacpp", description="What runs the model.")
    compile_level: int = Field(0, ge=0, le=3, description="How far `transformers` compiles it first; 0: not at all.")
    host: str = Field("127.0.0.1", description="Address on which the service listens.")
    port: int = Field(8765, ge=0, le=65_535, description="Port on which the service listens; 0: any free one.")
    tls_cert: str = Field("", description="PEM file with the service's certificate chain; empty: cleartext.")
    tls_key: str = Field("", description="PEM file with the key of the certificate (PKCS#8).")
    threads: int = Field(0, ge=0, le=512, description="Threads of the engine; 0: one a core, less one.")
    slots: int = Field(2, ge=1, le=64, description="Requests that the engine works on at once, each with its cache.")
    context_tokens: int = Field(4096, ge=512, le=131_072, description="Context window of each slot.")
    queue_length: int = Field(32, ge=0, le=10_000, description="Requests that may wait for a slot.")
    max_body_kib: int = Field(1024, ge=1, le=65_536, description="Largest request body that the service reads.")
    session_idle_s: int = Field(120, ge=1, le=86_400, description="The local service stops so long after its last use.")
    upstream_url: str = Field("", description="The address of the server behind the engine `openai`.")
    upstream_credential: str = Field("", repr=False, description="What that server asks for.")
    upstream_model: str = Field("", description="The name of its model; may be empty where it has one only.")
    credentials_file: str = Field("", description="File with a line `NAME CREDENTIAL` for each further user.")
    requests_per_s: float = Field(0.0, ge=0, le=10_000, description="What one credential may ask for; 0: as it likes.")
    response_cache_s: int = Field(30, ge=0, le=3600, description="An answer is given again for so long; 0: never.")
    blocklist: str = Field("", description="File of fingerprints: code that no suggestion may repeat.")
    drain_s: int = Field(10, ge=0, le=600, description="Told to stop, the service finishes answers for so long.")

    telemetry: Literal["off", "local", "on"] = Field(
        "off", description="What becomes of suggestions: forgotten, kept in figures on this machine, sent too."
    )
    telemetry_url: str = Field("", description="The endpoint that those figures are sent to.")
    telemetry_credential: str = Field(
        "", repr=False, description="What that one asks for; empty: `credential`, if it is the service's address."
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Least level that is logged.")


# What keeps code out of prompts adds up: no layer lets out what another one excludes.
_KEEPING_OUT = ("exclude", "disabled_languages", "disabled_scopes", "disabled_repositories")


def load_settings(
    overrides: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> tuple[Settings, list[str]]:
    """The settings and what was wrong with them, one line a problem. Never raises."""
    problems: list[str] = []
    values: dict[str, Any] = {}
    file, environ = file or config_file(), os.environ if environ is None else environ
    consents: list[Any] = []
    for origin, layer in (
        (file.name, _from_file(file, problems)),
        ("environment", _from_environment(environ)),
        (COMMAND_LINE, dict(overrides or {})),
    ):
        consents.append(layer.get("telemetry"))
        good = _good_values(layer, origin, problems)
        kept_out = {name: (*values.get(name, ()), *good[name]) for name in _KEEPING_OUT if name in good}
        values |= good | kept_out
    values["telemetry"] = consent(consents, environ).value
    return Settings(**values), problems


def _good_values(layer: Mapping[str, Any], origin: str, problems: list[str]) -> dict[str, Any]:
    good = {str(name): value for name, value in layer.items()}
    try:
        Settings(**good)
    except ValidationError as error:
        for item in error.errors(include_url=False, include_input=False):
            name = str(item["loc"][0])
            if name in good:
                del good[name]
                problems.append(f"{origin}: {_problem(name, item['type'], item['msg'])}")
    return good


def _problem(name: str, kind: str, message: str) -> str:
    if kind != "extra_forbidden":
        return f"{name}: {message}"
    close = get_close_matches(name, Settings.model_fields, 1)
    return f"unknown setting `{name}`" + (f", did you mean `{close[0]}`?" if close else "")


def _from_file(file: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        what = error.strerror if isinstance(error, OSError) else str(error)
        problems.append(f"{file.name}: {what}")
        return {}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for name, field in Settings.model_fields.items():
        text = environ.get(_ENV_PREFIX + name.upper())
        if text is not None:
            is_list = str(field.annotation).startswith("tuple")
            found[name] = [part for part in text.split(",") if part] if is_list else text
    return found
