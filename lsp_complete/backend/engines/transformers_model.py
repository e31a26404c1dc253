"""Load a model with transformers: from a folder or the hub, safetensors only, on the accelerator where there is one."""

import contextlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lsp_complete.backend.engines.cores import num_cores
from lsp_complete.backend.engines.transformers_tokens import HubTokenizer
from lsp_complete.config.extras import how_to_install
from lsp_complete.protocol.errors import EngineFailed

# Tokens that one pass may compute, and a cancel has to wait for. A GPU takes a few milliseconds for 512 of them, a CPU
# half a second for 32.
_STEP_TOKENS, _STEP_TOKENS_CPU = 512, 32
# Read by the libraries, some of it when they are imported. They would tell the hub who uses them, and ask it to convert
# models that are in no safetensors yet.
_ENVIRONMENT = {
    "HF_HUB_DISABLE_TELEMETRY": "1", "DISABLE_SAFETENSORS_CONVERSION": "1", "TOKENIZERS_PARALLELISM": "false",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """`ends` are the tokens with which the model itself ends a text. `step_tokens` bounds a pass."""

    model: Any
    tokenizer: HubTokenizer
    context_tokens: int
    ends: frozenset[int]
    step_tokens: int


def load_model(source: str, context_tokens: int, threads: int) -> LoadedModel:
    """`source` is a folder, or a repository of the hub as `owner/name`. Blocks for as long as it takes to read, or to
    fetch. Raises EngineFailed with a readable reason."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import torch
        import transformers
    except ImportError as error:
        raise EngineFailed(f"{error.name} is missing: {how_to_install('gpu')}") from error
    _keep_quiet(transformers)
    device = torch.accelerator.current_accelerator() or torch.device("cpu")
    if device.type == "cpu":
        torch.set_num_threads(threads or num_cores())
    with _readable(source):
        # Nothing but safetensors, and no code of a model: it would run here.
        options = {"trust_remote_code": False, "use_safetensors": True}
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            source, dtype=_dtype(torch, device), attn_implementation=_attention(transformers, device), **options
        )
        model = model.to(device).eval()
    return describe(model, tokenizer.backend_tokenizer, context_tokens)


def describe(model: Any, tokenizer: Any, context_tokens: int) -> LoadedModel:
    """What the engine has to know of a model that is loaded."""
    room = _without_window(model.config, min(context_tokens, model.config.max_position_embeddings))
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [] if ends is None else [ends]
    step = _STEP_TOKENS_CPU if model.device.type == "cpu" else _STEP_TOKENS
    # A quarter at most: the paged cache must have room for a step whatever else it holds (transformers_batches.py).
    return LoadedModel(model, HubTokenizer(tokenizer), room, frozenset(ends), min(step, room // 4))


def _without_window(config: Any, context_tokens: int) -> int:
    """Layers that look back through a window keep nothing of a prompt for the next one. Where the context fits into
    the window they are as good without it, so it is made to fit."""
    window = getattr(config, "sliding_window", None)
    if window is None:
        return context_tokens
    config.sliding_window = None
    if getattr(config, "layer_types", None):
        config.layer_types = ["full_attention"] * len(config.layer_types)
    return min(context_tokens, int(window))


def _dtype(torch: Any, device: Any) -> Any:
    """A CPU is slower with half the bits."""
    if device.type == "cpu":
        return torch.float32
    return torch.float16 if device.type == "cuda" and not torch.cuda.is_bf16_supported() else torch.bfloat16


def _attention(transformers: Any, device: Any) -> str:
    has_flash = device.type == "cuda" and transformers.utils.is_flash_attn_2_available()
    return "flash_attention_2" if has_flash else "sdpa"


def _keep_quiet(transformers: Any) -> None:
    """The library would draw bars and tell of requests with their tokens in it."""
    transformers.utils.logging.disable_progress_bar()
    for name in ("transformers", "ContinuousBatchingLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextlib.contextmanager
def _readable(source: str) -> Iterator[None]:
    """Why a model cannot be loaded, in one line. Whatever the library raises is a reason."""
    try:
        yield
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise EngineFailed(f"{source} cannot be loaded: {lines[0][:200]}") from error
