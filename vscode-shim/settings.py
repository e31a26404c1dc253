"""Writes the server's settings into package.json, as VS Code has them: `python vscode-shim/settings.py`.

The one list is config/settings.py; a test compares. Knows nothing of what a setting does, but who may set it.
"""

import json
from pathlib import Path
from typing import Any

from lsp_complete import __version__
from lsp_complete.config.settings import Settings

MANIFEST = Path(__file__).parent / "package.json"

# Without effect here: of a service that somebody runs by hand, and of editors without inline completion.
_OF_OTHERS = {
    "host", "port", "tls_cert", "tls_key", "max_body_kib", "credentials_file", "requests_per_s", "drain_s",
    "completion_menu",
}  # fmt: skip
# What a workspace may say, too. All else decides where code goes, what runs and what is kept: that is the user's alone.
_OF_A_WORKSPACE = {
    "enabled", "disabled_languages", "disabled_scopes", "index", "exclude", "disabled_repositories", "debounce_ms",
    "deadline_ms", "prompt_tokens", "snippet_tokens", "line_tokens", "block_tokens",
}  # fmt: skip
_PATH = {
    "type": "string",
    "default": "",
    "scope": "machine",
    "markdownDescription": "The program `lsp-complete`, or a Python that has it; empty: it is looked for.",
}


def properties() -> dict[str, Any]:
    """The settings as `contributes.configuration.properties`."""
    schema = Settings.model_json_schema()["properties"]
    known = {f"lsp-complete.{name}": _property(name, one) for name, one in schema.items() if name not in _OF_OTHERS}
    return {"lsp-complete.server.path": _PATH, **known}


def manifest() -> dict[str, Any]:
    """package.json as it should be."""
    found: dict[str, Any] = json.loads(MANIFEST.read_text("utf-8"))
    found["version"] = __version__
    found["contributes"]["configuration"]["properties"] = properties()
    return found


def _property(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    kinds = schema.pop("anyOf", [schema])
    types = [kind["type"] for kind in kinds]
    limits = {
        key: value for kind in kinds for key, value in kind.items() if key in ("minimum", "maximum", "enum", "items")
    }
    return {
        "type": types[0] if len(types) == 1 else types,
        **limits,
        "default": schema["default"],
        "scope": "window" if name in _OF_A_WORKSPACE else "machine",
        "markdownDescription": schema["description"],
    }


if __name__ == "__main__":
    MANIFEST.write_text(json.dumps(manifest(), indent=2, ensure_ascii=False) + "\n", "utf-8")
