"""From keystroke to suggestion: the question that is asked, when the stream is closed, and why there is no answer."""

import asyncio
import json

import pytest

from lsp_complete.completion.answer import NoSuggestion, explained
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.config.settings import Settings
from lsp_complete.context.exclusions import Exclusions
from lsp_complete.context.workspace import Workspace
from lsp_complete.protocol.completion import Finish, FinishChunk, Mode, TextChunk, Timing, Trigger, Usage
from lsp_complete.protocol.errors import (
    BadAnswer,
    DeadlinePassed,
    InvalidRequest,
    ModelLoading,
    RateLimited,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from lsp_complete.text.document import Document

CURSOR = "█"
SECRET = "secret_word"
DONE = FinishChunk(Finish.STOP, "m", Usage(100, 90, 5), Timing(1.0, 2.0, 3.0))


class ScriptedCompleter:
    """Yields the given chunks; raises those that are errors; waits for ever at a None. Notes what happens to it."""

    def __init__(self, *script):
        self.script = script
        self.requests = []
        self.num_given = 0
        self.is_closed = False
        self.is_waiting = asyncio.Event()

    async def complete(self, request):
        self.requests.append(request)
        try:
            for item in self.script:
                if item is None:
                    self.is_waiting.set()
                    await asyncio.Event().wait()
                if isinstance(item, Exception):
                    raise item
                self.num_given += 1
                yield TextChunk(item) if isinstance(item, str) else item
        finally:
            self.is_closed = True


def at(marked, language="python"):
    offset = marked.index(CURSOR)
    return Document("file:///w/a.py", marked.replace(CURSOR, ""), "a.py", language), offset


async def suggest(completer, marked="x = █\n", trigger=Trigger.INVOKED, language="python", **settings):
    pipeline = Pipeline(completer, Settings(**settings), "s1")
    document, offset = at(marked, language)
    return await pipeline.suggest(document, offset, trigger)


async def test_a_suggestion_comes_with_what_it_took():
    answer = await suggest(ScriptedCompleter("1 +", " 2", DONE))
    assert (answer.insertion.text, answer.reason, answer.usage) == ("1 + 2", None, DONE.usage)
    stages = {
        "reuse",
        "debounce",
        "context",
        "prompt",
        "first_text",
        "answer",
        "postprocess",
        "total",
        "queue",
        "prefill",
        "decode",
    }
    assert answer.timing_ms.keys() == stages
    assert answer.timing_ms["prefill"] == 2.0


async def test_the_question_holds_the_text_around_the_cursor():
    completer = ScriptedCompleter(DONE)
    answer = await suggest(completer, "def f():\r\n    return █ + base\r\n", line_tokens=7, deadline_ms=900)
    (request,) = completer.requests
    assert (request.prefix, request.suffix) == ("def f():\n    return ", " + base\n")
    assert (request.path, request.language, request.session_id) == ("a.py", "python", "s1")
    assert (request.mode, request.max_tokens, request.deadline_ms) == (Mode.LINE, 7, 900)
    assert (request.trigger, request.request_id) == (Trigger.INVOKED, answer.request_id)


async def test_a_block_may_take_more():
    completer = ScriptedCompleter(DONE)
    await suggest(completer, "def f():\n    █\n", block_tokens=77)
    assert (completer.requests[0].mode, completer.requests[0].max_tokens) == (Mode.BLOCK, 77)


async def test_the_prompt_keeps_to_its_budget():
    completer = ScriptedCompleter(DONE)
    await suggest(completer, "x = 1\n" * 2000 + CURSOR + "\ny = 2" * 2000, prompt_tokens=128)
    (request,) = completer.requests
    assert 300 < len(request.prefix) + len(request.suffix) <= 128 * 3.6


async def test_crlf_changes_neither_the_question_nor_the_suggestion():
    """B02: what stands behind the cursor on its line is nothing, and no carriage return."""
    marked = "def f(a):\n    return █\n\nprint(f(1))\n"
    asked, texts = [], []
    for eol in ("\n", "\r\n"):
        for raw in ("a + 1", "a + 1\n\ndef g():\n    pass", "a + 1\r\n\r\ndef g():\r\n    pass"):
            completer = ScriptedCompleter(raw, DONE)
            answer = await suggest(completer, marked.replace("\n", eol))
            asked.append((completer.requests[0].prefix, completer.requests[0].suffix, completer.requests[0].mode))
            texts.append(answer.insertion.text)
    assert len(set(asked)) == 1
    assert set(texts) == {"a + 1"}


async def test_a_block_has_the_line_ends_of_its_document():
    answer = await suggest(ScriptedCompleter("x = 1\n    return x\n", DONE), "def f():\r\n    █\r\n")
    assert answer.insertion.text == "x = 1\r\n    return x"


async def test_the_stream_is_closed_once_enough_has_come():
    completer = ScriptedCompleter("1", "\n", "y", "z", DONE)
    answer = await suggest(completer)
    assert answer.insertion.text == "1"
    assert completer.is_closed
    assert completer.num_given == 2


async def test_cancelling_closes_the_stream():
    completer = ScriptedCompleter("1", None)
    task = asyncio.create_task(suggest(completer))
    await completer.is_waiting.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert completer.is_closed


async def test_who_asks_by_hand_twice_at_one_place_is_answered_afresh():
    completer = ScriptedCompleter("1", DONE)
    pipeline = Pipeline(completer, Settings(), "s1")
    document, offset = at("x = █\n")
    for num_asked in (1, 1, 2, 3):
        trigger = Trigger.AUTOMATIC if num_asked == 1 and not completer.requests else Trigger.INVOKED
        assert (await pipeline.suggest(document, offset, trigger)).insertion == Insertion("1")
        assert len(completer.requests) == num_asked


async def test_rules_that_change_while_a_question_waits_hold_for_it(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = \n")
    workspace = Workspace((tmp_path,), tmp_path / "index")
    completer = ScriptedCompleter("1", DONE)
    pipeline = Pipeline(completer, Settings(debounce_ms=30), "s1", workspace)
    document = Document(file.as_uri(), "x = \n", "a.py", "python", file=str(file))
    asked = asyncio.create_task(pipeline.suggest(document, 4, Trigger.AUTOMATIC))
    await settle()
    workspace.use((tmp_path,), Exclusions(globs=("a.py",)))
    assert (await asked).reason is NoSuggestion.EXCLUDED
    assert completer.requests == []
    await workspace.aclose()


async def test_the_rest_of_a_suggestion_that_the_user_has_left_is_sent_as_a_draft():
    completer = ScriptedCompleter("call(first, second)", DONE)
    pipeline = Pipeline(completer, Settings(), "s1")
    before, offset = at("x = █\n")
    await pipeline.suggest(before, offset, Trigger.INVOKED)
    after, offset = at("x = call(third█\n")
    pipeline.changed(before, after)
    await pipeline.suggest(after, offset, Trigger.INVOKED)
    assert [one.draft for one in completer.requests] == ["", ", second)"]


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


async def test_who_asks_explicitly_does_not_wait_for_the_pause_in_typing():
    async with asyncio.timeout(2):
        answer = await suggest(ScriptedCompleter("1", DONE), debounce_ms=5000)
    assert answer.insertion.text == "1"


async def test_an_automatic_question_waits_for_it_and_is_never_sent_when_cancelled_meanwhile():
    completer = ScriptedCompleter("1", DONE)
    task = asyncio.create_task(suggest(completer, trigger=Trigger.AUTOMATIC, debounce_ms=5000))
    await settle()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert completer.requests == []


async def test_without_a_pause_an_automatic_question_is_sent_at_once():
    answer = await suggest(ScriptedCompleter("1", DONE), trigger=Trigger.AUTOMATIC, debounce_ms=0)
    assert answer.insertion.text == "1"


@pytest.mark.parametrize(
    ("reason", "marked", "settings"),
    [
        (NoSuggestion.OFF, "x = █", {"enabled": False}),
        (NoSuggestion.LANGUAGE_OFF, "x = █", {"disabled_languages": ("rust", "python")}),
        (NoSuggestion.LANGUAGE_OFF, "x = █", {"disabled_languages": ("python",)}),
        (NoSuggestion.FILE_TOO_LARGE, "x = 1\n" * 400_000 + CURSOR, {}),
        (NoSuggestion.FILE_TOO_LARGE, "x = 1\n" * 200 + CURSOR, {"max_file_kib": 1}),
        (NoSuggestion.SCOPE_OFF, "x = 1  # why█\n", {"disabled_scopes": ("comment",)}),
        (NoSuggestion.SCOPE_OFF, "x = 'a█'\n", {"disabled_scopes": ("comment", "string")}),
    ],
)
async def test_what_is_refused_is_never_asked(reason, marked, settings):
    completer = ScriptedCompleter("1", DONE)
    answer = await suggest(completer, marked, **settings)
    assert (answer.reason, answer.insertion) == (reason, None)
    assert completer.requests == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (["   ", DONE], NoSuggestion.WITHHELD),
        ([DONE], NoSuggestion.WITHHELD),
        ([FinishChunk(Finish.DEADLINE)], NoSuggestion.DEADLINE),
        ([DeadlinePassed()], NoSuggestion.DEADLINE),
        (["1", DeadlinePassed()], NoSuggestion.DEADLINE),
        ([ModelLoading()], NoSuggestion.LOADING),
        ([Unavailable()], NoSuggestion.SERVICE),
        ([RateLimited()], NoSuggestion.RATE_LIMITED),
        ([Unauthorized()], NoSuggestion.UNAUTHORIZED),
        ([Unreachable()], NoSuggestion.OFFLINE),
        ([BadAnswer()], NoSuggestion.OFFLINE),
        (["1", Unreachable()], NoSuggestion.OFFLINE),
    ],
)
async def test_no_suggestion_has_a_reason(script, reason):
    completer = ScriptedCompleter(*script)
    answer = await suggest(completer)
    assert (answer.reason, answer.insertion) == (reason, None)
    assert answer.detail
    assert completer.is_closed


async def test_what_came_before_the_deadline_of_the_service_is_used():
    answer = await suggest(ScriptedCompleter("1 + 2", FinishChunk(Finish.DEADLINE)))
    assert answer.insertion.text == "1 + 2"


async def test_what_the_services_filters_ended_is_not_shown():
    answer = await suggest(ScriptedCompleter("1 + 2", FinishChunk(Finish.FILTERED)))
    assert (answer.reason, answer.detail) == (NoSuggestion.WITHHELD, "filtered")


@pytest.mark.parametrize("offset", [-5, 99])
async def test_an_offset_outside_the_document_is_clamped(offset):
    pipeline = Pipeline(ScriptedCompleter("1", DONE), Settings(), "s1")
    answer = await pipeline.suggest(Document("file:///w/a.py", "x = ", "a.py"), offset, Trigger.INVOKED)
    assert answer.reason is None or answer.reason is NoSuggestion.WITHHELD


@pytest.mark.parametrize(
    "script",
    [
        [f"{SECRET} + 1", DONE],
        [f"{SECRET} + 1\n", "more"],
        [" ", DONE],
        [InvalidRequest(f"what is {SECRET}?")],
        [Unreachable("refused")],
    ],
)
async def test_the_record_says_what_happened_without_a_word_of_code(script):
    answer = await suggest(ScriptedCompleter(*script), f"{SECRET} = █\n", language=SECRET)
    record = explained(answer)
    assert SECRET not in json.dumps(record)
    assert record["request_id"] == answer.request_id
    assert record["num_characters"] == (len(answer.insertion.text) if answer.insertion else 0)
    assert (record["reason"] is None) == (answer.insertion is not None)


@pytest.mark.parametrize("marked", ["█", "  \n█\n"])
async def test_in_an_empty_file_there_is_nothing_to_go_by(marked):
    assert (await suggest(ScriptedCompleter("x", DONE), marked)).reason is NoSuggestion.EMPTY_FILE


@pytest.mark.parametrize("text", ["1" * 48, "print(" + "ab" * 20, "x = 10101010101010101010101010"])
async def test_letters_written_again_and_again_are_not_shown(text):
    assert (await suggest(ScriptedCompleter(text, DONE))).detail == "runaway"


async def test_a_ruler_is_meant():
    assert (await suggest(ScriptedCompleter("1  # " + "-" * 60, DONE))).insertion is not None


@pytest.mark.parametrize("line", ['const data = "' + '{\\"name\\":' * 9_000, "x" * 6_000])
async def test_in_a_line_that_a_program_wrote_nothing_is_even_looked_at(line):
    assert (await suggest(ScriptedCompleter("x", DONE), line + "█\n")).reason is NoSuggestion.LINE_TOO_LONG
