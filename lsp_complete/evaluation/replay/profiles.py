"""How editors differ as clients of a language server: when they tell of keys, when they ask and cancel, what they say
of an acceptance. Read off their sources and from traces; see `tests/completion/test_outcome.py` for the same traces."""

from dataclasses import dataclass
from enum import Enum


class Cancels(Enum):
    """When the older question is cancelled: with the key that overtakes it, before or behind the change that it makes,
    or with the next question."""

    BEFORE_CHANGE = "before change"
    AFTER_CHANGE = "after change"
    AT_QUESTION = "at question"


@dataclass(frozen=True, slots=True)
class Profile:
    """`gathers_s`: keys of so long come in one message, those up to a pause of so long where it `idles`; `lists_keys`
    one by one. It asks `asks_s` after the last key. `keeps_ghost`: what is typed through stays on the screen. The
    command of an item is run for the acceptances in `commands`: `whole`, `word`. `looks` is the share of lines at
    whose start its users stop to see what is suggested. `tells_popup`: a question says what is
    chosen in the pop-up; others do not ask while there is one."""

    name: str
    gathers_s: float = 0.0
    idles: bool = False
    lists_keys: bool = False
    asks_s: float = 0.05
    cancels: Cancels = Cancels.AFTER_CHANGE
    keeps_ghost: bool = True
    by_word: bool = True
    commands: tuple[str, ...] = ("whole",)
    looks: float = 0.25
    tells_popup: bool = False
    tells_shown: bool = False
    encodings: tuple[str, ...] = ("utf-16",)


# VS Code's minimal delay of inline suggestions is 50 ms; vscode-languageclient sends each change at once.
VS_CODE = Profile("vscode", tells_popup=True)
# runtime/lua/vim/lsp: `debounce_text_changes` of 150 ms, `inline_completion.lua` asks 200 ms after the last key and
# shows what it has until then.
NEOVIM = Profile(
    "neovim", 0.15, lists_keys=True, asks_s=0.2, cancels=Cancels.BEFORE_CHANGE, by_word=False,
    encodings=("utf-8", "utf-16", "utf-32"),
)  # fmt: skip
# `lsp-idle-delay` of 0.5 s, `lsp-inline-completion-idle-delay` of 2 s; any key takes the overlay away. Whoever
# uses it has to stop for it.
EMACS = Profile(
    "emacs", 0.5, idles=True, lists_keys=True, asks_s=2.0, cancels=Cancels.AT_QUESTION, keeps_ghost=False,
    by_word=False, looks=0.8, encodings=("utf-32", "utf-8", "utf-16"),
)  # fmt: skip
# JetBrains: no item's command is ever run, and words are accepted without a word.
LSP4IJ = Profile("lsp4ij", asks_s=0.3, commands=(), cancels=Cancels.AFTER_CHANGE)
# VS Code with an extension that knows Copilot's server: words, and what is shown, are told of.
COPILOT_LIKE = Profile("vscode-notices", tells_popup=True, commands=("whole", "word"), tells_shown=True)
PROFILES = {one.name: one for one in (VS_CODE, NEOVIM, EMACS, LSP4IJ, COPILOT_LIKE)}
