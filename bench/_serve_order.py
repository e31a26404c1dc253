"""The order of a prompt: suffix first or prefix first. What of it is computed anew with each key, and what is right.

The same engine, the same requests, in turns; each order is a tenant of its own, so neither uses what the other has
computed.
"""

import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from bench._serve_scene import FAMILY, Scene, answer, code, question, scene
from lsp_complete.backend.metrics import Metrics
from lsp_complete.backend.service import Asked, CompletionService
from lsp_complete.evaluation.infilling import EvaluationError, Report, Suggest, evaluate, load_rows, select_rows
from lsp_complete.protocol.completion import CompletionChunk, CompletionRequest, Mode
from lsp_complete.text.document import Document

_ORDERS = {"spm": True, "psm": False}
_LINE = "    return sum(value for value in values if value > limit)"
_QUICK_KEYS = 12
# The rows of the published figures: by chance, without the longest, which take minutes on a slow processor.
_NUM_ROWS, _QUICK_ROWS, _SEED, _MAX_CHARS = 60, 4, 7, 1400
_LINE_TOKENS = 48


@dataclass(frozen=True, slots=True)
class Orders:
    """By order: tokens computed for a key, median; and the score on HumanEval-Infilling, none without the data."""

    tokens: dict[str, float]
    scores: dict[str, Report]


class _Tenant:
    """A `Completer`: the service in one order, over an engine that others use, too."""

    def __init__(self, name: str, one: Scene) -> None:
        self._name = name
        self._service = CompletionService(one.engine, replace(FAMILY, spm=_ORDERS[name]), 8, Metrics())

    def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        return self._service.answer(Asked(request, self._name))


async def orders(*, is_quick: bool) -> Orders:
    async with scene(num_slots=len(_ORDERS)) as one:
        tenants = {name: _Tenant(name, one) for name in _ORDERS}
        tokens = await _typed(tenants, len(_LINE) if not is_quick else _QUICK_KEYS)
        return Orders(tokens, await _scores(tenants, _QUICK_ROWS if is_quick else _NUM_ROWS))


async def _typed(tenants: dict[str, _Tenant], num_keys: int) -> dict[str, float]:
    before, behind = code("before", 10) + "def total(values, limit):\n", "\n\n\n" + code("behind", 10)
    computed: dict[str, list[int]] = {name: [] for name in tenants}
    for number in range(num_keys):
        for name, tenant in tenants.items():
            asked = question(before + _LINE[: number + 1], behind, max_tokens=1)
            computed[name].append((await answer(tenant, asked)).num_computed)
    return {name: median(counts[1:]) for name, counts in computed.items()}


async def _scores(tenants: dict[str, _Tenant], num_rows: int) -> dict[str, Report]:
    try:
        rows = select_rows(load_rows(_data()), num_rows, _SEED, _MAX_CHARS)
    except EvaluationError:
        return {}
    return {name: await evaluate(rows, _suggest(tenant)) for name, tenant in tenants.items()}


def _data() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "evaldata"
    return Path(os.environ.get("LSP_COMPLETE_EVALDATA") or beside) / "human-eval-infilling"


def _suggest(tenant: _Tenant) -> Suggest:
    async def suggest(document: Document, offset: int) -> str:
        asked = question(document.text[:offset], document.text[offset:], max_tokens=_LINE_TOKENS)
        return (await answer(tenant, replace(asked, mode=Mode.LINE))).text

    return suggest
