"""Holes in real files, what a hostile model could write into them, and what would be wrong with accepting it.

Deterministic: the same random numbers give the same cases. Knows the filters only by what they give.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lsp_complete.completion.brackets import scan
from lsp_complete.completion.lines import indentation, is_closing, width
from lsp_complete.completion.mode import choose_mode
from lsp_complete.completion.postprocess import Insertion, accept
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document, with_eol
from lsp_complete.text.languages import language_of
from lsp_complete.text.symbols import symbols
from lsp_complete.text.syntax import parse

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_SURPLUS = [")", "]", "}", "});", "\n}", "\n)", ")\n", "))"]
_MAX_BLOCK_LINES = 12
# Lines of a whole file on which nothing is: what comes there may change nothing else.
_NOTHING = "between"


class Fault(StrEnum):
    """What must not be in a buffer after an acceptance."""

    PARSES_WORSE = "parses-worse"
    LINE_TWICE = "line-twice"
    OTHER_NESTING = "other-nesting"
    FOREIGN_LINE_END = "foreign-line-end"


@dataclass(frozen=True, slots=True)
class Hole:
    """`truth` is missing at `offset` of the document."""

    kind: str
    document: Document
    offset: int
    truth: str

    @property
    def mode(self) -> Mode:
        return choose_mode(self.document, self.offset)

    @property
    def before(self) -> str:
        return self.document.before_on_line(self.offset)

    @property
    def suffix(self) -> str:
        return self.document.text[self.offset :]


def holes(path: str, source: str, rng: random.Random, num: int) -> Iterator[Hole]:
    """Up to `num`, of lines, blocks, ends of lines, words, insides of brackets, and between lines."""
    lines = source.split("\n")
    code = [number for number, line in enumerate(lines) if line.strip()]
    for _ in range(num if code else 0):
        kind, cut = rng.choice(_CUTS)
        found = cut(lines, rng.choice(code), rng)
        if found is not None:
            start, end, typed = found
            document = Document(f"file:///{path}", source[:start] + typed + source[end:], path)
            yield Hole(kind, document, start + len(typed.rstrip("\n")), source[start:end])


Found = tuple[int, int, str] | None
"""Start and end of what is cut out, and what is put there."""


def _line_end(lines: list[str], number: int, rng: random.Random) -> Found:
    start, end = _span(lines, number)
    return rng.choice(_borders(lines[number])) + start, end, ""


def _word(lines: list[str], number: int, rng: random.Random) -> Found:
    borders, (start, _) = _borders(lines[number]), _span(lines, number)
    first = rng.randrange(len(borders))
    return start + borders[first], start + borders[min(len(borders) - 1, first + rng.randint(1, 4))], ""


def _line(lines: list[str], number: int, rng: random.Random) -> Found:
    start, end = _span(lines, number)
    return start + len(indentation(lines[number])), end, ""


def _lines(lines: list[str], number: int, rng: random.Random) -> Found:
    """From any column of the indentation on, lines that are no less indented."""
    last = _last(lines, number, width(lines[number]), rng.randint(1, 6))
    deep = len(indentation(lines[number]))
    return _span(lines, number)[0] + rng.choice([0, deep, rng.randint(0, deep)]), _span(lines, last)[1], ""


def _block(lines: list[str], number: int, rng: random.Random) -> Found:
    last = _last(lines, number + 1, width(lines[number]) + 1, _MAX_BLOCK_LINES)
    return (_span(lines, number)[1], _span(lines, last)[1], "") if last > number else None


def _inside(lines: list[str], number: int, rng: random.Random) -> Found:
    pairs = [(start, end) for end, start in scan(lines[number]).partners.items() if end > start + 1]
    start, end = rng.choice(pairs) if pairs else (0, 0)
    at = _span(lines, number)[0]
    return (at + start + 1, at + end, "") if pairs else None


def _between(lines: list[str], number: int, rng: random.Random) -> Found:
    start = _span(lines, number)[0]
    return start, start, indentation(lines[number]) + "\n"


_CUTS = [
    ("line-end", _line_end),
    ("word", _word),
    ("line", _line),
    ("lines", _lines),
    ("block", _block),
    ("inside", _inside),
    (_NOTHING, _between),
]


def _span(lines: list[str], number: int) -> tuple[int, int]:
    start = sum(len(line) + 1 for line in lines[:number])
    return start, start + len(lines[number])


def _borders(line: str) -> list[int]:
    first = len(indentation(line))
    return [match.start() for match in re.finditer(r"\b|(?<=\W)", line) if match.start() >= first] or [first]


def _last(lines: list[str], first: int, columns: int, most: int) -> int:
    """The last of up to `most` lines, not blank, that are no less indented."""
    last = first - 1
    for number in range(first, min(len(lines), first + most)):
        if lines[number].strip() and width(lines[number]) < columns:
            break
        last = number if lines[number].strip() else last
    return last


def hostile(hole: Hole, others: Sequence[str], rng: random.Random) -> Iterator[tuple[str, str]]:
    """What a model may write instead, by name. `others` are texts of other files."""
    truth, suffix = hole.truth, hole.suffix
    rest, *below = suffix.split("\n")
    above = hole.document.text[: hole.offset].split("\n")[:-1]
    closers = re.sub(r"\s", "", re.search(r"[)\]};,\s]*$", truth).group())  # type: ignore[union-attr]
    other = _fragment(rng.choice(others), rng)
    yield "overrun", truth + suffix[: rng.randint(1, 300)]
    yield "overrun-after-line-end", truth + "\n" + suffix.lstrip("\n")[: rng.randint(1, 300)]
    yield "rest-twice", truth + rest + rest
    yield "lines-below", truth + "\n" + "\n".join([line for line in below if line.strip()][: rng.randint(1, 3)])
    yield "closed-twice", truth + (closers or rng.choice(")]}"))
    yield "closed-too-much", truth + rng.choice(_SURPLUS)
    yield "closed-too-little", re.sub(r"[)\]}](?=[^)\]}]*$)", "", truth, count=1)
    yield "lines-twice", "\n".join(line for line in truth.split("\n") for _ in range(2))
    yield "lines-above", "\n".join([*above[-rng.randint(1, 3) :], truth])
    yield "deeper", _moved(truth, lambda line: "    " + line)
    yield "shallower", _moved(truth, lambda line: line[min(4, len(indentation(line))) :])
    yield "indented-twice", hole.before[: len(indentation(hole.before))] + truth
    yield "tabs", _moved(truth, lambda line: line.replace("    ", "\t"))
    yield "crlf", with_eol(truth, "\r\n") + "\r\n"
    yield "marker", truth + "<|fim_pad|>" + other
    yield "other", other
    yield "other-piece", other[rng.randrange(1 + len(other) // 2) :]
    yield "other-lines", "\n" + other
    yield "other-half", truth[: rng.randrange(len(truth) + 1)] + other


def _fragment(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    first = rng.randrange(len(lines))
    return "\n".join(lines[first : first + rng.randint(1, 8)])


def _moved(text: str, move: Callable[[str], str]) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(move(line) if line.strip() else line for line in rest)])


def faults(hole: Hole, insertion: Insertion) -> list[Fault]:
    """What is wrong with the buffer once the insertion is accepted."""
    document, accepted = hole.document, accept(hole.document, hole.offset, insertion)
    finished = _finished(hole, insertion, accepted)
    found = {
        Fault.PARSES_WORSE: _is_clean(document.text, document.path) and not _is_clean(finished, document.path),
        Fault.LINE_TWICE: _says_line_below(hole, insertion),
        Fault.OTHER_NESTING: hole.kind == _NOTHING and not _owners(document) <= _owners(document, finished),
        Fault.FOREIGN_LINE_END: not set(re.findall(r"\r\n|\r|\n", insertion.text)) <= {document.eol},
    }
    return [fault for fault, is_there in found.items() if is_there]


def _is_clean(text: str, path: str) -> bool:
    tree = parse(text, language_of(path))
    return tree is None or not tree.has_error


def _finished(hole: Hole, insertion: Insertion, accepted: str) -> str:
    """The buffer with what the insertion leaves open closed, if it parses then."""
    line, end, path = hole.before + insertion.text, hole.offset + len(insertion.text), hole.document.path
    closers = "".join(_CLOSERS[line[opener]] for opener in reversed(scan(line).opened))
    endings = ["", closers, closers[:1], " x" + closers, " x", "\nend", "\nfi", "\ndone"]
    texts = (accepted[:end] + ending + accepted[end:] for ending in endings)
    return next((text for text in texts if _is_clean(text, path)), accepted)


def _says_line_below(hole: Hole, insertion: Insertion) -> bool:
    rest, *below = hole.suffix.replace("\r\n", "\n").split("\n")
    line = next((line.rstrip() for line in below if line.strip()), "")
    last = (hole.before + insertion.text.replace("\r\n", "\n")).rstrip().rpartition("\n")[2]
    is_whole = "\n" in insertion.text.rstrip() or not hole.before.strip()
    is_said = bool(line) and last == line and not is_closing(line, language_of(hole.document.path))
    return not rest.strip() and is_whole and is_said


def _owners(document: Document, text: str | None = None) -> set[tuple[str, str]]:
    """What is defined, and in what."""
    found = symbols(document.text if text is None else text, language_of(document.path), references=False)
    return {(one.name, one.parent) for one in found.definitions}
