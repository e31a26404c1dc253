"""Editors as they are seen from the server.

An editor gathers keys its own way, asks after its own pause, and says of an acceptance what it says. What it sends is a
trace: (time, message). A trace is played to `Outcomes` alone. Who sits before it is played_user.py.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.reuse import suggestion_at
from lsp_complete.protocol.events import Event, Hex, How, Rung, Shown
from lsp_complete.text.document import Document

URI = "file:///a.py"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"


@dataclass(frozen=True)
class Profile:
    """`gathers_s`: keys of so long come in one message; `idles`: those up to a pause of so long. `asks_s` after the
    last key it asks. `commands` and `notices` are the acceptances (`whole`, `word`, `line`) that it tells of; where it
    `chooses`, a question says what is chosen in the pop-up."""

    name: str
    gathers_s: float = 0.0
    idles: bool = False
    lists_keys: bool = False
    asks_s: float = 0.06
    accepts: tuple[str, ...] = ("whole",)
    commands: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    asks_each_key: bool = False
    chooses: bool = False


ALL = ("whole", "word", "line")
VS_CODE = Profile("VS Code", accepts=ALL, commands=("whole",), asks_each_key=True, chooses=True)
NEOVIM_11 = Profile("Neovim 0.11", 0.15, asks_s=0.075, accepts=ALL, commands=("whole",), notices=("word", "line"))
NEOVIM_12 = Profile("Neovim 0.12", 0.15, lists_keys=True, asks_s=0.2, commands=("whole",))
NEOVIM_12_CALLBACK = Profile("Neovim 0.12 with a callback", 0.15, lists_keys=True, asks_s=0.2)
EMACS = Profile("Emacs", 0.5, idles=True, lists_keys=True, asks_s=2.0, commands=("whole",))
EMACS_FULL = Profile("Emacs, whole texts", 0.5, idles=True, asks_s=2.0, commands=("whole",))
COC = Profile("coc.nvim", 0.15, asks_s=0.2, accepts=ALL, commands=ALL)
LSP4IJ = Profile("LSP4IJ", accepts=ALL, asks_s=0.3)
HELIX = Profile("Helix", asks_s=0.25)
PROFILES = (VS_CODE, NEOVIM_11, NEOVIM_12, NEOVIM_12_CALLBACK, EMACS, EMACS_FULL, COC, LSP4IJ, HELIX)


@dataclass(frozen=True)
class Changed:
    text: str
    inserted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Asked:
    """The editor asks at `offset`, and is given `insertion`, if any, of which `num_chosen` stand in the pop-up.
    `chosen` is what it says of that, with where it begins."""

    offset: int
    insertion: str = ""
    request: str = ""
    num_replaced: int = 0
    num_chosen: int = 0
    chosen: tuple[int, str] | None = None


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
            case Asked(offset, insertion, request, num_replaced, num_chosen, chosen):
                events += outcomes.asked(document, offset, at_s, chosen)
                if insertion:
                    suggestion = suggestion_at(document, offset, Insertion(insertion, num_replaced), request)
                    told = Shown(Hex(request), Rung.NETWORK, len(insertion))
                    events += outcomes.shown(document, suggestion, told, at_s, num_chosen)
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

    def choose(self, chosen: str, insertion: str, request: str, num_replaced: int = 0) -> None:
        """Ask behind what is chosen in the pop-up, to complete what stands left of the cursor."""
        self.flush()
        before = self.text[: self.offset]
        typed = before[len(before.rstrip(LETTERS)) :]
        num, text = len(typed), typed + chosen + insertion
        asked = Asked(self.offset - num, text, request, num + num_replaced, num + len(chosen))
        self.trace.append((self.now_s, asked))

    def restore(self, text: str, offset: int) -> None:
        self._change(text, "")
        self.offset = offset
        self.flush()

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
