"""`lsp-complete complete FILE:LINE:COL`: one completion from the command line, through the same pipeline."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.explain import took
from lsp_complete.cli.failure import fail, warn

if TYPE_CHECKING:
    from lsp_complete.completion.answer import Answer
    from lsp_complete.config.settings import Settings
    from lsp_complete.text.document import Document

# Whoever asks by hand waits for a cold model.
_DEADLINE_MS = 120_000
# One session for all calls, so that the service knows them as one user at work.
_SESSION = "command-line"


def run(
    place: Annotated[str, typer.Argument(metavar="FILE:LINE:COL", help="Where: line and column count from 1.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Complete at a place in a file. Says why there is nothing, and what it took."""
    from lsp_complete.cli.place import place_of
    from lsp_complete.completion.answer import TROUBLES

    settings = loaded(deadline_ms=_DEADLINE_MS)
    document, offset = place_of(place)
    answer = asyncio.run(_suggest(settings, document, offset))
    if as_json:
        print(json.dumps(answer_as_dict(answer), ensure_ascii=False))
    else:
        _print_for_people(answer)
    if answer.reason:
        say = fail if answer.reason in TROUBLES else warn
        say(f"no suggestion ({answer.reason}){': ' if answer.detail else ''}{answer.detail}")


async def _suggest(settings: "Settings", document: "Document", offset: int) -> "Answer":
    from lsp_complete.cli.connection import WhenAsked
    from lsp_complete.cli.place import root_of
    from lsp_complete.completion.exclusions import exclusions_of
    from lsp_complete.completion.pipeline import Pipeline
    from lsp_complete.config.paths import index_folder
    from lsp_complete.context.workspace import Workspace
    from lsp_complete.protocol.completion import Trigger

    roots, exclusions = [root_of(Path(document.file))], exclusions_of(settings)
    workspace = Workspace(roots, index_folder(), exclusions) if settings.index else None
    pipeline = Pipeline(WhenAsked(settings), settings, _SESSION, workspace)
    try:
        answer = await pipeline.suggest(document, offset, Trigger.INVOKED)
    finally:
        pipeline.close()
    await _write_down(answer, document, offset, settings)
    return answer


async def _write_down(answer: "Answer", document: "Document", offset: int, settings: "Settings") -> None:
    """For `lsp-complete explain`, as an editor's questions."""
    from lsp_complete.config.paths import state_folder
    from lsp_complete.protocol.completion import Trigger
    from lsp_complete.server.records import FILE, Records

    records = Records(state_folder() / FILE, _SESSION)
    records.is_kept = settings.audit != "off"
    records.add(answer, document, offset, Trigger.INVOKED)
    await records.aclose()


def answer_as_dict(answer: "Answer") -> dict[str, Any]:
    """The answer as JSON has it: `text` is empty where `reason` is not."""
    from lsp_complete.completion.answer import explained

    insertion = answer.insertion
    text, replaced = (insertion.text, insertion.num_replaced) if insertion else ("", 0)
    return {"text": text, "replaced": replaced, **explained(answer)}


def _print_for_people(answer: "Answer") -> None:
    from rich.console import Console

    console, usage = Console(stderr=True, soft_wrap=True, highlight=False), answer.usage
    if answer.insertion is not None:
        print(answer.insertion.text)
    if not usage.prompt_tokens:
        return
    console.print(
        f"{answer.mode}: {usage.prompt_tokens} prompt tokens, {usage.cached_tokens} of them cached, "
        f"{usage.completion_tokens} generated",
        style="dim",
    )
    console.print(took(answer.timing_ms), style="dim")
