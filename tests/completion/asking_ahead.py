"""A service that answers by the line left of the cursor and can be held up, and a user who types into documents."""

import asyncio
from typing import Any

from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import Finish, FinishChunk, TextChunk, Trigger, Usage
from tests.completion.cursor_case import at


class Knowing:
    """`answers` has a text, an error, or a list of these in turn, for each line left of the cursor; others get nothing.
    Waits for `gate`."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.requests: list[Any] = []
        self.closed: list[Any] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.debounce_ms = 0
        self.model = "m"

    async def complete(self, request):
        self.requests.append(request)
        try:
            await self.gate.wait()
            answer = self.answers.get(request.prefix.rpartition("\n")[2], "")
            answer = answer.pop(0) if isinstance(answer, list) else answer
            if isinstance(answer, Exception):
                raise answer
            if answer and not request.prefill_only:
                yield TextChunk(answer)
            usage = Usage(9, 1, 0 if request.prefill_only else len(answer))
            yield FinishChunk(Finish.STOP, self.model, usage, debounce_ms=self.debounce_ms)
        finally:
            self.closed.append(request)

    @property
    def asked(self):
        """The lines that were asked about, those asked ahead with a `>` before them, warmed ones with a `~`."""
        return [
            ("~" if one.prefill_only else ">" if one.ahead else "") + one.prefix.rpartition("\n")[2]
            for one in self.requests
        ]


class User:
    def __init__(self, answers: dict[str, Any], **settings: Any) -> None:
        self.service = Knowing(answers)
        self.outcomes = Outcomes()
        self.events: list[Any] = []
        chosen = Settings(debounce_ms=0, **settings)
        self.pipeline = Pipeline(self.service, chosen, "s1", outcomes=self.outcomes, tell=self.events.append)
        self.document, self.offset = at("█")

    def has(self, marked: str, path: str = "a.py") -> None:
        """The document on the screen, of which nothing is told."""
        self.document, self.offset = at(marked, path)

    def become(self, marked: str, path: str = "a.py") -> None:
        """The editor tells of a change."""
        before = self.document
        self.document, self.offset = at(marked, path)
        self.pipeline.changed(before, self.document)

    async def sees(self, marked: str, trigger: Trigger = Trigger.AUTOMATIC):
        """What is shown once the document reads so, and the rung it came from; the reason where it is nothing."""
        if marked != self.document.text[: self.offset] + "█" + self.document.text[self.offset :]:
            self.become(marked)
        answer = await self.pipeline.suggest(self.document, self.offset, trigger)
        await settle()
        return (answer.insertion.text, answer.rung) if answer.insertion else answer.reason


async def settle() -> None:
    for _ in range(30):
        await asyncio.sleep(0)
