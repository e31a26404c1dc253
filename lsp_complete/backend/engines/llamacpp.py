"""llama.cpp in this process, through xllamacpp, one step a call.

A step is one token of decoding or one small batch of prefill. Each is a call of its own on a thread, those of several
slots one call together (`llamacpp_rounds.py`), so between two steps nothing runs that would have to be told of a
cancellation: a closed generator costs the rest of the step in progress and no more. (A streaming call goes one step
further before it notices, measured in 34 of 40 cancels.) Every slot keeps its prompt in llama.cpp's KV cache, and we
keep the same tokens here, so the slot that shares most with a new prompt is known before asking.

There are no drafts. llama.cpp's own, from what stood behind the same tokens before, cost as much as they gave on two
cores, on code that repeats, too (`python -m bench serve --only drafts`), and it checks none that a caller has.
"""

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from lsp_complete.backend.engines.base import EngineChunk, EngineStats, Isolation, Job
from lsp_complete.backend.engines.cores import num_cores
from lsp_complete.backend.engines.llamacpp_calls import HALF, LEAST_SIMILAR, Answer, Calls, Step
from lsp_complete.backend.engines.llamacpp_folder import PrivateFolder
from lsp_complete.backend.engines.llamacpp_rounds import Rounds
from lsp_complete.backend.engines.llamacpp_tokens import LlamaCppTokenizer
from lsp_complete.backend.engines.steps import num_shared
from lsp_complete.config.extras import how_to_install
from lsp_complete.protocol.completion import Finish, Timing, Usage
from lsp_complete.protocol.errors import EngineFailed

# OpenMP reads it when it is loaded. Its threads spin while they wait for each other, by default 300,000 times: with
# other programs on two cores a prompt of 50 tokens took more than 40 s, and 2 s with as few turns as these.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

# One batch of prefill. Larger ones are hardly faster on a CPU (46 to 80 tokens/s at 32, 64 and 512 alike) and make a
# cancel, and the keystroke behind it, wait longer: 64 tokens are 0.8 s on two slow cores, 32 are 0.4 s.
PREFILL_STEP_TOKENS = 32
# A slot is reused if it shares so much with the new prompt, of what the shorter of the two has; otherwise the slot that
# was unused for longest is taken, so that a second file does not evict the first; and before that, one that was only
# warmed up, so that files that are looked into take no slot from those that are edited.
_MIN_SHARED = 0.5


@dataclass(slots=True, eq=False)
class _Slot:
    """`tokens` is what its KV cache holds that may be used, `is_foreign` while it may hold another tenant's besides.
    `taken` while a job owns it, `step` while the model computes in it. `is_ahead`: nobody has used it yet."""

    id: int
    tokens: Sequence[int] = ()
    tenant: str = ""
    is_foreign: bool = False
    taken: bool = False
    is_ahead: bool = False
    last_used: float = 0.0
    step: asyncio.Future[Any] | None = None


@dataclass(slots=True)
class _Progress:
    """What one job has cost so far. `half` are tokens that end within a character."""

    cached_tokens: int = 0
    prefill_ms: float = 0.0
    decode_ms: float = 0.0
    num_generated: int = 0
    half: list[int] = field(default_factory=list)
    finish: Finish = Finish.LENGTH


_NOTHING = Answer(None, None)


class LlamaCppEngine:
    """An `Engine`. Made by `load`, which blocks for seconds."""

    isolation = Isolation.SLOTS

    def __init__(
        self, server: Any, folder: PrivateFolder, model: str, context_tokens: int, num_slots: int, key: str
    ) -> None:
        self.model = model
        self.context_tokens = context_tokens
        self.num_slots = num_slots
        self.tokenizer = LlamaCppTokenizer(server.listening_address, key)
        self._folder = folder
        self._slots = slots = [_Slot(i) for i in range(num_slots)]
        self._freed = asyncio.Event()
        self._evictions, self._evicted_age_s = 0, 0.0
        calls = Calls(server, num_slots, _pass_tokens(num_slots))
        self._rounds = Rounds(calls, lambda: sum(1 for slot in slots if slot.taken))
        self._prefilled = self._generated = 0

    @classmethod
    def load(cls, path: Path, *, model: str, context_tokens: int, num_slots: int, threads: int) -> "LlamaCppEngine":
        """Load a GGUF file. Raises EngineFailed with a readable reason."""
        try:
            import xllamacpp
        except ImportError as error:
            raise EngineFailed(f"{error.name} is missing: {how_to_install('cpu')}") from error
        folder = PrivateFolder()
        key = secrets.token_urlsafe(32)
        params = _params(xllamacpp.CommonParams(), path, context_tokens, num_slots, threads)
        _hide_listener(params, folder.path, key)
        try:
            server = xllamacpp.Server(params)
        except Exception as error:
            folder.remove()
            raise EngineFailed(f"llama.cpp cannot load {path.name}: not a GGUF file, or not enough memory") from error
        return cls(server, folder, model, context_tokens, num_slots, key)

    async def generate(self, job: Job) -> AsyncGenerator[EngineChunk, None]:
        progress = _Progress()
        async with (
            self._slot_for(job) as slot,
            contextlib.aclosing(self._texts(slot, job, progress)) as texts,
        ):
            progress.cached_tokens = num_shared(slot.tokens, job.prompt)
            yield EngineChunk("", None, _usage(job, progress))
            async for text in texts:
                yield EngineChunk(text, None, _usage(job, progress), _timing(progress))
        yield EngineChunk("", progress.finish, _usage(job, progress), _timing(progress))

    async def _texts(self, slot: _Slot, job: Job, progress: _Progress) -> AsyncGenerator[str, None]:
        """The text of each step: nothing for those of the prefill, then a token's."""
        tokens, answer = list(job.prompt), _NOTHING
        async with contextlib.aclosing(self._prefill(slot, tokens, progress)) as answers:
            async for answer in answers:  # noqa: B007
                yield ""
        while progress.num_generated < job.max_tokens:
            if progress.num_generated:
                answer = await self._decode(slot, tokens, progress)
            if answer.token is None or answer.token in job.stop_tokens:
                progress.finish = Finish.STOP
                return
            progress.num_generated += 1
            tokens.append(answer.token)
            yield await self._text(answer, progress)

    def stats(self) -> EngineStats:
        busy = sum(1 for slot in self._slots if slot.step is not None)
        held = sum(len(slot.tokens) for slot in self._slots)
        counts = self._rounds.num_begun, self._prefilled, self._generated, held, self._evictions, self._evicted_age_s
        return EngineStats(busy, *counts)

    async def close(self) -> None:
        await self._rounds.close()
        self._folder.remove()

    @contextlib.asynccontextmanager
    async def _slot_for(self, job: Job) -> AsyncGenerator[_Slot, None]:
        while not (free := [slot for slot in self._slots if not slot.taken]):
            self._freed.clear()
            await self._freed.wait()
        slot = _best_slot(free, job)
        slot.taken = True
        try:
            if slot.step is not None:  # the last step of a cancelled job: worth waiting for, its cache is what we want
                await asyncio.wait([slot.step])
            self._hand_over(slot, job)
            yield slot
        finally:
            slot.taken = False
            slot.last_used = time.monotonic()
            self._freed.set()

    def _hand_over(self, slot: _Slot, job: Job) -> None:
        """Count what the job makes the slot lose, and see that nothing of another tenant's is used."""
        is_kept = _is_worth_keeping(slot, job)
        if slot.tokens and not is_kept:
            self._evictions += 1
            self._evicted_age_s += time.monotonic() - slot.last_used
        slot.is_ahead = not job.max_tokens and (slot.is_ahead or not slot.tokens or not is_kept)
        if slot.tenant != job.tenant:
            slot.is_foreign = slot.is_foreign or bool(slot.tokens)
            slot.tokens, slot.tenant = (), job.tenant

    async def _prefill(self, slot: _Slot, tokens: list[int], progress: _Progress) -> AsyncGenerator[Answer, None]:
        """Compute the prompt in small steps. Gives the answer of each; that of the last has the first token."""
        start = progress.cached_tokens
        for end in [*range(start + PREFILL_STEP_TOKENS, len(tokens), PREFILL_STEP_TOKENS), len(tokens)]:
            answer = await self._step(slot, tokens[:end])
            progress.cached_tokens = min(progress.cached_tokens, answer.num_cached)
            progress.prefill_ms += answer.took_ms
            yield answer

    async def _decode(self, slot: _Slot, tokens: list[int], progress: _Progress) -> Answer:
        answer = await self._step(slot, tokens)
        progress.decode_ms += answer.took_ms
        return answer

    async def _text(self, answer: Answer, progress: _Progress) -> str:
        """The token's text; empty until the character that it is a part of is whole."""
        if answer.text is not None and not progress.half:
            return answer.text
        assert answer.token is not None
        progress.half.append(answer.token)
        text = await asyncio.to_thread(self.tokenizer.decode, progress.half)
        if text.endswith(HALF):
            return ""
        progress.half.clear()
        return text

    async def _step(self, slot: _Slot, tokens: Sequence[int]) -> Answer:
        """A cancelled caller leaves a step running that has begun; the slot knows until it is done."""
        held = tuple(tokens)
        slot.step = self._rounds.ask(Step(slot.id, held, not slot.is_foreign))
        slot.step.add_done_callback(partial(self._step_done, slot, held))
        try:
            return await asyncio.shield(slot.step)
        except asyncio.CancelledError:
            if slot.step is not None:
                self._rounds.withdraw(slot.step)
            raise

    def _step_done(self, slot: _Slot, tokens: tuple[int, ...], step: "asyncio.Future[Answer]") -> None:
        slot.step = None
        if step.cancelled():  # before it had begun
            return
        slot.tokens, slot.is_foreign = (), True  # after a failure nobody knows what it holds
        if step.exception() is None:
            slot.tokens, slot.is_foreign = tokens, False
            self._prefilled += step.result().num_computed
            self._generated += step.result().token is not None


def _best_slot(free: Sequence[_Slot], job: Job) -> _Slot:
    best = max(free, key=lambda slot: _usable(slot, job))
    if _is_worth_keeping(best, job):
        return best
    return min(free, key=lambda slot: (bool(slot.tokens), not slot.is_ahead, slot.last_used))


def _is_worth_keeping(slot: _Slot, job: Job) -> bool:
    return _usable(slot, job) >= _MIN_SHARED * min(len(slot.tokens), len(job.prompt))


def _usable(slot: _Slot, job: Job) -> int:
    return num_shared(slot.tokens, job.prompt) if slot.tenant == job.tenant else 0


def _usage(job: Job, progress: _Progress) -> Usage:
    return Usage(len(job.prompt), progress.cached_tokens, progress.num_generated)


def _timing(progress: _Progress) -> Timing:
    return Timing(prefill=round(progress.prefill_ms, 2), decode=round(progress.decode_ms, 2))


def _params(params: Any, path: Path, context_tokens: int, num_slots: int, threads: int) -> Any:
    params.model.path = str(path)
    params.n_ctx = context_tokens * num_slots
    params.n_parallel = num_slots
    params.n_batch = params.n_ubatch = _pass_tokens(num_slots)
    params.slot_prompt_similarity = LEAST_SIMILAR
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or num_cores()
    params.cache_ram_mib = 0  # our slots are the cache; llama.cpp's copy of old prompts would take up to 8 GiB
    params.verbosity = 0
    params.warmup = True
    return params


def _pass_tokens(num_slots: int) -> int:
    """A step of one slot's prefill, and a token of each other."""
    return PREFILL_STEP_TOKENS + num_slots - 1


def _hide_listener(params: Any, folder: Path, key: str) -> None:
    """llama.cpp opens an HTTP listener of its own, which we need for its tokenizer alone: on a socket in a private
    folder where there are such sockets, on a random loopback port elsewhere, and with a random key."""
    if os.name == "posix":
        params.hostnames = [str(folder / "s.sock")]
    params.api_keys = [key]
    params.n_threads_http = 2
    params.ui = params.endpoint_slots = False
