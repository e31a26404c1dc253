"""`lsp-complete demo`: a short editing session in the terminal, with the real language server and the real model."""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.failure import fail

if TYPE_CHECKING:
    from lsp_complete.cli.editor import Editor, Ghost

SAMPLE = Path(__file__).parent / "sample"

# A fast typist: 120 words a minute are 100 ms a key.
_KEY_S = 0.1
# The first answer waits for the whole prompt to be computed, on a slow machine for seconds.
_PATIENCE_S = 60.0
# How long a suggestion stays on the screen before it is taken or typed over.
_LOOK_S = 1.2


class Then(StrEnum):
    """What is done with the suggestion that follows the keys: typing goes on before it comes, or it is accepted; before
    that it may be compared with one that is made without context."""

    TYPE_ON = "type on"
    ACCEPT = "accept"
    COMPARE = "compare"


@dataclass(frozen=True, slots=True)
class Scene:
    keys: str
    then: Then
    says: str


# Each scene goes on where the one before it ended.
SCENES = (
    Scene("", Then.ACCEPT, "The cursor stands in an empty function: a suggestion for its body."),
    Scene("\n\n    def is_empty(self) -> bool:\n        ret", Then.TYPE_ON, "Typing on cancels what is under way."),
    Scene("urn ", Then.ACCEPT, "A pause, and the suggestion is back."),
    Scene(
        "\n\n    def sale_cents(self) -> int:\n        # 20 percent off, but 500 cents at least\n"
        "        return apply_discount(self.total_cents(), ",
        Then.COMPARE,
        "A call of what another file defines, with arguments that nobody can guess.",
    ),
)
# What the last suggestion is right by: only shop/discounts.py says what it is called.
ONLY_FROM_CONTEXT = "percent_off="
# Behind this the first scene begins.
ANCHOR = '"""Sum of the totals of all lines."""\n        '
# Editors indent a new line by themselves.
_KEY = re.compile(r"\n[\n ]*|.")


@dataclass(slots=True)
class Report:
    """What happened, for machines."""

    suggestions: list[dict[str, Any]] = field(default_factory=list)
    num_keys: int = 0
    num_accepted: int = 0
    num_cancelled: int = 0
    compared: dict[str, str] = field(default_factory=dict)


def run(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False) -> None:
    """See it work: a few lines typed, with real suggestions."""
    from lsp_complete.cli.connection import connected
    from lsp_complete.protocol.errors import CompletionError

    async def play() -> Report:
        async with connected(loaded()):
            return await _play(_draw_nothing if as_json else _screen())

    try:
        report = asyncio.run(play())
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except CompletionError as error:
        fail(f"no suggestion can be shown: {error}")
    if as_json:
        print(json.dumps({"suggestions": report.suggestions, "keys": report.num_keys,
                          "accepted": report.num_accepted, "cancelled": report.num_cancelled,
                          "compared": report.compared}))  # fmt: skip
    else:
        print(f"\n{report.num_accepted} of {len(report.suggestions)} suggestions accepted. Next: README, “Editors”.")
    if not report.num_accepted:
        fail("no suggestion came; `lsp-complete doctor` may tell why")


Draw = Callable[["Editor", "Ghost | None", str], None]


async def _play(draw: Draw) -> Report:
    from lsp_complete.cli.editor import opened

    report = Report()
    async with opened(SAMPLE / "shop" / "cart.py", SAMPLE, "python", ANCHOR) as editor:
        for scene in SCENES:
            await _play_scene(scene, editor, report, draw)
    return report


async def _play_scene(scene: Scene, editor: "Editor", report: Report, draw: Draw) -> None:
    draw(editor, None, scene.says)
    num_before = report.num_cancelled
    for key in keys_of(scene.keys):
        report.num_cancelled += editor.type(key)
        report.num_keys += bool(key)
        draw(editor, None, "")
        await asyncio.sleep(_KEY_S)
    if scene.then is Then.TYPE_ON:
        draw(editor, None, f"{report.num_cancelled - num_before} questions were cancelled by typing on")
        return
    ghost = await _look(editor, draw)
    if ghost is None:
        draw(editor, None, "no suggestion here")
        return
    report.suggestions.append({"text": ghost.item.insert_text, "waited_ms": round(ghost.waited_ms), **ghost.explained})
    if scene.then is Then.COMPARE:
        await _compare(ghost, editor, report, draw)
    await editor.accept(ghost)
    report.num_accepted += 1
    draw(editor, None, "accepted")


def keys_of(text: str) -> list[str]:
    return _KEY.findall(text) or [""]


async def _look(editor: "Editor", draw: Draw) -> "Ghost | None":
    ghost = await editor.ghost(_PATIENCE_S)
    if ghost is not None:
        draw(editor, ghost, "")
        await asyncio.sleep(_LOOK_S)
    return ghost


async def _compare(ghost: "Ghost", editor: "Editor", report: Report, draw: Draw) -> None:
    """Asks once more at the same place, as if there were no other files, and puts both answers side by side."""
    draw(editor, None, "The same place once more, with no line of other files (snippet_tokens = 0):")
    editor.ask_with({"snippet_tokens": 0})
    other = await _look(editor, draw)
    texts = {"with other files": ghost, "without them": other}
    report.compared = {name: str(one.item.insert_text) if one else "" for name, one in texts.items()}
    for name, text in report.compared.items():
        draw(editor, None, f"{name + ':':18}{editor.document.before_on_line(editor.offset).strip()} {text}")
    draw(editor, None, verdict(*report.compared.values()))
    await asyncio.sleep(2 * _LOOK_S)


def verdict(text: str, other: str) -> str:
    """Whatever came of it."""
    is_right, is_right_alone = ONLY_FROM_CONTEXT in text, ONLY_FROM_CONTEXT in other
    if is_right == is_right_alone:
        return "Both are right." if is_right else "Both are wrong."
    right = "first" if is_right else "second"
    return f"Only the {right} is right: shop/discounts.py takes percent_off and least_cents by name alone."


def _draw_nothing(editor: "Editor", ghost: "Ghost | None", says: str) -> None:
    pass


def _screen() -> Draw:
    """On a terminal the code itself, drawn anew at each key; elsewhere a line an event."""
    from lsp_complete.cli.screen import Screen, print_events

    return Screen().draw if sys.stdout.isatty() else print_events
