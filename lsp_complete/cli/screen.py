"""How the demonstration looks: the code with grey ghost text on a terminal, a line an event elsewhere."""

import atexit

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from lsp_complete.cli.editor import Editor, Ghost

_NUM_LINES_ABOVE = 14
_NUM_LINES_BELOW = 4
_NUM_SAYINGS = 6


class Screen:
    """Redraws one panel in place; below it, what was said last."""

    def __init__(self) -> None:
        self._live = Live(console=Console(highlight=False), auto_refresh=False, vertical_overflow="visible")
        self._live.start()
        atexit.register(self._live.stop)  # also after Ctrl-C: the cursor is shown again, on a line of its own
        self._sayings: list[str] = []

    def draw(self, editor: Editor, ghost: Ghost | None, says: str) -> None:
        if ghost is not None:
            says = figures(ghost)
        if says:
            self._sayings = [*self._sayings, says][-_NUM_SAYINGS:]
        code = Panel(_code(editor, ghost), title=editor.document.path, title_align="left")
        self._live.update(Group(code, *(Text(f"  {says}", style="cyan") for says in self._sayings)), refresh=True)


def print_events(editor: Editor, ghost: Ghost | None, says: str) -> None:
    """For pipes and logs: nothing per key, everything else."""
    if says:
        print(says, flush=True)
    if ghost is not None:
        line = editor.document.before_on_line(editor.offset)
        print(f"  {line}[{ghost.item.insert_text}]\n  {figures(ghost)}", flush=True)


def figures(ghost: Ghost) -> str:
    """Where the time went, and how much of the prompt was reused."""
    usage = ghost.explained.get("usage", {})
    stages = ghost.explained.get("timing_ms", {})
    shown = [
        f"{name.replace('_', ' ')} {stages[name]:.0f} ms"
        for name in ("first_text", "prefill", "decode")
        if name in stages
    ]
    if num_tokens := usage.get("prompt_tokens"):
        shown.append(f"{usage['cached_tokens']} of {num_tokens} prompt tokens reused")
    else:
        shown.append(f"without a question to the model: {ghost.explained.get('rung')}")
    return f"ghost text after {ghost.waited_ms:.0f} ms  ({', '.join(shown)})"


def _code(editor: Editor, ghost: Ghost | None) -> Text:
    document, offset = editor.document, editor.offset
    line = document.line_at(offset)
    first = document.line_start(line - _NUM_LINES_ABOVE)
    last = document.line_span(line + _NUM_LINES_BELOW)[1]
    text = Text(document.text[first:offset])
    if ghost is not None:
        text.append(str(ghost.item.insert_text), style="bright_black italic")
    else:
        text.append("▏", style="bold")
    text.append(document.text[offset:last])
    return text
