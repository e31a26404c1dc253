"""A program in a terminal of its own: keys in, screen out, as a user has it."""

import fcntl
import os
import pty
import re
import struct
import termios
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pyte

from tests.editors.outcomes import PATIENCE_S, until

WIDTH, HEIGHT = 120, 20
_CHUNK = 1 << 16
# Questions to the terminal, and colours of underlines: pyte stumbles over them.
_UNKNOWN = re.compile(rb"\x1b\[\?\d*(?:u|\$p|n)|\x1bP.*?\x1b\\|\x1b\[\d+:[\d:]*m")
_KEYS = {
    "Enter": "\r", "Tab": "\t", "Escape": "\x1b", "Backspace": "\x7f", "Left": "\x1b[D", "Control+Space": "\x00",
    "Control+Enter": "\x1b[13;5u",
}  # fmt: skip


class Terminal:
    """All that the program writes is read at once, by a thread: who is not read stands still."""

    def __init__(self, argv: list[str], environ: dict[str, str], folder: Path) -> None:
        self._screen = pyte.Screen(WIDTH, HEIGHT)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        pid, self._terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execve(argv[0], argv, {**environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"})
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        self.process = psutil.Process(pid)
        self._reader = threading.Thread(target=self._read_all, daemon=True)
        self._reader.start()

    def _read_all(self) -> None:
        while True:
            try:
                data = os.read(self._terminal, _CHUNK)
            except OSError:
                return  # it is gone
            if not data:
                return
            with self._lock:
                self._stream.feed(_UNKNOWN.sub(b"", data))

    # In

    def keys(self, *names: str) -> None:
        """`Control+x` and the names of `_KEYS`; anything else as it is."""
        for name in names:
            head, _, letter = name.partition("Control+")
            plain = chr(ord(letter) & 0x1F) if not head and len(letter) == 1 else name
            os.write(self._terminal, _KEYS.get(name, plain).encode())

    def type(self, text: str) -> None:
        for char in text:
            self.keys("Enter" if char == "\n" else char)

    # Out

    @property
    def rows(self) -> list[str]:
        with self._lock:
            return [row.rstrip() for row in self._screen.display]

    @property
    def cursor(self) -> tuple[int, int]:
        """Row and column on the screen, from 0."""
        return self._screen.cursor.y, self._screen.cursor.x

    def in_colour(self, colour: str) -> str:
        """What is written in it, row by row."""
        with self._lock:
            found = []
            for row in range(HEIGHT):
                cells = [self._screen.buffer[row][column] for column in range(WIDTH)]
                found.append("".join(cell.data for cell in cells if cell.fg == colour))
        return "\n".join(text.rstrip() for text in found if text.strip())

    def until_row(self, text: str) -> None:
        self.until(f"{text!r} on the screen", lambda: any(text in row for row in self.rows))

    def until(self, what: str, condition: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
        """What has failed says what was on the screen."""
        try:
            until(what, condition, patience_s)
        except AssertionError as error:
            raise AssertionError("\n".join([str(error), *self.rows])) from None

    def close(self) -> None:
        """It has ended, or is ended now."""
        if self.process.is_running():
            self.process.kill()
        self.process.wait(30)
        self._reader.join()
        os.close(self._terminal)
