"""JSON for the types of completion.py, and the event stream that carries the chunks.

Unknown fields are ignored, missing ones have defaults, a field's meaning never changes.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

from lsp_complete.protocol.completion import (
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
    Mode,
    Snippet,
    TextChunk,
    Timing,
    Trigger,
    Usage,
)
from lsp_complete.protocol.errors import BadAnswer, InvalidRequest

COMPLETE_PATH = "/v1/complete"
HEALTH_PATH = "/v1/health"
SESSION_PATH = "/v1/sessions/{session_id}"
METRICS_PATH = "/metrics"
EVENT_STREAM = "text/event-stream"
PROBLEM_JSON = "application/problem+json"

_ENUMS = {"mode": Mode, "trigger": Trigger}
_T = TypeVar("_T", Usage, Timing)


def request_to_json(request: CompletionRequest) -> bytes:
    return json.dumps(asdict(request), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def request_from_json(body: bytes) -> CompletionRequest:
    """Raises InvalidRequest, naming the field but never quoting its content."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("the body is not JSON") from error
    if not isinstance(data, dict):
        raise InvalidRequest("the body is not a JSON object")
    values = {f.name: _field(f.name, data[f.name], f.type) for f in fields(CompletionRequest) if f.name in data}
    missing = {"request_id", "session_id", "prefix", "suffix"} - values.keys()
    if missing:
        raise InvalidRequest(f"missing: {', '.join(sorted(missing))}")
    return CompletionRequest(**values)


def _field(name: str, value: Any, expected: Any) -> Any:
    if name in _ENUMS:
        return _enum(name, value)
    if name == "snippets":
        return _snippets(value)
    if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
        raise InvalidRequest(f"{name}: not a {expected.__name__}")
    if expected is int and not 0 <= value < 2**31:
        raise InvalidRequest(f"{name}: out of range")
    return without_surrogates(value) if expected is str else value


def _enum(name: str, value: Any) -> Any:
    try:
        return _ENUMS[name](value)
    except ValueError:
        raise InvalidRequest(f"{name}: not one of {', '.join(_ENUMS[name])}") from None


def _snippets(value: Any) -> tuple[Snippet, ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InvalidRequest("snippets: not a list of objects")
    names = [f.name for f in fields(Snippet)]
    return tuple(Snippet(**{n: _field(n, item.get(n, ""), str) for n in names}) for item in value)


def without_surrogates(text: str) -> str:
    """JSON can smuggle in half a surrogate pair, which no encoder downstream accepts."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def chunk_to_event(chunk: CompletionChunk) -> bytes:
    """One server-sent event: `data: {…}` and an empty line."""
    return b"data: " + json.dumps(asdict(chunk), ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def chunk_from_event(line: str) -> CompletionChunk | None:
    """The chunk in one line of an event stream; None for a line without data. Raises BadAnswer."""
    if not line.startswith("data:"):
        return None
    try:
        data = json.loads(line[5:])
        if "finish" in data:
            return _finish(data)
        return TextChunk(_checked_text(data["text"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadAnswer("an event that is not a chunk") from error


def _checked_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("text is not a string")
    return without_surrogates(value)


def _finish(data: Mapping[str, Any]) -> FinishChunk:
    return FinishChunk(
        finish=Finish(data["finish"]),
        model=str(data.get("model", "")),
        usage=_numbers(Usage, data.get("usage", {})),
        timing_ms=_numbers(Timing, data.get("timing_ms", {})),
        debounce_ms=debounce if isinstance(debounce := data.get("debounce_ms"), int) else 0,
        level=level if isinstance(level := data.get("level"), int) else 0,
    )


def _numbers(cls: type[_T], data: Mapping[str, Any]) -> _T:
    names = [f.name for f in fields(cls)]
    return cls(**{n: data[n] for n in names if isinstance(data.get(n), int | float)})
