"""Random models of every supported architecture, small enough to be made in a moment, with a tokenizer of bytes, and a
gate that holds such a model before its next step."""

import threading
from functools import cache
from typing import Any

import pytest

from lsp_complete.backend.engines.transformers_model import LoadedModel, describe
from lsp_complete.backend.fim import FAMILIES, Family

_MARKERS = tuple(
    dict.fromkeys(
        marker
        for family in FAMILIES.values()
        for marker in (family.prefix, family.suffix, family.middle, family.file_marker, family.bos, *family.stops)
        if marker.startswith("<")
    )
)
_SIZE = {
    "vocab_size": 256 + len(_MARKERS), "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "max_position_embeddings": 2048,
    # So that one token is clearly the best, and rounding does not matter.
    "initializer_range": 0.6, "bos_token_id": None, "eos_token_id": None, "tie_word_embeddings": False,
}  # fmt: skip
# What the families of the catalogue are built like.
ARCHITECTURES = {
    "qwen2.5-coder": ("Qwen2Config", "Qwen2ForCausalLM", {}),
    "starcoder2": ("Starcoder2Config", "Starcoder2ForCausalLM", {"sliding_window": 2048}),
    "deepseek-coder": ("LlamaConfig", "LlamaForCausalLM", {}),
    "codegemma": ("GemmaConfig", "GemmaForCausalLM", {}),
}


@cache
def tiny_model(family: str = "qwen2.5-coder", context_tokens: int = 1024) -> LoadedModel:
    """Skips where transformers is not installed."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return describe(_model(family), tiny_tokenizer(FAMILIES[family]), context_tokens)


def _model(family: str) -> Any:
    import torch
    import transformers

    config, model, extra = ARCHITECTURES[family]
    torch.set_num_threads(1)  # as many as such a model is worth
    torch.manual_seed(len(family))
    made = getattr(transformers, model)(getattr(transformers, config)(**_SIZE, **extra)).eval()
    with torch.no_grad():
        for token, letter in enumerate(_letters()):
            made.lm_head.weight[token] *= letter.isascii()  # what it writes is text
        made.lm_head.weight[256:] = 0
    return made


def _letters() -> list[str]:
    from tokenizers import pre_tokenizers

    return sorted(pre_tokenizers.ByteLevel.alphabet())


def tiny_tokenizer(family: Family) -> Any:
    """A token a byte. The markers of the family are added as models have them, most as ordinary tokens."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokenizer = Tokenizer(models.BPE({letter: token for token, letter in enumerate(_letters())}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    known = (family.prefix, family.suffix, family.middle, family.file_marker, family.bos, *family.stops)
    tokenizer.add_tokens([AddedToken(marker, special=False) for marker in dict.fromkeys(known) if marker])
    return tokenizer


class Gate:
    """`steps` are those that the model has begun. `fails`: it begins no other."""

    def __init__(self, model: Any) -> None:
        self.steps = 0
        self.fails = False
        self._permits: threading.Semaphore | None = None
        self._num_waiting = 0
        self._hook = model.register_forward_pre_hook(lambda *_: self._enter())

    def pause(self, num_steps: int) -> None:
        self._permits = threading.Semaphore(num_steps)

    def go_on(self) -> None:
        permits, self._permits = self._permits, None
        if permits is not None:
            permits.release(1000)

    def finish_steps(self) -> None:
        """Those that have come to the gate are let through."""
        if self._permits is not None and self._num_waiting:
            self._permits.release(self._num_waiting)

    def remove(self) -> None:
        self.go_on()
        self._hook.remove()

    def _enter(self) -> None:
        if self._permits is not None:
            self._num_waiting += 1
            self._permits.acquire()
            self._num_waiting -= 1
        if self.fails:
            raise RuntimeError("as told to")
        self.steps += 1
