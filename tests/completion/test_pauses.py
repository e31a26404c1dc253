"""While the service cannot help: nothing is done for a question, and what earlier answers say is shown all the same."""

from collections.abc import AsyncGenerator

from lsp_complete.completion.answer import NoSuggestion
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import (
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
    Mode,
    TextChunk,
    Trigger,
)
from lsp_complete.protocol.errors import Paused, Unreachable
from lsp_complete.protocol.events import Event, Reason, Requested, Rung, Suppressed
from lsp_complete.text.document import Document

BEFORE, TYPED = (Document("file:///w/a.py", text, "a.py", "python") for text in ("x = ", "x = val"))


class Service:
    """Answers as long as it is there, and takes blocks as long as it has room for them."""

    def __init__(self) -> None:
        self.is_there = self.takes_blocks = True
        self.requests: list[CompletionRequest] = []

    def admit(self, trigger: Trigger, mode: Mode) -> Mode:
        if not self.is_there and trigger is Trigger.AUTOMATIC:
            raise Paused(Unreachable("gone"))
        return mode if self.takes_blocks else Mode.LINE

    async def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        self.requests.append(request)
        yield TextChunk("value")
        yield FinishChunk(Finish.STOP)


def asking(service: Service, events: list[Event]) -> Pipeline:
    settings = Settings(debounce_ms=0, warm_ahead=False)
    return Pipeline(service, settings, "s1", tell=events.append, admit=service.admit)


async def test_a_question_that_may_not_leave_is_suppressed_before_anything_is_done_for_it() -> None:
    service, events = Service(), list[Event]()
    service.is_there = False
    answer = await asking(service, events).suggest(BEFORE, 4, Trigger.AUTOMATIC)
    assert (answer.reason, answer.detail) == (NoSuggestion.OFFLINE, "not asked for now: gone")
    assert not {"debounce", "context", "prompt"} & answer.timing_ms.keys()
    requested, suppressed = events
    assert isinstance(requested, Requested)
    assert isinstance(suppressed, Suppressed)
    assert suppressed.reason is Reason.OFFLINE
    assert service.requests == []


async def test_what_was_answered_before_is_shown_while_it_is_typed() -> None:
    service = Service()
    pipeline = asking(service, [])
    await pipeline.suggest(BEFORE, 4, Trigger.AUTOMATIC)
    service.is_there = False
    pipeline.changed(BEFORE, TYPED)
    answer = await pipeline.suggest(TYPED, 7, Trigger.AUTOMATIC)
    assert answer.insertion is not None
    assert (answer.insertion.text, answer.rung) == ("ue", Rung.TYPED_THROUGH)


async def test_a_line_is_asked_for_where_there_is_no_room_for_a_block() -> None:
    service = Service()
    document = Document("file:///w/a.py", "def f():\n    ", "a.py", "python")
    for service.takes_blocks, mode in ((True, Mode.BLOCK), (False, Mode.LINE)):
        answer = await asking(service, []).suggest(document, 13, Trigger.AUTOMATIC)
        assert (answer.mode, service.requests[-1].mode) == (mode, mode)
