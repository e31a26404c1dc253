"""Does llama.cpp's own speculation pay: drafts of what stood behind the same tokens before, checked in one pass?

Two of its servers on the same file, with drafts and without, in turns: code that repeats itself (prompt lookup), and an
answer that is asked for again (what the previous suggestion said). Our engine has no drafts while this does not win.
"""

import asyncio
import contextlib
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench._models import embedded_path
from lsp_complete.backend.engines.cores import num_cores
from lsp_complete.backend.engines.llamacpp_tokens import LlamaCppTokenizer

_ROUNDS, _QUICK, _TOKENS = 7, 2, 48
# The settings that lose least, of lengths 3 to 12 and both kinds that need no second model.
_MATCH_TOKENS, _DRAFT_TOKENS = 8, 12
_BODY = """def {name}_{i}(value):
    result = compute(value, {i})
    log.debug("{name} %d gives %s", {i}, result)
    return result


"""


@dataclass(frozen=True, slots=True)
class Drafts:
    """Decode time without drafts by that with them."""

    speedup: float
    accepted_share: float
    is_same: bool


class _Server:
    def __init__(self, *, has_drafts: bool) -> None:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(embedded_path())
        params.n_ctx, params.n_parallel, params.cache_ram_mib, params.verbosity = 2048, 1, 0, 0
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = num_cores()
        if has_drafts:
            params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_MOD]
            mod = params.speculative.ngram_mod
            mod.n_match, mod.n_min, mod.n_max = _MATCH_TOKENS, 1, _DRAFT_TOKENS
        self._server = xllamacpp.Server(params)
        self.tokenizer = LlamaCppTokenizer(self._server.listening_address, "")

    def complete(self, tokens: list[int]) -> tuple[str, dict[str, Any]]:
        """The text, and llama.cpp's timings. Blocks."""
        answers: list[dict[str, Any]] = []
        body = {"prompt": tokens, "n_predict": _TOKENS, "samplers": ["top_k"], "top_k": 1, "stream": False}
        self._server.handle_completions(body, answers.append)
        return str(answers[0]["choices"][0]["text"]), answers[0]["timings"]


async def drafts(*, is_quick: bool) -> Drafts:
    return await asyncio.to_thread(_drafts, _QUICK if is_quick else _ROUNDS)


def _drafts(num_rounds: int) -> Drafts:
    on, off = _Server(has_drafts=True), _Server(has_drafts=False)
    took: dict[_Server, list[float]] = {on: [], off: []}
    num_drafted, num_accepted, is_same = 0, 0, True
    for number in range(num_rounds):
        text = "".join(_BODY.format(name=f"step{number // 2}", i=i) for i in range(4)) + f"def step{number // 2}_4("
        answers = {server: server.complete(on.tokenizer.encode(text)) for server in took}
        for server, (_, timings) in answers.items():
            took[server].append(timings["predicted_ms"])
        is_same = is_same and answers[on][0] == answers[off][0]
        num_drafted += answers[on][1].get("draft_n", 0)
        num_accepted += answers[on][1].get("draft_n_accepted", 0)
    with contextlib.suppress(ZeroDivisionError):
        return Drafts(round(median(took[off]) / median(took[on]), 2), round(num_accepted / num_drafted, 2), is_same)
    return Drafts(1.0, 0.0, is_same)
