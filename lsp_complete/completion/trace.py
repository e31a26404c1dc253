"""What was done for a question, noted along the way for those who ask why: no code, and paths for this machine alone.

Knows nothing of where it is shown.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from lsp_complete.completion.outgoing import Outgoing
from lsp_complete.context.mixer import Mix
from lsp_complete.context.snippets import Snippet
from lsp_complete.prompt.assemble import CHARACTERS_PER_TOKEN, Prompt
from lsp_complete.prompt.snippets import Packed, repeats


class Cut(StrEnum):
    """Why a snippet that was found is not in the prompt."""

    DENIED = "denied"
    REPEATS = "repeats another"
    NO_ROOM = "no room"
    HELD = "the prompt stays as it is, for the cache"


@dataclass(frozen=True, slots=True)
class Found:
    """A snippet that a retriever found. `tokens` are about those that it takes, or would take; `cut` is why it does
    not, None for one that the prompt carries."""

    path: str
    source: str
    score: float = 0.0
    tokens: int = 0
    cut: Cut | None = None


@dataclass(slots=True)
class Trace:
    """`wait_ms` is the pause in typing that was waited for, None where nothing was asked. `late` names retrievers that
    were not heard. `asked` is the id of the question whose answer this is, which may be an earlier one."""

    wait_ms: float | None = None
    snippets: tuple[Found, ...] = ()
    late: tuple[str, ...] = ()
    num_redacted: int = 0
    asked: str = ""

    def assembled(self, mix: Mix, out: Outgoing) -> None:
        """A prompt was made of what was found."""
        self.snippets = (*_packed(out.prompt), *_cut(mix, out.prompt))
        self.late, self.num_redacted = mix.late, out.num_redacted


def _packed(prompt: Prompt) -> Iterator[Found]:
    for one in prompt.packed:
        yield _found(one.snippet, one.score, one.size)


def _cut(mix: Mix, prompt: Prompt) -> Iterator[Found]:
    carried = {one.key for one in prompt.packed}
    room = prompt.room - sum(one.size for one in prompt.packed)
    for snippet in mix.snippets:
        if snippet.key not in carried:
            one = Packed(snippet, mix.scores[snippet.key])
            yield _found(snippet, one.score, one.size, _why(one, prompt, room))
    for path, source in mix.denied:
        yield Found(path, source, cut=Cut.DENIED)


def _why(one: Packed, prompt: Prompt, room: int) -> Cut:
    if any(repeats(one, other) for other in prompt.packed):
        return Cut.REPEATS
    return Cut.NO_ROOM if one.size > room else Cut.HELD


def _found(snippet: Snippet, score: float, size: int, cut: Cut | None = None) -> Found:
    return Found(snippet.path, snippet.source, round(score, 5), round(size / CHARACTERS_PER_TOKEN), cut)
