"""A user who writes a given text with suggestions, meets each in one of many ways, and logs what became of it.

What is told of him, from the messages of his editor alone, is compared with the log.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.protocol.events import Event, How
from tests.completion.played_editor import LETTERS, Closed, Editor, Profile, play

# How a suggestion is met, and how often of a hundred times.
WAYS = {
    "whole": 26,
    "late": 9,
    "word": 12,
    "line": 5,
    "typed": 10,
    "fast": 5,
    "popup": 3,
    "paste": 3,
    "wrong": 12,
    "astray": 7,
    "moved": 4,
    "undone": 4,
}
_WRONG = {"wrong", "astray", "moved", "undone", "paste"}
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass
class User:
    """Writes `source` in an editor that closes brackets. `log` is what became of each suggestion, `ways` how it was
    met."""

    editor: Editor
    source: str
    random: random.Random
    log: dict[str, str] = field(default_factory=dict)
    ways: dict[str, str] = field(default_factory=dict)
    _is_fast: bool = False

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

    @property
    def _rest(self) -> str:
        return self.source[self.editor.offset :]

    @property
    def _closers(self) -> str:
        """What the editor has closed, right of the cursor."""
        return self.editor.text[self.editor.offset :]

    def _interval(self) -> float:
        if self._is_fast:
            return self.random.uniform(0.05, 0.08)
        return min(1.0, max(0.05, self.random.lognormvariate(-1.9, 0.45)))

    def _type(self) -> None:
        """One key; now and then what a pop-up has."""
        word = _word(self._rest)
        if len(word) > 2 and self.random.random() < 0.04:
            self.editor.put(word)
        else:
            self._key()

    def _key(self) -> None:
        """The next of the source, with what the editor adds, or over what it has added."""
        rest = self._rest
        key = rest[0]
        if self._closers[:1] == key:
            self.editor.offset += 1
        elif key in _PAIRS and _is_closed(rest):
            self.editor.put(key + _PAIRS[key], keys=key)
        else:
            self.editor.put(rest[: len(rest) - len(rest[1:].lstrip(" "))] if key == "\n" else key)

    def _meet(self) -> None:
        way = self.random.choices(tuple(WAYS), tuple(WAYS.values()))[0]
        if way in ("word", "line") and (way not in self.editor.profile.accepts or self._closers):
            way = "whole"
        right = self._right(way)
        if len(right.strip()) < 3:
            return
        request = self._next()
        text = self._spoilt(right, way == "astray") if way in _WRONG else right
        self.editor.ask(text, request, len(self._closers))
        self.editor.wait(self.random.uniform(0.25, 1.5))
        self.ways[request] = way
        self.log[request] = getattr(self, f"_{way}")(text, request)
        self.editor.wait(self._interval())

    def _right(self, way: str) -> str:
        """What a good model says: the rest of the line, or some more lines."""
        pieces = _lines(self._rest)
        is_block = way == "line" or (self.random.random() > 0.7 and not self._closers)
        block = "".join(pieces[: self.random.randint(2, 4)])
        return block if is_block and _is_balanced(block) else pieces[0]

    def _next(self) -> str:
        self._count += 1
        return f"{self._count:08x}"

    _count = 0

    def _spoilt(self, right: str, begins_right: bool) -> str:
        num_right = self.random.randint(1, len(right) - 1) if begins_right else 0
        return right[:num_right] + "@wrong(" + right[num_right + 1 :] + ")"

    def _whole(self, text: str, request: str) -> str:
        self.editor.put(text, len(self._closers))
        self._tell("whole", request)
        return "whole"

    def _late(self, text: str, request: str) -> str:
        """Types some of it, and accepts the rest if that is worth a key."""
        typed = self._type_out(text[: self.random.randint(1, max(1, len(text) // 2))])
        if len(text) - len(typed) < 5:
            self._type_out(text[len(typed) :])
            return "typed"
        self.editor.wait(self.random.uniform(0.2, 0.8))
        return self._whole(text[len(typed) :], request)

    def _word(self, text: str, request: str) -> str:
        return self._piece_by_piece(_words(text), "word", request)

    def _line(self, text: str, request: str) -> str:
        return self._piece_by_piece(_lines(text), "line", request)

    def _piece_by_piece(self, pieces: Sequence[str], kind: str, request: str) -> str:
        """Some of them, and then the rest by hand, or something else. What is worth a key is typed."""
        if len(pieces[0].strip()) < 2:
            return self._whole("".join(pieces), request)
        num = self.random.randint(1, len(pieces))
        for number, piece in enumerate(pieces[:num], start=1):
            self.editor.put(piece)
            self._tell("whole" if number == len(pieces) else kind, request)
            self.editor.wait(self.random.uniform(0.15, 0.5))
        if num == len(pieces):
            return "whole" if len(pieces[-1]) > 1 or "whole" in self.editor.profile.commands else "part"
        if self.random.random() < 0.5:
            self._type_out("".join(pieces[num:]))
        else:
            self._put_else("\n# other\n")
        return "part"

    def _typed(self, text: str, request: str) -> str:
        self._type_out(text, asks=True)
        return "typed"

    def _fast(self, text: str, request: str) -> str:
        self._is_fast = True
        self._type_out(text, asks=True)
        self._is_fast = False
        return "typed"

    def _popup(self, text: str, request: str) -> str:
        """Types some letters, takes the word from the pop-up, and then the rest of the suggestion or by hand."""
        word = _word(text)
        if len(word) < 3:
            return self._typed(text, request)
        num = self.random.randint(1, len(word) - 2)
        self._type_out(text[:num])
        if self.editor.profile.chooses:
            self.editor.choose(word[num:], text[len(word) :], self._next(), len(self._closers))
            self.editor.wait(self.random.uniform(0.2, 0.6))
        self.editor.put(word[num:])
        self.editor.wait(self.random.uniform(0.3, 0.9))
        if len(text) - len(word) > 4 and self.random.random() < 0.5:
            return self._whole(text[len(word) :], request)
        self._type_out(text[len(word) :])
        return "typed"

    def _paste(self, text: str, request: str) -> str:
        self._put_else(self.random.choice(["pasted(1)", "# pasted\n# two lines\n"]))
        return "rejected"

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
        before = self.editor.text, self.editor.offset
        self._whole(text, request)
        self.editor.wait(self.random.uniform(0.4, 3.0))
        self.editor.restore(*before)
        return "whole"

    def _put_else(self, text: str) -> None:
        offset = self.editor.offset
        self.editor.put(text)
        self.source = self.source[:offset] + text + self.source[offset:]

    def _type_out(self, text: str, *, asks: bool = False) -> str:
        start = self.editor.offset
        while self.editor.offset < start + len(text):
            self._key()
            rest = text[self.editor.offset - start :]
            if asks and rest and self.editor.profile.asks_each_key:
                self.editor.ask(rest, self._next(), len(self._closers))
            self.editor.wait(self._interval())
        return self.source[start : self.editor.offset]

    def _tell(self, part: str, request: str) -> None:
        if part in self.editor.profile.commands:
            self.editor.say(request, How.COMMAND)
        elif part in self.editor.profile.notices:
            self.editor.say(request, How.NOTICE)


def _word(text: str) -> str:
    return text[: len(text) - len(text.lstrip(LETTERS))]


def _is_closed(rest: str) -> bool:
    """Whether the bracket that it begins with is closed on its line."""
    opener, depth = rest[0], 0
    for char in rest.partition("\n")[0]:
        depth += (char == opener) - (char == _PAIRS[opener])
        if not depth:
            return True
    return False


def _is_balanced(text: str) -> bool:
    """As what is shown has to be."""
    return all(text.count(opener) == text.count(closer) for opener, closer in _PAIRS.items())


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


def _lines(text: str) -> list[str]:
    """As editors cut them: each but the first begins with its line end. None is blank."""
    lines: list[str] = []
    for line in text.split("\n"):
        piece = line if not lines else "\n" + line
        if lines and not lines[-1].strip():
            lines[-1] += piece
        else:
            lines.append(piece)
    return [line for line in lines if line]


def session(profile: Profile, sources: Sequence[str], seed: int) -> tuple[list[Event], User]:
    """The events of a session in which one file after another is written, and the user with the log."""
    outcomes, events = Outcomes(), list[Event]()
    user = User(Editor(profile), "", random.Random(seed))
    for source in sources:
        user.editor, user.source = Editor(profile, now_s=user.editor.now_s), source
        user.write()
        events += play("", sorted(user.editor.trace, key=lambda one: one[0]), outcomes)
    return events, user
