"""What kind of server answers at an address, and how it can be asked for fill-in-the-middle: found out by asking it.

Blocks; it runs once, when the engine is loaded, and in `lsp-complete doctor --upstream`. Sends no code, only a word.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

import httpx

from lsp_complete.backend.fim import FAMILIES, HOSTED, Family
from lsp_complete.protocol.errors import EngineFailed

_TIMEOUT = httpx.Timeout(20.0, connect=5.0)  # a cold model of Ollama is loaded by the first question
# Where a server does not tell its context window.
_CONTEXT_TOKENS = 4096
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
# How the families are called in the names of models.
_NAMES = {
    "qwen2.5-coder": "qwen2.5-coder", "qwen2.5.1-coder": "qwen2.5-coder", "starcoder2": "starcoder2",
    "deepseek-coder": "deepseek-coder", "codegemma": "codegemma",
}  # fmt: skip


class Server(StrEnum):
    """Known servers, by what they answer as `owned_by` in the list of their models."""

    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_SERVER = "llamacpp"
    OLLAMA = "library"
    LM_STUDIO = "organization_owner"
    OTHER = "other"


# Those that take a prompt as it is and know markers in it. Ollama puts it into a template of its own.
_TAKES_RAW = {Server.VLLM, Server.SGLANG, Server.LLAMA_SERVER, Server.LM_STUDIO}
# Those that salt the keys of their prefix cache when asked to.
SALTING = {Server.VLLM, Server.SGLANG}


@dataclass(frozen=True, slots=True)
class Upstream:
    """How to ask. With the family HOSTED the server takes prefix and suffix apart, otherwise a rendered prompt."""

    base: str
    server: Server
    model: str
    family: Family
    context_tokens: int

    def __str__(self) -> str:
        how = "prompt and suffix" if self.family is HOSTED else f"prompts of {self.family.name}"
        isolation = "salted for each tenant" if self.server in SALTING else "shared by all who use it"
        return (
            f"{self.server.name.lower().replace('_', '-')}, model {self.model}, {how}, "
            f"context of {self.context_tokens} tokens, cache {isolation}"
        )


def base_of(url: str) -> str:
    """The address that `/completions` is put behind: `/v1` is added where there is no path."""
    url = url.strip().rstrip("/")
    return url if urlsplit(url).path else f"{url}/v1"


def client_options(url: str, credential: str) -> dict[str, Any]:
    """For httpx. Proxies of the environment are for other machines."""
    headers = {"authorization": f"Bearer {credential}"} if credential else {}
    return {"headers": headers, "trust_env": urlsplit(url).hostname not in _LOOPBACK}


def probe(url: str, credential: str = "", model: str = "") -> Upstream:
    """Raises EngineFailed with what to do about it."""
    base = base_of(url)
    try:
        with httpx.Client(timeout=_TIMEOUT, **client_options(base, credential)) as client:
            return _probe(client, base, model)
    except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise EngineFailed(f"{url} is no address of a server: one begins with http:// or https://") from error
    except httpx.HTTPError as error:
        raise EngineFailed(f"{base}: no answer: {str(error) or type(error).__name__}") from error


def _probe(client: httpx.Client, base: str, model: str) -> Upstream:
    entries = _models(client, base)
    names = [str(entry.get("id")) for entry in entries]
    if not model and len(names) != 1:
        raise EngineFailed(f"{base}: set upstream_model to one of: {', '.join(names[:20]) or 'the names it knows'}")
    if model and names and model not in names:
        raise EngineFailed(f"{base}: has no model {model}, only: {', '.join(names[:20])}")
    model = model or names[0]
    entry = next((entry for entry in entries if entry.get("id") == model), {})
    server = _server(client, base, entry)
    family = _family(client, base, server, model)
    return Upstream(base, server, model, family, _context_tokens(client, base, server, entry))


def _models(client: httpx.Client, base: str) -> list[dict[str, Any]]:
    """What `/models` lists; nothing where there is no such list, as with some hosted services."""
    answer = client.get(f"{base}/models")
    if answer.status_code in (401, 403):
        raise EngineFailed(f"{base}: refuses the credential (status {answer.status_code}): set upstream_credential")
    data = _object(answer).get("data")
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _server(client: httpx.Client, base: str, entry: Mapping[str, Any]) -> Server:
    owner = str(entry.get("owned_by", ""))
    if owner in set(Server):
        return Server(owner)
    # Ollama names the owner of the model, which is `library` for its own alone.
    if "version" in _object(client.get(f"{_root(base)}/api/version")):
        return Server.OLLAMA
    return Server.OTHER


def _family(client: httpx.Client, base: str, server: Server, model: str) -> Family:
    if server is Server.OTHER and _takes_suffix(client, base, model):
        return HOSTED
    if server is Server.OLLAMA:
        if not _takes_suffix(client, base, model):
            raise EngineFailed(f"{base}: {model} takes no suffix: choose a base model trained for fill-in-the-middle")
        return HOSTED
    family = _by_name(model) or (_by_tokenizer(client, base, model) if server in _TAKES_RAW else None)
    if family is None:
        raise EngineFailed(f"{base}: {model} takes no suffix, and is of no family known here: {', '.join(_NAMES)}")
    return family


def _by_name(model: str) -> Family | None:
    name = model.lower().replace("_", "-")
    return next((FAMILIES[family] for part, family in _NAMES.items() if part in name), None)


def _by_tokenizer(client: httpx.Client, base: str, model: str) -> Family | None:
    """The family whose markers are single tokens, for servers that show their tokenizer (llama-server, vLLM)."""
    known = [family for family in FAMILIES.values() if family is not HOSTED]
    return next((f for f in known if all(_is_token(client, base, model, m) for m in (f.prefix, f.stops[0]))), None)


def _is_token(client: httpx.Client, base: str, model: str, text: str) -> bool:
    body = {
        "model": model, "content": text, "prompt": text, "parse_special": True, "add_special": False,
        "add_special_tokens": False,
    }  # fmt: skip
    tokens = _object(client.post(f"{_root(base)}/tokenize", json=body)).get("tokens")
    return isinstance(tokens, list) and len(tokens) == 1


def _takes_suffix(client: httpx.Client, base: str, model: str) -> bool:
    body = {"model": model, "prompt": "a = ", "suffix": "\n", "max_tokens": 1, "temperature": 0}
    answer = client.post(f"{base}/completions", json=body)
    return answer.status_code == httpx.codes.OK and "choices" in _object(answer)


def _context_tokens(client: httpx.Client, base: str, server: Server, entry: Mapping[str, Any]) -> int:
    found = entry.get("max_model_len")  # vLLM and SGLang
    if server is Server.LLAMA_SERVER:
        settings = _object(client.get(f"{_root(base)}/props")).get("default_generation_settings", {})
        found = settings.get("n_ctx") if isinstance(settings, dict) else None
    if server is Server.LM_STUDIO:
        listed = _object(client.get(f"{_root(base)}/api/v0/models/{entry['id']}"))
        found = listed.get("loaded_context_length") or listed.get("max_context_length")
    return found if isinstance(found, int) and found > 0 else _CONTEXT_TOKENS


def _root(base: str) -> str:
    return base.removesuffix("/v1")


def _object(answer: httpx.Response) -> dict[str, Any]:
    """The JSON object of an answer; an empty one for anything else."""
    try:
        data = answer.json()
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
