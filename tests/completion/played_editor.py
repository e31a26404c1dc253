"""Editors as they are seen from the server, and a user who writes a given text with suggestions, and logs what he did.

An editor gathers keys its own way, asks after its own pause, and says of an acceptance what it says. What it sends is a
trace: (time, message). A trace is played to `Outcomes` alone; the user's log is what the answers are compared with.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.reuse import suggestion_at
from lsp_complete.protocol.events import Event, Hex, How, Rung, Shown
from lsp_complete.text.document import Document

URI = "file:///a.py"


@dataclass(frozen=True)
class Profile:
    """`gathers_s`: keys of so long come in one message; `idles`: those up to a pause of so long. `asks_s` after the
    last key it asks. `commands` and `notices` are the acceptances (`whole`, `word`) that it tells of."""

    name: str
    gathers_s: float = 0.0
    idles: bool = False
    lists_keys: bool = False
    asks_s: float = 0.06
    accepts: tuple[str, ...] = ("whole",)
    commands: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    asks_each_key: bool = False


VS_CODE = Profile("VS Code", accepts=("whole", "word"), commands=("whole",), asks_each_key=True)
NEOVIM_11 = Profile(
    "Neovim 0.11", 0.15, asks_s=0.075, accepts=("whole", "word"), commands=("whole",), notices=("word",)
)
NEOVIM_12 = Profile("Neovim 0.12", 0.15, lists_keys=True, asks_s=0.2, commands=("whole",))
NEOVIM_12_CALLBACK = Profile("Neovim 0.12 with a callback", 0.15, lists_keys=True, asks_s=0.2)
EMACS = Profile("Emacs", 0.5, idles=True, lists_keys=True, asks_s=2.0, commands=("whole",))
EMACS_FULL = Profile("Emacs, whole texts", 0.5, idles=True, asks_s=2.0, commands=("whole",))
COC = Profile("coc.nvim", 0.15, asks_s=0.2, accepts=("whole", "word"), commands=("whole", "word"))
LSP4IJ = Profile("LSP4IJ", accepts=("whole", "word"), asks_s=0.3)
HELIX = Profile("Helix", asks_s=0.25)
PROFILES = (VS_CODE, NEOVIM_11, NEOVIM_12, NEOVIM_12_CALLBACK, EMACS, EMACS_FULL, COC, LSP4IJ, HELIX)


@dataclass(frozen=True)
class Changed:
    text: str
    inserted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """The editor asks at `offset`, and is given `insertion`, if any."""

    offset: int
    insertion: str = ""
    request: str = ""
    num_replaced: int = 0


@dataclass(frozen=True)
class Said:
    request: str
    how: How


@dataclass(frozen=True)
class Saved:
    pass


@dataclass(frozen=True)
class Closed:
    pass


@dataclass(frozen=True)
class Waited:
    pass


Message = Changed | Asked | Said | Saved | Closed | Waited


def play(text: str, trace: Sequence[tuple[float, Message]], outcomes: Outcomes | None = None) -> list[Event]:
    """What `Outcomes` tells of a trace in a document that begins as `text`."""
    outcomes, events = outcomes or Outcomes(), list[Event]()
    document = Document(URI, text)
    for at_s, message in trace:
        match message:
            case Changed(after, inserted):
                before, document = document, Document(URI, after)
                events += outcomes.changed(before, document, at_s, inserted)
            case Asked(offset, insertion, request, num_replaced):
                events += outcomes.asked(document, offset, at_s)
                if insertion:
                    suggestion = suggestion_at(document, offset, Insertion(insertion, num_replaced), request)
                    told = Shown(Hex(request), Rung.NETWORK, len(insertion))
                    events += outcomes.shown(document, suggestion, told, at_s)
            case Said(request, how):
                events += outcomes.confirmed(Hex(request), how, at_s)
            case Saved():
                events += outcomes.saved(document, at_s)
            case Closed():
                events += outcomes.closed(document, at_s)
        events += outcomes.tick(at_s)
    return events


@dataclass
class Editor:
    """Writes the trace of what is done in it."""

    profile: Profile
    text: str = ""
    offset: int = 0
    now_s: float = 0.0
    trace: list[tuple[float, Message]] = field(default_factory=list)
    _sent: str = ""
    _keys: list[str] = field(default_factory=list)
    _sent_s: float = -9.0
    _due_s: float = 0.0

    def wait(self, seconds: float) -> None:
        self.now_s += seconds
        if self._keys and self._due_s <= self.now_s:
            self.flush(self._due_s)

    def put(self, text: str, num_replaced: int = 0, keys: str | None = None) -> None:
        """At the cursor, by one key or at one stroke."""
        self._change(self.text[: self.offset] + text + self.text[self.offset + num_replaced :], text)
        self.offset += len(text if keys is None else keys)

    def delete(self, num: int) -> None:
        self._change(self.text[: self.offset - num] + self.text[self.offset :], "")
        self.offset -= num

    def ask(self, insertion: str, request: str, num_replaced: int = 0) -> None:
        self.flush()
        self.trace.append((self.now_s, Asked(self.offset, insertion, request, num_replaced)))

    def say(self, request: str, how: How) -> None:
        self.flush()
        self.trace.append((self.now_s + 0.01, Said(request, how)))

    def flush(self, at_s: float | None = None) -> None:
        if self._sent != self.text:
            listed = tuple(self._keys) if self.profile.lists_keys and len(self._keys) > 1 else ()
            self.trace.append((self.now_s if at_s is None else at_s, Changed(self.text, listed)))
            self._sent, self._sent_s = self.text, self.now_s if at_s is None else at_s
        self._keys = []

    def _change(self, text: str, inserted: str) -> None:
        if not self._keys or self.profile.idles:
            since_s = self.now_s if self.profile.idles else self._sent_s
            self._due_s = max(self.now_s, since_s + self.profile.gathers_s)
        self.text = text
        self._keys.append(inserted)
        if self._due_s <= self.now_s:
            self.flush()


@dataclass
class User:
    """Writes `text` in an editor, with suggestions that are right or wrong, each of which is met in one of many ways.
    `log` is what became of each."""

    editor: Editor
    source: str
    random: random.Random
    log: dict[str, str] = field(default_factory=dict)
    _count: int = 0

    def write(self) -> None:
        while self.editor.offset < len(self.source):
            pause_s = self._interval() if self.random.random() < 0.9 else self.random.uniform(0.5, 4.0)
            answer_s = self.editor.profile.asks_s + 0.1
            if pause_s > answer_s:
                self.editor.wait(answer_s)
                self._meet()
            else:
                self.editor.wait(pause_s)
                self._type()
        self.editor.wait(5.0)
        self.editor.flush()
        self.editor.trace.append((self.editor.now_s + 5.0, Closed()))
        self.editor.wait(10.0)

    def _interval(self) -> float:
        return min(1.0, max(0.05, self.random.lognormvariate(-1.9, 0.45)))

    def _type(self) -> None:
        """One key; now and then what a pop-up has, or an auto-closed pair."""
        rest = self.source[self.editor.offset :]
        word = rest[: next((i for i, char in enumerate(rest) if not char.isalnum()), len(rest))]
        if len(word) > 2 and self.random.random() < 0.04:
            self.editor.put(word)
        else:
            self._key(rest)

    def _key(self, rest: str) -> None:
        key = rest[0]
        if key == "\n":
            key = rest[: len(rest) - len(rest[1:].lstrip(" "))]
        self.editor.put(key)

    def _meet(self) -> None:
        request = f"{self._next():08x}"
        offset = self.editor.offset
        rest = self.source[offset:]
        line = rest[: rest.find("\n", 1) if "\n" in rest[1:] else len(rest)]
        right = line if self.random.random() < 0.7 else rest[: self.random.randint(20, 120)].rstrip()
        if len(right.strip()) < 3:
            return
        kind = self.random.choices(("whole", "late", "word", "typed", "wrong", "astray", "moved", "undone"),
                                   (30, 10, 12, 12, 16, 10, 6, 4))[0]  # fmt: skip
        if kind == "word" and "word" not in self.editor.profile.accepts:
            kind = "whole"
        is_wrong = kind in ("wrong", "astray", "moved", "undone")
        text = self._spoilt(right, kind == "astray") if is_wrong else right
        self.editor.ask(text, request)
        self.editor.wait(self.random.uniform(0.25, 1.5))
        self.log[request] = getattr(self, f"_{kind}")(text, request)
        self.editor.wait(self._interval())

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _spoilt(self, right: str, begins_right: bool) -> str:
        num_right = self.random.randint(1, len(right) - 1) if begins_right else 0
        return right[:num_right] + "@wrong(" + right[num_right + 1 :] + ")"

    def _whole(self, text: str, request: str) -> str:
        self.editor.put(text)
        self._tell("whole", request)
        return "whole"

    def _late(self, text: str, request: str) -> str:
        """Types some of it, and accepts the rest if that is worth a key."""
        num = self.random.randint(1, max(1, len(text) // 2))
        typed = self._type_out(text[:num])
        if len(text) - len(typed) < 5:
            self._type_out(text[len(typed) :])
            return "typed"
        self.editor.wait(self.random.uniform(0.2, 0.8))
        return self._whole(text[len(typed) :], request)

    def _word(self, text: str, request: str) -> str:
        words = _words(text)
        num = self.random.randint(1, len(words))
        for word in words[:num]:
            self.editor.put(word)
            self._tell("whole" if num == len(words) and word is words[-1] else "word", request)
            self.editor.wait(self.random.uniform(0.15, 0.5))
        if num == len(words):
            return "whole" if len(words[-1]) > 1 or "whole" in self.editor.profile.commands else "part"
        rest = "".join(words[num:])
        if self.random.random() < 0.5:
            self._type_out(rest)
        else:
            self.editor.put("\n# other\n")
            self.source = self.source[: self.editor.offset - 9] + "\n# other\n" + self.source[self.editor.offset - 9 :]
        return "part"

    def _typed(self, text: str, request: str) -> str:
        self._type_out(text, request)
        return "typed"

    def _wrong(self, text: str, request: str) -> str:
        self._type()
        return "rejected"

    def _astray(self, text: str, request: str) -> str:
        self._type_out(text[: text.index("@wrong(")])
        self.editor.wait(self._interval())
        self._type()
        return "rejected"

    def _moved(self, text: str, request: str) -> str:
        """Elsewhere a comment is written, and what was asked there comes to nothing."""
        editor, offset = self.editor, self.editor.offset
        if "\n" not in self.source[:offset]:
            return self._wrong(text, request)
        editor.offset = 0
        editor.ask("", "")
        for char in "# note\n":
            editor.put(char)
            editor.wait(self._interval())
        editor.flush()
        self.source = "# note\n" + self.source
        editor.offset = offset + len("# note\n")
        return "rejected"

    def _undone(self, text: str, request: str) -> str:
        self._whole(text, request)
        self.editor.wait(self.random.uniform(1.5, 3.0))
        self.editor.delete(len(text))
        self.editor.flush()
        return "whole"

    def _type_out(self, text: str, request: str = "") -> str:
        goal = self.editor.offset + len(text)
        start = self.editor.offset
        while self.editor.offset < goal:
            self._key(self.source[self.editor.offset :])
            rest = text[self.editor.offset - start :]
            if request and rest and self.editor.profile.asks_each_key:
                self.editor.ask(rest, f"{self._next():08x}")
            self.editor.wait(self._interval())
        return self.source[start : self.editor.offset]

    def _tell(self, part: str, request: str) -> None:
        if part in self.editor.profile.commands:
            self.editor.say(request, How.COMMAND)
        elif part in self.editor.profile.notices:
            self.editor.say(request, How.NOTICE)


def _words(text: str) -> list[str]:
    """As editors cut them: blanks and a name, or blanks and signs."""
    words, rest = [], text
    while rest:
        blanks = len(rest) - len(rest.lstrip())
        body = rest[blanks:]
        is_name = body[:1].isalnum() or body[:1] == "_"
        num = next((i for i, c in enumerate(body) if c.isspace() or (c.isalnum() or c == "_") != is_name), len(body))
        words.append(rest[: blanks + num])
        rest = rest[blanks + num :]
    return words


def session(profile: Profile, sources: Sequence[str], seed: int) -> tuple[list[Event], dict[str, str]]:
    """The events of a session in which one file after another is written, and the user's log."""
    outcomes, events = Outcomes(), list[Event]()
    user = User(Editor(profile), "", random.Random(seed))
    for source in sources:
        user.editor, user.source = Editor(profile, now_s=user.editor.now_s), source
        user.write()
        events += play("", sorted(user.editor.trace, key=lambda one: one[0]), outcomes)
    return events, user.log
