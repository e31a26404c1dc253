"""What happened in a replay, as the simulated user and his editor saw it. Plain values, that several replays add up."""

from dataclasses import dataclass, field, fields
from enum import StrEnum

from lsp_complete.protocol.events import Record


class Outcome(StrEnum):
    """What the user did with a suggestion that he had on the screen."""

    WHOLE = "whole"
    PART = "part"
    TYPED = "typed"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Ghost text came up, so long after the last key. `is_pause`: no key came for a while, so that it was waited for.
    `is_new` is False for the rest of what was accepted or typed of the last one."""

    request_id: str
    path: str
    since_key_ms: float
    is_new: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with a suggestion, so long after its question. `visit` counts the changes of file."""

    request_id: str
    took_ms: float
    visit: int = 0


@dataclass(frozen=True, slots=True)
class WrongJoin:
    """Three times a few lines: what the user saw, what he meant, what came of it."""

    path: str
    request_id: str
    shown: str
    meant: str
    got: str


@dataclass(frozen=True, slots=True)
class Pause:
    """The user stopped typing, and ghost text was there so long after the last key; 0 where it stood there already."""

    felt_ms: float
    request_id: str


@dataclass(slots=True)
class Log:
    """`num_saved`: characters that were accepted, less the keys for that. Tokens are the service's: computed, of those
    cached, generated, and generated for an answer of which nothing was shown, of
    these for questions that were asked ahead, and in streams that were closed."""

    num_keys: int = 0
    num_saved: int = 0
    num_requests: int = 0
    num_flickers: int = 0
    num_whole: int = 0
    num_words: int = 0
    typed_s: float = 0.0
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    drawn: list[Drawn] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    wrong_joins: list[WrongJoin] = field(default_factory=list)
    flickers: list[tuple[str, str]] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    cold: set[str] = field(default_factory=set)
    num_prompts: int = 0
    num_cold: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    wasted_tokens: int = 0
    wasted_ahead_tokens: int = 0
    unshown_tokens: int = 0

    def add(self, other: "Log") -> None:
        for one in fields(self):
            mine, theirs = getattr(self, one.name), getattr(other, one.name)
            setattr(self, one.name, mine | theirs if isinstance(mine, dict | set) else mine + theirs)
