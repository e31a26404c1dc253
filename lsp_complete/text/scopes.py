"""Where in a text a cursor stands: in code, in a comment or in a string.

By the syntax tree, or without one by the line. Pure, and not for every keystroke: it parses the text, once or, where
that is broken off, a few times.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache

from lsp_complete.text.languages import Language
from lsp_complete.text.syntax import Tree, parse

_QUOTES = ('"', "'", "`")
# Code inside a string.
_HOLES = ("interpolation", "substitution", "expansion")
# What may end text of several lines in some language, and what then must be in it.
_ENDS = {"*/": "/*", "]]": "[[", ')"': 'R"(', '"#': 'r#"'}
# Shifts and C++'s streams look much like it, so few are tried.
_HERE = re.compile(r"<<[<~-]?[\"']?([A-Z_]\w*)")
_MAX_HERE = 2
_IN_TEXT = ("string", "comment", "heredoc", "nowdoc")


class Scope(StrEnum):
    CODE = "code"
    COMMENT = "comment"
    STRING = "string"


def scope_at(text: str, offset: int, language: Language) -> Scope:
    """The end of a line's comment counts as in it. So does the end of a comment or string that is not yet closed: what
    closes it is tried, and whether it does."""
    tree = parse(text, language)
    if tree is None:
        return _by_line(text, offset, language)
    scope = _scope_in(tree, text, offset)
    if scope is not Scope.CODE or not tree.has_error:
        return scope
    tried = (_scope_if_closed(text, offset, language, close) for close in _closers(text, offset, language))
    return next((scope for scope in tried if scope is not Scope.CODE), Scope.CODE)


@lru_cache(maxsize=64)
def ends_in_text(text: str, language: Language) -> bool:
    """Does a text, of whole lines, end inside a string, a here-document or a comment of several lines? What may close
    one is tried, and whether it does. Answers are kept, for a text that comes in pieces is asked about again."""
    at = len(text)
    trees = (parse(f"{text}x{close}", language) for close in _closers_of_several(text))
    return any(
        start < at < end and any(one in kind for one in _IN_TEXT)
        for tree in trees
        if tree is not None
        for kind, start, end in tree.around(at + 1)
    )


def _closers_of_several(text: str) -> Iterator[str]:
    quotes = (*(quote * 3 for quote in _QUOTES[:2]), *_QUOTES)
    yield from (quote for quote in quotes if text.count(quote) % 2)
    yield from (close for close, open_ in _ENDS.items() if open_ in text)
    for word in list(dict.fromkeys(_HERE.findall(text)))[-_MAX_HERE:]:
        yield from (f"\n{word}\n", f"\n{word};\n")


def _scope_in(tree: Tree, text: str, offset: int) -> Scope:
    """That of the innermost node around the cursor, or around the letter before it, which tells."""
    for kind, start, end in tree.around(offset):
        if any(hole in kind for hole in _HOLES) and start < offset < end:
            return Scope.CODE
        if "comment" in kind and (start < offset < end or (offset == end and _is_line_end(text, start, offset))):
            return Scope.COMMENT
        if ("string" in kind or "char" in kind) and start < offset < end:
            return Scope.STRING
    return Scope.CODE


def _is_line_end(text: str, start: int, offset: int) -> bool:
    """Whether a comment goes on where it ends: it takes all of its line and is not closed."""
    comment = text[start:offset]
    return text[offset : offset + 1] in ("", "\n", "\r") and not comment.endswith(("*/", "]]", "=end"))


def _closers(text: str, offset: int, language: Language) -> list[str]:
    """What may close something that was opened before the cursor."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    pairs = language.block_comments
    blocks = [close for open_, close in pairs if text.rfind(open_, 0, offset) > text.rfind(close, 0, offset)]
    triple = [quote * 3 for quote in _QUOTES[:2] if text.count(quote * 3, 0, offset) % 2]
    return [*blocks, *triple, *(quote for quote in _QUOTES if quote in line)]


def _scope_if_closed(text: str, offset: int, language: Language, close: str) -> Scope:
    tree = parse(text[:offset] + close + text[offset:], language)
    if tree is None:
        return Scope.CODE
    for kind, start, end in tree.around(offset):
        if end == offset + len(close) and start < offset:
            if "comment" in kind:
                return Scope.COMMENT
            if "string" in kind and close in text[start:offset]:
                return Scope.STRING
    return Scope.CODE


def _by_line(text: str, offset: int, language: Language) -> Scope:
    """A guess: behind what begins a comment at the start of its line, or behind an odd number of quotes."""
    line = text[max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1 : offset]
    if language.line_comment and line.lstrip().startswith(language.line_comment):
        return Scope.COMMENT
    return Scope.STRING if any(line.count(quote) % 2 for quote in _QUOTES[:1]) else Scope.CODE
