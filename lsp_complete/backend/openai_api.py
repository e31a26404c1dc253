"""`POST /v1/completions` as OpenAI has it, so that other clients can use this service, and this one other servers.

Translates between that API and ours; what it asks for beyond `prompt`, `suffix`, `max_tokens`, `stop` and `stream` is
ignored: the engine is greedy.
"""

import json
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from lsp_complete.protocol.completion import CompletionChunk, CompletionRequest, Finish, FinishChunk, Mode, TextChunk
from lsp_complete.protocol.errors import InvalidRequest
from lsp_complete.protocol.wire import without_surrogates

COMPLETIONS_PATH = "/v1/completions"
MODELS_PATH = "/v1/models"
# What OpenAI's API has for a default.
_MAX_TOKENS = 16
_MAX_STOPS = 16


@dataclass(frozen=True, slots=True)
class OpenAIRequest:
    """Ours, with what ours has no field for. `stop` are texts that end the answer and are not part of it."""

    request: CompletionRequest
    stop: tuple[str, ...]
    stream: bool


def parse(body: bytes) -> OpenAIRequest:
    """Raises InvalidRequest."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("the body is not JSON") from error
    if not isinstance(data, dict):
        raise InvalidRequest("the body is not a JSON object")
    prompt, suffix, max_tokens = data.get("prompt"), data.get("suffix") or "", data.get("max_tokens") or _MAX_TOKENS
    if not isinstance(prompt, str) or not isinstance(suffix, str):
        raise InvalidRequest("prompt and suffix: not a string")
    if not isinstance(max_tokens, int) or not 0 < max_tokens < 2**31:
        raise InvalidRequest("max_tokens: out of range")
    request = CompletionRequest(
        request_id=uuid.uuid4().hex, session_id=str(data.get("user") or ""), prefix=without_surrogates(prompt),
        suffix=without_surrogates(suffix),
        mode=Mode.BLOCK, max_tokens=max_tokens,
    )  # fmt: skip
    return OpenAIRequest(request, _stops(data.get("stop")), data.get("stream") is True)


def _stops(value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value or []
    if not isinstance(stops, list) or len(stops) > _MAX_STOPS or not all(isinstance(stop, str) for stop in stops):
        raise InvalidRequest(f"stop: not a string or a list of at most {_MAX_STOPS}")
    return tuple(stops)


def models(model: str) -> dict[str, Any]:
    """What `GET /v1/models` answers: the one model that is served."""
    return {"object": "list", "data": [{"id": model, "object": "model", "owned_by": "lsp-complete"}]}


async def events(
    asked: OpenAIRequest, chunks: AsyncGenerator[CompletionChunk, None], model: str
) -> AsyncGenerator[bytes, None]:
    """The answer as a stream of events, ended by `[DONE]`."""
    async with aclosing(chunks):
        async for chunk in chunks:
            yield b"data: " + _encoded(asked, "", chunk, model) + b"\n\n"
    yield b"data: [DONE]\n\n"


async def whole(
    asked: OpenAIRequest, chunks: AsyncGenerator[CompletionChunk, None], model: str
) -> AsyncGenerator[bytes, None]:
    """The answer as one JSON object."""
    text = ""
    async with aclosing(chunks):
        async for chunk in chunks:
            if isinstance(chunk, TextChunk):
                text += chunk.text
            else:
                yield _encoded(asked, text, chunk, model)


def _encoded(asked: OpenAIRequest, text: str, chunk: CompletionChunk, model: str) -> bytes:
    finish = chunk if isinstance(chunk, FinishChunk) else None
    answer: dict[str, Any] = {
        "id": f"cmpl-{asked.request.request_id}",
        "object": "text_completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            {
                "index": 0,
                "text": chunk.text if isinstance(chunk, TextChunk) else text,
                "logprobs": None,
                "finish_reason": _reason(finish) if finish else None,
            }
        ],
    }
    if finish:
        usage = finish.usage
        answer["usage"] = {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.prompt_tokens + usage.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        }
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def _reason(finish: FinishChunk) -> str:
    return "length" if finish.finish in (Finish.LENGTH, Finish.DEADLINE) else "stop"
