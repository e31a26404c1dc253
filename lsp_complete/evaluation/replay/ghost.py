"""Ghost text in a buffer that goes on changing: what of it is still to be shown. Pure functions of a text."""

from dataclasses import dataclass, replace

from lsp_complete.evaluation.replay.link import Message


@dataclass(frozen=True, slots=True)
class Ghost:
    """`text` would take the place of what stands from `start` to `end`; `num_typed` characters of it stand there."""

    request_id: str
    text: str
    start: int
    end: int
    command: Message
    at_s: float
    num_typed: int = 0

    @property
    def visible(self) -> str:
        return self.text[self.num_typed :]


def standing(ghost: Ghost, text: str, cursor: int) -> Ghost | None:
    """The ghost text as it is drawn into the text; None where that says something else, or all of it, or where what it
    replaces is on several lines: behind Enter between two brackets no editor draws it on."""
    typed, rest = text[ghost.start : cursor], text[cursor : ghost.end]
    if typed + rest == ghost.text:
        return None
    letters = iter(ghost.text[len(typed) :])
    if not ghost.text.startswith(typed) or "\n" in rest or not all(letter in letters for letter in rest):
        return None
    return replace(ghost, num_typed=len(typed)) if len(typed) < len(ghost.text) else None


def edited(ghost: Ghost, start: int, end: int, num_new: int) -> Ghost | None:
    """Where it stands once `num_new` characters took the place of those from `start` to `end`; None where that is not
    within its own place."""
    if not ghost.start <= start <= end <= ghost.end:
        return None
    return replace(ghost, end=ghost.end + num_new - (end - start))


def extends(ghost: Ghost, text: str, start: int, chosen: str) -> bool:
    """Whether it agrees with what is chosen in a pop-up, which begins at `start`: no editor draws another text."""
    whole = text[start : ghost.start] + ghost.text[max(0, start - ghost.start) :]
    return whole.startswith(chosen) or chosen.startswith(whole)


def result(ghost: Ghost, text: str) -> str:
    """The text once it is accepted."""
    return text[: ghost.start] + ghost.text + text[ghost.end :]
