"""The models that benchmarks run on."""

import sys
from pathlib import Path

from lsp_complete.backend.engines.llamacpp import LlamaCppEngine
from lsp_complete.config.paths import model_folder
from lsp_complete.models.catalogue import QWEN_0_5B
from lsp_complete.models.fetch import find


def embedded_path() -> Path:
    """The file of the embedded default. Ends the program with a message where it is not on this machine."""
    path = find(QWEN_0_5B, model_folder())
    if path is None:
        sys.exit(f"the model is not here; fetch it: lsp-complete model pull {QWEN_0_5B.name}")
    return path


def embedded_engine(num_slots: int = 2, context_tokens: int = 2048) -> LlamaCppEngine:
    """The embedded default, loaded."""
    return LlamaCppEngine.load(
        embedded_path(), model=QWEN_0_5B.name, context_tokens=context_tokens, num_slots=num_slots, threads=0
    )
