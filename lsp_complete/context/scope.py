"""What stands at a cursor: behind which dot, in which call, in which class; and what types a text gives its names.

By patterns that many languages share, on a text that is being typed and does not parse. Knows no index: a type is a
word that somebody else may find a class for.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsp_complete.context.snippets import Question
from lsp_complete.text.symbols import Definition, SymbolKind

CLASSES = {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.STRUCT, SymbolKind.ENUM}
# Words for the object whose class is being written, and for what it has from its bases.
SELF = {"self", "this", "cls", "super", "Self"}
# An expression before a dot is rarely longer; more would be looked through with each keystroke.
_BEFORE = 160
# Lines above in which an open bracket belongs to the call that is being typed.
_CALL_CHARACTERS = 400
_DOT = r"\s*(?:\?\.|!\.|\.|->|::)\s*"
_CHAIN = rf"[A-Za-z_$][\w$]*(?:\(\))?(?:{_DOT}[A-Za-z_$][\w$]*(?:\(\))?)*"
_RECEIVER = re.compile(rf"({_CHAIN})(?:\[[^\]\[]*\])?{_DOT}\w*$")
_WORD_AT_END = re.compile(rf"({_CHAIN})$")
_USED = re.compile(rf"(?<![\w.])([A-Za-z_$][\w$]*){_DOT}[A-Za-z_]")
_TYPE = r"([^=;{}\n]{1,80})"
_ANNOTATION = re.compile(rf"[?!]*\s*:\s*{_TYPE}")
_ASSIGNMENT = re.compile(rf"\s*:?=(?!=)\s*{_TYPE}")
_TYPE_BEFORE = re.compile(r"([A-Z]\w*)[>\]?*&]*\s+[*&]*$")
_END_OF_TYPE = re.compile(r",(?![^\[<]*[\]>])|\)")
_MAX_TYPE = 40
# Where a name stands that is looked at for its type, above the cursor and below; and words that are tried.
_MAX_PLACES, _MAX_TYPES = 40, 8
_WORD = re.compile(r"[^\W\d]\w*")
_TYPED = re.compile(r"\w+\Z")
# What stands around a type and is none.
_NO_TYPES = frozenset(
    re.findall(r"\w+", "Optional Promise Array List Union readonly await new typeof None null undefined Any any")
)


@dataclass(frozen=True, slots=True)
class Place:
    """`receiver` stands before the dot behind which is typed, or may be about to get one; `callees` are the calls whose
    arguments are being typed, the innermost first."""

    receiver: str = ""
    callees: tuple[str, ...] = ()


def word_start(text: str, offset: int) -> int:
    """Where the word that is being typed begins. It changes with each key, so it is left out of most questions."""
    match = _TYPED.search(text, max(0, offset - _BEFORE), offset)
    return match.start() if match else offset


def place_at(text: str, offset: int) -> Place:
    line_start = max(text.rfind("\n", 0, offset) + 1, offset - _BEFORE)
    line = text[line_start:offset]
    match = _RECEIVER.search(line) or _WORD_AT_END.search(line)
    receiver = re.sub(_DOT, ".", match[1]).replace("()", "") if match else ""
    return Place(receiver, tuple(_callees(text[max(0, offset - _CALL_CHARACTERS) : offset])))


def receivers_near(text: str, offset: int, num_characters: int = 1200) -> list[str]:
    """Names before a dot in the lines above, the nearest first, each once."""
    found = _USED.findall(text, max(0, offset - num_characters), offset)
    return list(dict.fromkeys(reversed(found)))


def owners_at(question: Question) -> list[Definition]:
    """The classes around the cursor, the innermost first."""
    around = (one for one in question.symbols.definitions if one.start <= question.offset <= one.end)
    return [one for one in around if one.kind in CLASSES][::-1]


def types_of(name: str, text: str, offset: int) -> list[str]:
    """Words that may name the type of a variable or of a member of the object itself, the likeliest first. A called
    function's name is one of them: its result may have a type."""
    last = name.rpartition(".")[2]
    words: dict[str, None] = {}
    for place in _places(last, text, offset):
        if len(words) < _MAX_TYPES:
            words |= dict.fromkeys(_types_at(text, place, place + len(last)))
    return [word for word in words if word not in _NO_TYPES and word != last][:_MAX_TYPES]


def _places(name: str, text: str, offset: int) -> Iterator[int]:
    """Where a word stands, from the cursor upwards, then from it downwards."""
    place, num = text.rfind(name, 0, offset), 0
    while place >= 0 and num < _MAX_PLACES:
        yield place
        place, num = text.rfind(name, 0, place), num + 1
    place, num = text.find(name, offset), 0
    while place >= 0 and num < _MAX_PLACES:
        yield place
        place, num = text.find(name, place + len(name)), num + 1


def _types_at(text: str, start: int, end: int) -> Iterator[str]:
    """`name: Type`, `name = Type(…)`, `Type name`."""
    if text[start - 1 : start].isalnum() or text[end : end + 1].isalnum():
        return
    if (behind := _ANNOTATION.match(text, end)) or (behind := _ASSIGNMENT.match(text, end)):
        yield from _type_words(behind[1])
    elif before := _TYPE_BEFORE.search(text, max(0, start - _MAX_TYPE), start):
        yield before[1]


def result_words(signature: str) -> list[str]:
    """Words of the type that a function's header says it gives."""
    _, arrow, result = signature.rpartition("->")
    if not arrow:
        result = re.split(r"\)\s*:", signature)[-1] if re.search(r"\)\s*:", signature) else ""
    return [word for word in _type_words(result) if word not in _NO_TYPES]


def _type_words(text: str) -> list[str]:
    """Those before the arguments of a call, and before a comma that ends an annotation."""
    return _WORD.findall(_END_OF_TYPE.split(text.split("(")[0])[0])


def _callees(text: str) -> Iterator[str]:
    """Names before the brackets that are open at the end of a text."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        char = text[place]
        if char in ")]}":
            depth += 1
        elif char in "([{":
            depth -= 1
            if depth < 0:
                depth = 0
                match = _WORD_AT_END.search(text[max(0, place - _BEFORE) : place].rstrip()) if char == "(" else None
                if match:
                    yield re.sub(_DOT, ".", match[1]).replace("()", "")
