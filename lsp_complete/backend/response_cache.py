"""Answers that were just given, for who asks exactly the same again: boilerplate, and a cursor that comes back.

Small and short-lived, and never across tenants or models. Knows neither the engine nor its prefix cache. Pure
functions of a given time (seconds of any one clock).
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from lsp_complete.protocol.completion import CompletionRequest, Finish

_NUM_KEPT = 512
# What ended otherwise might have gone on.
_WHOLE = (Finish.STOP, Finish.LENGTH, Finish.BLOCK_END)


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    finish: Finish


class ResponseCache:
    def __init__(self, ttl_s: float) -> None:
        self._ttl_s = ttl_s
        self._answers: OrderedDict[bytes, tuple[float, Answer]] = OrderedDict()

    def get(self, key: bytes, now: float) -> Answer | None:
        until, answer = self._answers.get(key, (0.0, None))
        return answer if now < until else None

    def put(self, key: bytes, answer: Answer, now: float) -> None:
        if self._ttl_s and answer.finish in _WHOLE:
            self._answers[key] = (now + self._ttl_s, answer)
            self._answers.move_to_end(key)
        while len(self._answers) > _NUM_KEPT:
            self._answers.popitem(last=False)


def key_of(request: CompletionRequest, model: str, tenant: str, stop: tuple[str, ...] = ()) -> bytes:
    """A hash of all that the answer depends on."""
    snippets = [part for snippet in request.snippets for part in (snippet.path, snippet.text)]
    parts = (
        model, tenant, request.mode.value, str(request.max_tokens), request.path, request.language, request.prefix,
        request.suffix, str(len(stop)), *stop, *snippets,
    )  # fmt: skip
    found = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "replace")
        found.update(len(data).to_bytes(8, "big") + data)
    return found.digest()
