"""A real Emacs with lsp-mode in a terminal, set up by the lines that README.md prints."""

import re
import signal
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import psutil

from tests.editors.outcomes import Outcomes, until
from tests.editors.readme import lines_for
from tests.editors.terminal import Terminal
from tests.editors.wire import search_path
from tests.server.editor import environ

_numbers = count()
# Until lsp-mode is read, which is not compiled here, on a busy machine.
_START_S = 90.0
# Of no other text on the screen.
GHOST_COLOUR = "00ff5f"
# What a user has who wants quiet, and suggestions sooner than after lsp-mode's two seconds. An Emacs that is only
# unpacked has no compiler.
_INIT = """
(setq native-comp-enable-subr-trampolines nil native-comp-jit-compilation nil)
(setq inhibit-startup-screen t make-backup-files nil auto-save-default nil create-lockfiles nil
      ring-bell-function 'ignore)
(setq lsp-auto-guess-root t lsp-client-packages nil lsp-headerline-breadcrumb-enable nil lsp-restart 'ignore
      lsp-session-file (expand-file-name "session" user-emacs-directory) confirm-kill-processes nil
      require-final-newline nil mode-require-final-newline nil
      lsp-inline-completion-idle-delay 0.1)
(dolist (folder load-path)
  (dolist (file (file-expand-wildcards (expand-file-name "lsp-mode-autoloads.el" folder))) (load file nil t)))
(require 'lsp-mode)
%s
(set-face-attribute 'lsp-inline-completion-overlay-face nil :inherit nil :foreground "#%s")
"""


@dataclass
class Emacs:
    """With a workspace in `folder`, and `options` for the server."""

    program: Path
    folder: Path
    options: dict[str, str]
    file: Path = field(init=False)

    def __post_init__(self) -> None:
        self.work, home = self.folder / "work", self.folder / "home"
        (self.work / ".git").mkdir(parents=True)
        home.mkdir()
        init = self.folder / "init.el"
        init.write_text(_INIT % (lines_for("Emacs"), GHOST_COLOUR), "utf-8")
        self.file = self.work / "first.py"
        self.file.write_text("")
        settings = {f"LSP_COMPLETE_{name.upper()}": value for name, value in self.options.items()}
        own = environ(
            self.folder, HOME=str(home), PATH=search_path(self.folder), LSP_COMPLETE_TELEMETRY="local", **settings
        )
        command = [str(self.program), "-nw", "-Q", "-l", str(init), str(self.file)]
        self.terminal, self.log = Terminal(command, own, self.work), Outcomes(self.folder)
        self._until_served()

    def _until_served(self) -> None:
        is_served = re.compile(r"LSP\[lsp-complete:\d+\]").search
        self.terminal.until("the server", lambda: is_served("".join(self.terminal.rows)), _START_S)

    def opened(self, text: str) -> None:
        """A new file, the cursor at its end, typing."""
        self.file = self.work / f"file{next(_numbers)}.py"
        self.file.write_text(text, "utf-8")
        self.log.forget()
        self.terminal.keys("Control+x", "Control+f")
        self.terminal.type(f"{self.file}\n")
        self.terminal.until_row(f"  {self.file.name} ")
        self._until_served()
        self.terminal.keys("\x1b>")

    def closed(self) -> None:
        """The file, whatever is in it."""
        self.terminal.keys("Control+x", "Control+s", "Control+x")
        self.terminal.type("k\n")
        self.terminal.until("another file", lambda: f"  {self.file.name} " not in self.terminal.rows[-2])

    def type(self, text: str) -> None:
        self.terminal.type(text)

    def keys(self, *names: str) -> None:
        self.terminal.keys(*names)

    @property
    def ghost(self) -> str:
        return self.terminal.in_colour(GHOST_COLOUR)

    def until_ghost(self, text: str) -> None:
        self.terminal.until(f"ghost text {text!r}", lambda: self.ghost == text)

    def until_saved(self, text: str) -> None:
        def is_saved() -> bool:
            self.keys("Control+x", "Control+s")
            return self.file.read_text("utf-8") == text

        self.terminal.until(f"text {text!r}", is_saved)

    @property
    def processes(self) -> list[psutil.Process]:
        return [self.terminal.process, *self.terminal.process.children(recursive=True)]

    def quit(self) -> None:
        self.keys("Control+x", "Control+c")
        if psutil.wait_procs([self.terminal.process], 2)[1]:
            self.type("n")  # not to be saved
            self.type("yes\n")  # in spite of that
        until("the end", lambda: not self.terminal.process.is_running() or self.terminal.process.status() == "zombie")
        self.terminal.close()

    def kill(self) -> None:
        self.terminal.process.send_signal(signal.SIGKILL)
        self.terminal.close()
