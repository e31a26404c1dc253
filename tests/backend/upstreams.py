"""Servers as users run them, played in what an adapter meets: what they list, what they refuse, how they stream.

Each recites with a `RecitingEngine` and stops it when the connection is closed, as the real ones do.
"""

import contextlib
import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lsp_complete.backend.engines.base import Job
from lsp_complete.backend.engines.upstream import Server
from lsp_complete.backend.serve import listening
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.errors import EngineFailed
from tests.fakes import QWEN, RecitingEngine

CREDENTIAL = "upstream-credential"
_MODELS = {
    Server.VLLM: "Qwen/Qwen2.5-Coder-1.5B", Server.SGLANG: "bigcode/starcoder2-3b", Server.LLAMA_SERVER: "served",
    Server.OLLAMA: "qwen2.5-coder:1.5b-base", Server.LM_STUDIO: "qwen2.5-coder-1.5b", Server.OTHER: "codestral-latest",
}  # fmt: skip
_CONTEXT = 2048
# What a hosted service takes; anything else is 422.
_HOSTED_FIELDS = {"model", "prompt", "suffix", "max_tokens", "temperature", "stream", "stop"}


@dataclass(slots=True)
class FakeUpstream:
    """`bodies` are the requests for text, `num_open` answers being streamed. `breaks_after`: so many characters."""

    server: Server
    engine: RecitingEngine
    credential: str = ""
    status: int = 200
    breaks_after: int | None = None
    bodies: list[dict[str, Any]] = field(default_factory=list)

    @property
    def model(self) -> str:
        return _MODELS[self.server]

    def app(self) -> Starlette:
        routes = [Route("/v1/completions", self._complete, methods=["POST"])]
        if self.server is not Server.OTHER:
            routes.append(Route("/v1/models", self._models))
        if self.server in (Server.VLLM, Server.LLAMA_SERVER):
            routes.append(Route("/tokenize", self._tokenize, methods=["POST"]))
        if self.server is Server.LLAMA_SERVER:
            props = {"default_generation_settings": {"n_ctx": _CONTEXT}}
            routes.append(Route("/props", lambda _: JSONResponse(props)))
        if self.server is Server.OLLAMA:
            routes.append(Route("/api/version", lambda _: JSONResponse({"version": "0.9"})))
        if self.server is Server.LM_STUDIO:
            loaded = {"id": self.model, "max_context_length": 32768, "loaded_context_length": _CONTEXT}
            routes.append(Route("/api/v0/models/{model:path}", lambda _: JSONResponse(loaded)))
        return Starlette(routes=routes)

    async def _models(self, request: Request) -> Response:
        if self.credential and request.headers.get("authorization") != f"Bearer {self.credential}":
            return JSONResponse({"error": {"message": "Invalid API key"}}, 401)
        entry: dict[str, Any] = {"id": self.model, "object": "model", "owned_by": self.server.value}
        if self.server in (Server.VLLM, Server.SGLANG):
            entry["max_model_len"] = _CONTEXT
        return JSONResponse({"object": "list", "data": [entry]})

    async def _tokenize(self, request: Request) -> Response:
        body = await request.json()
        text = body["content" if self.server is Server.LLAMA_SERVER else "prompt"]
        marker = self.engine.tokenizer.marker(text)
        return JSONResponse({"tokens": [marker] if marker is not None else [ord(char) for char in text]})

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        if refusal := self._refusal(request, body):
            return JSONResponse({"error": {"message": "never repeat this: " + body["prompt"]}}, refusal)
        if not body.get("stream"):
            return JSONResponse({"choices": [{"index": 0, "text": "x", "finish_reason": "length"}]})
        self.bodies.append(body)
        return _Streamed(self._stream(body), media_type="text/event-stream")

    def _refusal(self, request: Request, body: dict[str, Any]) -> int | None:
        if self.status != 200:
            return self.status
        if self.credential and request.headers.get("authorization") != f"Bearer {self.credential}":
            return 401
        if "suffix" in body and self.server in (Server.VLLM, Server.LLAMA_SERVER):
            return 400
        if self.server is Server.OTHER and not body.keys() <= _HOSTED_FIELDS:
            return 422
        return None

    async def _stream(self, body: dict[str, Any]) -> AsyncGenerator[bytes, None]:
        """A model that fails ends the answer where it is."""
        with contextlib.suppress(EngineFailed):
            async with contextlib.aclosing(self._pieces(body)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[bytes, None]:
        tenant = body.get("cache_salt", "")
        stops = frozenset([1]) if QWEN.stops[0] in body.get("stop", [QWEN.stops[0]]) else frozenset[int]()
        prompt = [ord(char) for char in body["prompt"]]
        num_characters, job = 0, Job(prompt, body["max_tokens"], "", stops, tenant)
        async with contextlib.aclosing(self.engine.generate(job)) as steps:
            async for step in steps:
                if step.finish is None and not step.text:
                    continue
                if num_characters == self.breaks_after:
                    return
                num_characters += len(step.text)
                yield self._event(self._choice(step.text, step.finish and step.finish.value), step.usage.cached_tokens)
        if body.get("stream_options", {}).get("include_usage"):
            yield self._usage(step.usage.prompt_tokens, step.usage.completion_tokens, step.usage.cached_tokens)
        yield b"data: [DONE]\n\n"

    def _choice(self, text: str, reason: str | None) -> dict[str, Any]:
        content = {"delta": {"content": text}} if self.server is Server.OTHER else {"text": text}
        return {"index": 0, **content, "finish_reason": reason}

    def _event(self, choice: dict[str, Any], num_cached: int) -> bytes:
        event: dict[str, Any] = {"id": "cmpl-1", "object": "text_completion", "model": self.model, "choices": [choice]}
        if self.server is Server.LLAMA_SERVER and choice["finish_reason"]:
            event["timings"] = {"cache_n": num_cached}
        # Real ones differ in blanks and line ends; \u2028 stands in code unescaped.
        end = b"\r\n\r\n" if self.server is Server.SGLANG else b"\n\n"
        return b"data: " + json.dumps(event, ensure_ascii=False).encode() + end

    def _usage(self, prompt: int, completion: int, cached: int) -> bytes:
        usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
        if self.server in (Server.VLLM, Server.SGLANG):
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        return b"data: " + json.dumps({"choices": [], "usage": usage}).encode() + b"\n\n"


class _Streamed(StreamingResponse):
    """Ends what it streams when it ends itself, in whichever step the client has left, not when the garbage goes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self.body_iterator.aclose()  # type: ignore[attr-defined]


@contextlib.asynccontextmanager
async def upstream(
    server: Server, engine: RecitingEngine, **options: Any
) -> AsyncGenerator[tuple[str, FakeUpstream], None]:
    """Gives the address of a server, and the server."""
    fake = FakeUpstream(server, engine, **options)
    async with listening(fake.app(), Settings(), 0) as url:
        yield url, fake
