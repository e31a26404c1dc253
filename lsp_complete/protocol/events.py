"""What happened to a question and to its suggestion, in words that cannot name anything of the user's.

Every field is an id of our own making, a member of a fixed list, a number or a truth value: there is no field that
code, a path or an identifier could be put in. Names that come from outside (a language, a reason, a model) are looked
up in a list and become OTHER, or become a hash. Knows neither JSON (events_wire.py) nor where events are kept.
"""

import hashlib
import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from lsp_complete.protocol.completion import Mode, Trigger, Usage

# A UUID has 32. Short enough that nothing else is smuggled out as digits.
_HEX = re.compile(r"[0-9a-f]{0,32}")


class Hex(str):
    """An id: up to 32 hexadecimal digits, or none. Raises ValueError for anything else."""

    __slots__ = ()

    def __new__(cls, value: str = "") -> Self:
        if not _HEX.fullmatch(value):
            raise ValueError("not an id")
        return super().__new__(cls, value)


NO_ID = Hex()


def new_id() -> Hex:
    return Hex(uuid.uuid4().hex)


def hashed(name: str) -> Hex:
    """An id for a name that is not ours to tell, of a model or of an arm: the same for the same name."""
    return Hex(hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:12] if name else "")


class _Known(StrEnum):
    """A list that has OTHER for what is not in it."""

    @classmethod
    def of(cls, value: str) -> Self:
        return cls(value) if value in cls._value2member_map_ else cls("other")


class Language(_Known):
    """The language ids of LSP's own list, and those with a grammar here."""

    BASH = "bash"
    BAT = "bat"
    C = "c"
    CLOJURE = "clojure"
    CPP = "cpp"
    CSHARP = "csharp"
    CSS = "css"
    DART = "dart"
    DOCKERFILE = "dockerfile"
    ELIXIR = "elixir"
    ERLANG = "erlang"
    FSHARP = "fsharp"
    GO = "go"
    HASKELL = "haskell"
    HTML = "html"
    JAVA = "java"
    JAVASCRIPT = "javascript"
    JAVASCRIPTREACT = "javascriptreact"
    JSON = "json"
    JULIA = "julia"
    KOTLIN = "kotlin"
    LUA = "lua"
    MAKEFILE = "makefile"
    MARKDOWN = "markdown"
    OBJECTIVE_C = "objective-c"
    OCAML = "ocaml"
    PERL = "perl"
    PHP = "php"
    POWERSHELL = "powershell"
    PYTHON = "python"
    R = "r"
    RUBY = "ruby"
    RUST = "rust"
    SCALA = "scala"
    SCSS = "scss"
    SH = "sh"
    SHELLSCRIPT = "shellscript"
    SQL = "sql"
    SWIFT = "swift"
    TERRAFORM = "terraform"
    TOML = "toml"
    TYPESCRIPT = "typescript"
    TYPESCRIPTREACT = "typescriptreact"
    VUE = "vue"
    XML = "xml"
    YAML = "yaml"
    ZSH = "zsh"
    ZIG = "zig"
    OTHER = "other"


class Reason(_Known):
    """Why a question was not asked, or its answer not shown."""

    OFF = "off"
    SNOOZED = "snoozed"
    LANGUAGE_OFF = "language-off"
    SCOPE_OFF = "scope-off"
    EXCLUDED = "excluded"
    EMPTY_FILE = "empty-file"
    FILE_TOO_LARGE = "file-too-large"
    LINE_TOO_LONG = "line-too-long"
    MID_WORD = "mid-word"
    AFTER_DELETION = "after-deletion"
    AFTER_UNDO = "after-undo"
    MANY_CURSORS = "many-cursors"
    REJECTED_HERE = "rejected-here"
    OTHER_CHOICE = "other-choice"
    SUPERSEDED = "superseded"
    BLANK = "blank"
    RUNAWAY = "runaway"
    REPEATS_ABOVE = "repeats-above"
    REPEATS_BELOW = "repeats-below"
    REPEATS_REST = "repeats-rest"
    DOES_NOT_FIT = "does-not-fit"
    TOO_LITTLE = "too-little"
    BREAKS_SYNTAX = "breaks-syntax"
    CREDENTIAL = "credential"
    FILTERED = "filtered"
    WITHHELD = "withheld"
    DEADLINE = "deadline"
    SERVICE = "service"
    OFFLINE = "offline"
    LOADING = "loading"
    OVERLOADED = "overloaded"
    RATE_LIMITED = "rate-limited"
    UNAUTHORIZED = "unauthorized"
    OTHER = "other"


class Rung(_Known):
    """Where an answer came from; all but NETWORK cost no question to the service."""

    TYPED_THROUGH = "typed-through"
    BACKSPACED = "backspaced"
    CACHED = "cached"
    IN_FLIGHT = "in-flight"
    FOLLOW_UP = "follow-up"
    NETWORK = "network"
    OTHER = "other"


class Part(StrEnum):
    """How much was accepted at a stroke."""

    WORD = "word"
    LINE = "line"
    WHOLE = "whole"


class How(StrEnum):
    """How an acceptance is known: the editor ran the item's command, or said so, or the text shows it."""

    COMMAND = "command"
    NOTICE = "notice"
    INFERRED = "inferred"


class Rejection(StrEnum):
    OTHER_TEXT = "other-text"
    MOVED = "moved"
    REPLACED = "replaced"
    DELETED = "deleted"
    CLOSED = "closed"
    UNDONE = "undone"
    DISMISSED = "dismissed"


class Stage(StrEnum):
    """How far a question had come when it was given up; AHEAD: nobody had put it yet, and nobody did."""

    AHEAD = "ahead"
    DEBOUNCE = "debounce"
    CONTEXT = "context"
    WAITING = "waiting"
    STREAMING = "streaming"


class After(StrEnum):
    """When what is left of an accepted text was measured."""

    S15 = "15s"
    S30 = "30s"
    S120 = "120s"
    S300 = "300s"
    S600 = "600s"
    SAVE = "save"
    CLOSE = "close"


class Failure(_Known):
    """The types of protocol/errors.py."""

    INVALID_REQUEST = "invalid-request"
    UNAUTHORIZED = "unauthorized"
    TOO_LARGE = "too-large"
    RATE_LIMITED = "rate-limited"
    UNAVAILABLE = "unavailable"
    OVERLOADED = "overloaded"
    QUEUE_FULL = "queue-full"
    SUPERSEDED = "superseded"
    DRAINING = "draining"
    TOO_LATE = "too-late"
    DEADLINE_PASSED = "deadline-passed"
    MODEL_LOADING = "model-loading"
    ENGINE_FAILED = "engine-failed"
    UNREACHABLE = "unreachable"
    BAD_ANSWER = "bad-answer"
    PAUSED = "paused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds from the question to the answer, and of them in each stage; the last three are the service's."""

    total: float = 0.0
    debounce: float = 0.0
    context: float = 0.0
    first_text: float = 0.0
    queue: float = 0.0
    prefill: float = 0.0
    decode: float = 0.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """Model tokens: of the prompt, those of them that were cached, generated, and generated for nothing."""

    prompt: int = 0
    cached: int = 0
    generated: int = 0
    wasted: int = 0


@dataclass(frozen=True, slots=True)
class Requested:
    """The editor asked. `arm` is the experiment's."""

    request: Hex
    language: Language
    mode: Mode
    trigger: Trigger
    arm: Hex = NO_ID


@dataclass(frozen=True, slots=True)
class Suppressed:
    request: Hex
    reason: Reason
    timings: Timings = Timings()
    tokens: Tokens = Tokens()


@dataclass(frozen=True, slots=True)
class Shown:
    """The editor was given something to show. `is_new` is False for the rest of what it shows already."""

    request: Hex
    rung: Rung
    num_characters: int
    num_lines: int = 1
    model: Hex = NO_ID
    timings: Timings = Timings()
    tokens: Tokens = Tokens()
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class TypedThrough:
    """The user typed all of the suggestion."""

    request: Hex
    num_characters: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """`num_characters` counts all that was accepted of this suggestion so far, and only ever grows."""

    request: Hex
    part: Part
    how: How
    num_characters: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """`num_typed` characters of it the user had typed before."""

    request: Hex
    reason: Rejection
    num_typed: int = 0
    shown_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Cancelled:
    request: Hex
    stage: Stage
    total_ms: float = 0.0
    tokens: Tokens = Tokens()


@dataclass(frozen=True, slots=True)
class Retained:
    """A `share` from 0 to 1 of `num_characters` that were accepted. Raises ValueError for another one."""

    request: Hex
    after: After
    share: float
    num_characters: int

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError("not a share")


@dataclass(frozen=True, slots=True)
class Error:
    request: Hex
    failure: Failure
    total_ms: float = 0.0


Event = Requested | Suppressed | Shown | TypedThrough | Accepted | Rejected | Cancelled | Retained | Error


@dataclass(frozen=True, slots=True)
class Record:
    """An event as it is kept and sent. Whoever gets the same `id` twice has got the same event twice. `at_s` is UNIX
    time."""

    session: Hex
    event: Event
    at_s: float = field(default_factory=time.time)
    id: Hex = field(default_factory=new_id)


Sink = Callable[[Event], None]
"""Where events go. Returns at once and never raises."""


def timings(timing_ms: Mapping[str, float]) -> Timings:
    """Those of an answer's stages that are told."""
    return Timings(**{name: timing_ms[name] for name in Timings.__slots__ if name in timing_ms})


def tokens(usage: Usage, *, is_wasted: bool = False) -> Tokens:
    generated = usage.completion_tokens
    return Tokens(usage.prompt_tokens, usage.cached_tokens, generated, generated if is_wasted else 0)
