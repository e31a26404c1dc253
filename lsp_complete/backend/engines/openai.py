"""Servers that speak OpenAI's `/v1/completions`: vLLM, SGLang, llama-server, Ollama, LM Studio, hosted services.

Closing the generator closes the connection of the request, which is how these servers learn of a cancellation. Caches
and batching are theirs. What a server does not tell of its usage is counted here: an event for a token.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import httpx

from lsp_complete.backend.engines.base import EngineChunk, EngineStats, Isolation, Job
from lsp_complete.backend.engines.text_tokens import TextTokens
from lsp_complete.backend.engines.upstream import SALTING, Server, Upstream, client_options, probe
from lsp_complete.backend.fim import HOSTED
from lsp_complete.protocol.completion import Finish, Timing, Usage
from lsp_complete.protocol.errors import CompletionError, EngineFailed, RateLimited, Unavailable

# The deadline of a request is its caller's; this is for a server that has died without closing the connection.
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_RETRY_AFTER_S = 1.0
# What a server may be asked for beyond what all of them know.
_EXTRAS: dict[Server, dict[str, Any]] = {
    # Markers of the end must be visible, or a server that hides them would write on behind them.
    Server.VLLM: {"stream_options": {"include_usage": True}, "skip_special_tokens": False},
    Server.SGLANG: {"stream_options": {"include_usage": True}, "skip_special_tokens": False},
    Server.LLAMA_SERVER: {"stream_options": {"include_usage": True}, "cache_prompt": True},
    Server.LM_STUDIO: {"stream_options": {"include_usage": True}},
    Server.OLLAMA: {"stream_options": {"include_usage": True}},
    Server.OTHER: {},
}


@dataclass(slots=True)
class _Progress:
    """What has been seen of one answer."""

    usage: Usage
    started: float
    first_text: float = 0.0
    finish: Finish | None = None

    def timing(self) -> Timing:
        now = time.monotonic()
        first = self.first_text or now
        return Timing(prefill=round((first - self.started) * 1000, 2), decode=round((now - first) * 1000, 2))


class OpenAIEngine:
    """An `Engine`. Made by `connect`, which blocks while it asks the server what it is."""

    def __init__(self, upstream: Upstream, credential: str, num_slots: int) -> None:
        self.model = upstream.model
        self.context_tokens = upstream.context_tokens
        self.num_slots = num_slots
        self.isolation = Isolation.SALT if upstream.server in SALTING else Isolation.NONE
        family = upstream.family
        markers = (family.bos, family.prefix, family.suffix, family.middle, family.file_marker, *family.stops)
        self.tokenizer = TextTokens(markers, silent=[family.bos])  # servers put it in front by themselves
        self._upstream = upstream
        self._slots = asyncio.Semaphore(num_slots)
        self._client = httpx.AsyncClient(timeout=_TIMEOUT, **client_options(upstream.base, credential))
        self._busy = self._steps = self._generated = 0

    @classmethod
    def connect(cls, url: str, *, credential: str = "", model: str = "", num_slots: int = 2) -> "OpenAIEngine":
        """Raises EngineFailed with a readable reason."""
        return cls(probe(url, credential, model), credential, num_slots)

    async def generate(self, job: Job) -> AsyncGenerator[EngineChunk, None]:
        progress = _Progress(Usage(len(job.prompt)), time.monotonic())
        if not job.max_tokens and self._may_charge:
            yield EngineChunk("", Finish.STOP, progress.usage, progress.timing())
            return
        async with self._slots:
            yield EngineChunk(usage=progress.usage)
            progress.started = time.monotonic()
            try:
                async with contextlib.aclosing(self._texts(job, progress)) as texts:
                    async for text in texts:
                        yield EngineChunk(text if job.max_tokens else "", None, progress.usage, progress.timing())
            except httpx.HTTPError as error:
                raise EngineFailed(f"the upstream server failed: {type(error).__name__}") from error
        if progress.finish is None:
            raise EngineFailed("the upstream server ended its answer early")
        yield EngineChunk("", progress.finish, progress.usage, progress.timing())

    @property
    def _may_charge(self) -> bool:
        """A hosted service counts each prompt, and need not keep it: warming up is not worth its price."""
        return self._upstream.server is Server.OTHER and self._upstream.family is HOSTED

    def stats(self) -> EngineStats:
        return EngineStats(self._busy, self._steps, 0, self._generated)

    async def close(self) -> None:
        await self._client.aclose()

    async def _texts(self, job: Job, progress: _Progress) -> AsyncGenerator[str, None]:
        self._busy += 1
        try:
            url = f"{self._upstream.base}/completions"
            async with self._client.stream("POST", url, json=self._body(job)) as answer:
                if answer.status_code != httpx.codes.OK:
                    raise _error(answer)
                async with contextlib.aclosing(_events(answer)) as events:
                    async for event in events:
                        if text := self._note(event, progress):
                            yield text
        finally:
            self._busy -= 1

    def _body(self, job: Job) -> dict[str, Any]:
        """Greedy. One token is the least that all servers take, so warming up costs one."""
        body = {
            "model": self.model, "max_tokens": max(1, job.max_tokens), "temperature": 0, "stream": True,
            **self._prompt(job), **_EXTRAS[self._upstream.server],
        }  # fmt: skip
        if job.tenant and self.isolation is Isolation.SALT:
            body["cache_salt"] = job.tenant
        return body

    def _prompt(self, job: Job) -> dict[str, Any]:
        text, marker = self.tokenizer.text, self.tokenizer.marker
        if self._upstream.family is not HOSTED:
            return {"prompt": text(job.prompt), "stop": sorted(filter(None, (text([t]) for t in job.stop_tokens)))}
        prefix, suffix, middle = (job.prompt.index(marker(m)) for m in (HOSTED.prefix, HOSTED.suffix, HOSTED.middle))
        before = text(job.prompt[:prefix]) + text(job.prompt[prefix + 1 : suffix])
        return {"prompt": before, "suffix": text(job.prompt[suffix + 1 : middle])}

    def _note(self, event: dict[str, Any], progress: _Progress) -> str:
        """The event's text; what else it says goes into `progress`."""
        if "error" in event:
            raise EngineFailed("the upstream server reported an error in mid-answer")
        choice: dict[str, Any] = next(iter(event.get("choices") or []), {})
        text = choice.get("text") or (choice.get("delta") or {}).get("content") or ""
        if reason := choice.get("finish_reason"):
            progress.finish = Finish.LENGTH if reason == "length" else Finish.STOP
        if text:
            self._steps += 1
            self._generated += 1
            progress.first_text = progress.first_text or time.monotonic()
            progress.usage = replace(progress.usage, completion_tokens=progress.usage.completion_tokens + 1)
        if isinstance(usage := event.get("usage"), dict):
            progress.usage = _usage(usage, progress.usage)
        if isinstance(timings := event.get("timings"), dict) and isinstance(timings.get("cache_n"), int):
            progress.usage = replace(progress.usage, cached_tokens=timings["cache_n"])
        return str(text)


async def _events(answer: httpx.Response) -> AsyncGenerator[dict[str, Any], None]:
    """The JSON objects of an event stream, cut at LF only: code may contain what else ends a line."""
    rest = b""
    async for piece in answer.aiter_bytes():
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            name, _, data = line.strip().partition(b":")
            if name == b"data" and data.strip() == b"[DONE]":
                return
            if name == b"data":
                yield _json(data)


def _json(data: bytes) -> dict[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise EngineFailed("the upstream server's answer makes no sense")
    return event


def _usage(told: dict[str, Any], counted: Usage) -> Usage:
    """What the server told, field by field, or what we counted."""
    details = told.get("prompt_tokens_details") or {}
    return replace(
        counted,
        prompt_tokens=_number(told.get("prompt_tokens"), counted.prompt_tokens),
        completion_tokens=_number(told.get("completion_tokens"), counted.completion_tokens),
        cached_tokens=_number(details.get("cached_tokens"), counted.cached_tokens),
    )


def _number(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and value >= 0 else otherwise


def _error(answer: httpx.Response) -> CompletionError:
    """Never with the server's own words: they may quote the prompt."""
    status = answer.status_code
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return RateLimited("the upstream server has too many requests", _RETRY_AFTER_S)
    if status == httpx.codes.SERVICE_UNAVAILABLE:
        return Unavailable("the upstream server cannot take the request now", _RETRY_AFTER_S)
    if status in (401, 403):
        return EngineFailed(f"the upstream server refuses our credential (status {status})")
    return EngineFailed(f"the upstream server answered with status {status}")
