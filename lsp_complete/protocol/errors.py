"""The errors of the wire, as RFC 9457 problem documents with a stable `type`."""

from typing import Any

_TYPE_PREFIX = "urn:lsp-complete:"


class CompletionError(Exception):
    """A request that got no answer. `type` is stable and the same on both sides of the wire."""

    type = "error"
    status = 500
    title = "The request failed"

    def __init__(self, detail: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(detail or self.title)
        self.detail = detail
        self.retry_after_s = retry_after_s


class InvalidRequest(CompletionError):
    type, status, title = "invalid-request", 422, "The request is not valid"


class Unauthorized(CompletionError):
    """Also for 403."""

    type, status, title = "unauthorized", 401, "The credential is missing or wrong"


class TooLarge(CompletionError):
    type, status, title = "too-large", 413, "The request is too large"


class RateLimited(CompletionError):
    type, status, title = "rate-limited", 429, "Too many requests"


class QueueFull(RateLimited):
    type, title = "queue-full", "Too many requests are waiting"


class Unavailable(CompletionError):
    type, status, title = "unavailable", 503, "The service cannot take the request now"


class DeadlinePassed(Unavailable):
    type, title = "deadline-passed", "The answer would have come too late"


class TooLate(DeadlinePassed):
    """Refused before any work: by what requests take now, nothing would come in time."""

    type = "too-late"


class Superseded(Unavailable):
    type, title = "superseded", "The session has asked something newer"


class Overloaded(Unavailable):
    type, title = "overloaded", "The service is overloaded"


class Draining(Unavailable):
    type, title = "draining", "The service is stopping"


class ModelLoading(Unavailable):
    type, title = "model-loading", "The model is still loading"


class EngineFailed(CompletionError):
    type, status, title = "engine-failed", 500, "The engine failed"


class Unreachable(CompletionError):
    """No HTTP answer at all. Raised by the client only."""

    type, status, title = "unreachable", 0, "The service cannot be reached"


class BadAnswer(CompletionError):
    """An answer that is not of this protocol (a captive portal's page, say). Raised by the client only."""

    type, status, title = "bad-answer", 0, "The service's answer makes no sense"


class Paused(CompletionError):
    """Not asked at all, because of `cause`. Raised by the client only."""

    type, status, title = "paused", 0, "The service is not asked for now"

    def __init__(self, cause: CompletionError, detail: str = "") -> None:
        super().__init__(detail or str(cause), cause.retry_after_s)
        self.cause = cause


_ERRORS: tuple[type[CompletionError], ...] = (
    InvalidRequest, Unauthorized, TooLarge, RateLimited, QueueFull, Unavailable, DeadlinePassed, TooLate, Superseded,
    Overloaded, Draining, ModelLoading, EngineFailed,
)  # fmt: skip


def to_problem(error: CompletionError) -> dict[str, Any]:
    """The body of an `application/problem+json` answer. Carries no text of the request."""
    return {"type": _TYPE_PREFIX + error.type, "title": error.title, "status": error.status, "detail": error.detail}


# Statuses that mean what another one does.
_ALSO = {400: 422, 403: 401, 431: 413}


def from_problem(status: int, body: Any, retry_after_s: float | None = None) -> CompletionError:
    """The error that a problem document describes; without a usable one, the error that fits the status. A status that
    this protocol has no use for (404, say) comes from somebody else."""
    known = body if isinstance(body, dict) else {}
    name = str(known.get("type", "")).removeprefix(_TYPE_PREFIX)
    detail = str(known.get("detail") or known.get("title") or f"HTTP status {status}")
    for cls in _ERRORS:
        if cls.type == name:
            return cls(detail, retry_after_s)
    for cls in _ERRORS:
        if cls.status == _ALSO.get(status, status):
            return cls(detail, retry_after_s)
    if status >= 500:
        return Unavailable(detail, retry_after_s)
    return BadAnswer(f"the service answered with HTTP status {status}, which is not of this protocol", retry_after_s)
