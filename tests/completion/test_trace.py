"""What is noted of a question: which snippets its prompt carries, which it does not, and why. No code in it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from lsp_complete.completion.answer import Answer, explained
from lsp_complete.completion.outgoing import Outgoing
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.trace import Cut, Trace
from lsp_complete.config.settings import Settings
from lsp_complete.context.mixer import Mix
from lsp_complete.context.snippets import Snippet
from lsp_complete.prompt.assemble import Prompt
from lsp_complete.prompt.packer import Window
from lsp_complete.prompt.snippets import Packed
from lsp_complete.protocol.completion import CompletionChunk, CompletionRequest, Mode, TextChunk, Trigger
from lsp_complete.protocol.events import Cancelled, Event, Stage
from lsp_complete.text.document import Document

LINES = "\n".join(f"line_{number} = secret_{number}" for number in range(9))


def snippet(key: str, text: str = LINES, path: str = "") -> Snippet:
    return Snippet(path or f"{key}.py", text, "similar", "it is alike", key)


def traced(found: list[Snippet], packed: list[Snippet], room: int = 10_000, **mix: object) -> Trace:
    scores = {one.key: 0.5 for one in found}
    prompt = Prompt(Window("", ""), tuple(Packed(one, 0.5) for one in packed), room)
    trace = Trace()
    trace.assembled(replace(Mix(tuple(found), scores), **mix), Outgoing(prompt, 2))  # type: ignore[arg-type]
    return trace


A = snippet("a")


@pytest.mark.parametrize(
    ("other", "room", "why"),
    [
        (snippet("b", path="a.py"), 10_000, Cut.REPEATS),
        (snippet("b"), len(LINES) + 20, Cut.NO_ROOM),
        (snippet("b"), 10_000, Cut.HELD),
    ],
)
def test_a_snippet_that_is_left_out_says_why(other: Snippet, room: int, why: Cut) -> None:
    packed, left_out = traced([A, other], [A], room).snippets
    assert (packed.path, packed.cut) == ("a.py", None)
    assert (left_out.path, left_out.cut) == (other.path, why)


def test_what_may_not_leave_is_named_without_a_word_of_it() -> None:
    (denied,) = traced([], [], denied=((".env", "similar"),)).snippets
    assert (denied.path, denied.source, denied.cut, denied.tokens) == (".env", "similar", Cut.DENIED, 0)


def test_a_record_has_paths_and_numbers_and_no_code() -> None:
    trace = traced([A, snippet("b")], [A], late=("edits",))
    trace.wait_ms = 80.04
    record = explained(Answer("1", Mode.LINE, Insertion("secret_text", 0, ("indentation",)), trace=trace))
    assert "secret" not in json.dumps(record)
    assert "line_" not in json.dumps(record)
    assert [one["path"] for one in record["snippets"]] == ["a.py", "b.py"]
    assert record["snippets"][0]["tokens"] > 0
    assert (record["debounce_ms"], record["late"], record["num_redacted"]) == (80.0, ["edits"], 2)
    assert (record["filters"], record["num_characters"]) == (["indentation"], 11)


async def test_what_had_come_when_a_question_was_given_up_is_told_as_wasted() -> None:
    events: list[Event] = []
    has_come = asyncio.Event()

    class Endless:
        async def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
            yield TextChunk("value + ")
            has_come.set()
            await asyncio.Event().wait()

    pipeline = Pipeline(Endless(), Settings(), "s1", tell=events.append)
    asked = asyncio.create_task(pipeline.suggest(Document("file:///w/a.py", "x = ", "a.py"), 4, Trigger.INVOKED))
    await has_come.wait()
    asked.cancel()
    await asyncio.wait([asked])
    (cancelled,) = [event for event in events if isinstance(event, Cancelled)]
    assert (cancelled.stage, cancelled.tokens.wasted) == (Stage.STREAMING, 3)
