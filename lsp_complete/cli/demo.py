"""`lsp-complete demo`: a short editing session in the terminal, with the real language server and the real model."""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lsp_complete.cli.editor import Editor, Ghost

SAMPLE = Path(__file__).parent / "sample"

# A fast typist: 90 words a minute are 130 ms a key.
_KEY_S = 0.13
# The first answer waits for the whole prompt to be computed, on a slow machine for seconds.
_PATIENCE_S = 60.0
# How long a suggestion stays on the screen before it is taken or typed over.
_LOOK_S = 1.2


@dataclass(frozen=True, slots=True)
class Scene:
    """Keys to type, and what to do with the suggestion that follows them: accept it, or type on before it comes."""

    keys: str
    then: str
    says: str


# Each scene goes on where the one before it ended.
SCENES = (
    Scene("", "accept", "The cursor stands in an empty function: a suggestion for its body."),
    Scene("\n\n    def num_items(self) -> int:\n        return ", "accept", "A new method: type its head."),
    Scene("\n\n    def is_empty(self) -> bool:\n        ret", "type on", "Typing on cancels what is under way."),
    Scene("urn ", "accept", "A pause, and the suggestion is back."),
)


@dataclass(slots=True)
class Report:
    """What happened, for machines."""

    suggestions: list[dict[str, Any]] = field(default_factory=list)
    num_keys: int = 0
    num_accepted: int = 0
    num_cancelled: int = 0


def run(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False) -> None:
    """See it work: a few lines of code being typed, with real suggestions."""
    from lsp_complete.cli.connection import connected
    from lsp_complete.config.settings import load_settings
    from lsp_complete.protocol.errors import CompletionError

    async def play() -> Report:
        settings, _ = load_settings()
        async with connected(settings):
            return await _play(_draw_nothing if as_json else _screen())

    try:
        report = asyncio.run(play())
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except CompletionError as error:
        print(f"lsp-complete: no suggestion can be shown: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    if as_json:
        print(json.dumps({"suggestions": report.suggestions, "keys": report.num_keys,
                          "accepted": report.num_accepted, "cancelled": report.num_cancelled}))  # fmt: skip
    else:
        print(f"\n{report.num_accepted} of {len(report.suggestions)} suggestions accepted. Next: README, “Editors”.")
    if not report.num_accepted:
        print("lsp-complete: no suggestion came; `lsp-complete doctor` may tell why", file=sys.stderr)
        raise typer.Exit(1)


Draw = Callable[["Editor", "Ghost | None", str], None]


async def _play(draw: Draw) -> Report:
    from lsp_complete.cli.editor import opened

    report = Report()
    anchor = '"""Sum of the totals of all lines."""\n        '
    async with opened(SAMPLE / "shop" / "cart.py", SAMPLE, "python", anchor) as editor:
        for scene in SCENES:
            await _play_scene(scene, editor, report, draw)
    return report


async def _play_scene(scene: Scene, editor: "Editor", report: Report, draw: Draw) -> None:
    draw(editor, None, scene.says)
    num_before = report.num_cancelled
    for key in scene.keys or [""]:
        report.num_cancelled += editor.type(key)
        report.num_keys += len(key)
        draw(editor, None, "")
        await asyncio.sleep(_KEY_S)
    if scene.then != "accept":
        draw(editor, None, f"{report.num_cancelled - num_before} questions were cancelled by typing on")
        return
    ghost = await editor.ghost(_PATIENCE_S)
    if ghost is None:
        draw(editor, None, "no suggestion here")
        return
    report.suggestions.append({"text": ghost.item.insert_text, "waited_ms": round(ghost.waited_ms), **ghost.explained})
    draw(editor, ghost, "")
    await asyncio.sleep(_LOOK_S)
    await editor.accept(ghost)
    report.num_accepted += 1
    draw(editor, None, "accepted")


def _draw_nothing(editor: "Editor", ghost: "Ghost | None", says: str) -> None:
    pass


def _screen() -> Draw:
    """On a terminal the code itself, drawn anew at each key; elsewhere a line an event."""
    from lsp_complete.cli.screen import Screen, print_events

    return Screen().draw if sys.stdout.isatty() else print_events
