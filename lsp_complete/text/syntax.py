"""Parsing a text and matching its language's query. Knows captures; what they add up to is `symbols`' matter.

A folder of `grammars/` may hold `symbols.scm`, a tree-sitter query. Its captures:

* `@definition.<kind>` on a whole definition and `@name` on its name; optional: `@body` (the header ends where it
  begins), `@doc` (the inside of a docstring), `@base` (a base type), `@parent` (an owner that is named in the
  definition instead of standing around it). All matches for one `@name` make one definition; the first pattern of the
  file among them gives kind and extent.
* `@scope` with `@name`: what owns the definitions inside it and is none itself (Rust's `impl`).
* `@reference` on an identifier that is used.
* `@import` on the statement, `@module`, `@imported` on each name.
* `@only` with `(#set! only "a b")`: the pattern counts only where the captured text is one of these words. The
  query's text predicates (`#eq?` …) do not work here: they read UTF-8, and we may parse UTF-16.

No callback is passed to a query cursor: with one, tree-sitter 0.26 crashes.
"""

import logging
import re
import threading
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from time import thread_time

import tree_sitter

from lsp_complete.text.languages import Language, grammar_folder

# Above this a file is generated or data, and parsing it (about 0.1 s) would be felt.
MAX_PARSE_CHARACTERS = 500_000
# CPU time. 500,000 characters of real code take a tenth of it; broken code can take time quadratic in its length.
MAX_PARSE_S = 1.0
# Open angle brackets cost the C# and Java grammars quadratic time in one uninterruptible step: 3,000 cost 0.3 s.
MAX_OPEN_ANGLES = 3_000
# Nor can it be interrupted in a run of one to eight characters again and again, `->->->`, where many grammars take
# quadratic time: 2,000 characters cost 0.3 s. No file of the standard library or of /usr/include has a run of 500.
_RUN_CHARACTERS, _MAX_PERIOD = 500, 8
# How much a parser reads between two looks at the clock.
STEP_BYTES = 4096
# Partial matches a query may hold at once: thousands of times what real code needs, and a bound on memory.
MAX_PARTIAL_MATCHES = 65_536
# The densest code has 40 matches in 1,000 characters; a file with more than this is a table, and would fill an index.
MAX_MATCHES = 50_000

# UTF-16 has two units for these, and a lone surrogate has no encoding. To a parser any other character will do.
_WIDE = re.compile("[\ud800-\udfff\U00010000-\U0010ffff]")
_ROLE = re.compile(r"@(definition\.\w+|scope|reference|import)\b")
_log = logging.getLogger(__name__)
_thread = threading.local()

Captures = dict[str, list[tree_sitter.Node]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """`role` is its main capture: `scope`, `reference`, `import` or `definition.<kind>`."""

    role: str
    only: frozenset[str]


@dataclass(frozen=True, slots=True)
class Grammar:
    language: tree_sitter.Language
    query: tree_sitter.Query
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """What the query found: the index of a pattern and its captures, in no order to rely on.

    An offset in characters is a node's byte >> `shift`.
    """

    patterns: tuple[Pattern, ...] = ()
    found: list[tuple[int, Captures]] = field(default_factory=list)
    shift: int = 0


def matches(text: str, language: Language, *, references: bool = True) -> Matches:
    """Nothing for a language without grammar or query, and for a text that is too long, too slow or a table. Without
    references, which are most of all, matching takes half of the time."""
    if _is_too_much(text):
        return Matches()
    grammar = _grammar(language, references) if language.grammar_package else None
    if grammar is None:
        return Matches()
    shift = 0 if text.isascii() else 1
    tree = _parse(text, grammar.language, shift)
    if tree is None:
        return Matches()
    cursor = tree_sitter.QueryCursor(grammar.query, match_limit=MAX_PARTIAL_MATCHES)
    found = cursor.matches(tree.root_node)
    return Matches(grammar.patterns, found, shift) if len(found) <= MAX_MATCHES else Matches()


@dataclass(frozen=True, slots=True)
class Tree:
    """A syntax tree that speaks of characters: of `text`, each of `1 << shift` bytes."""

    tree: tree_sitter.Tree
    language: tree_sitter.Language
    text: str
    shift: int

    @property
    def root(self) -> tree_sitter.Node:
        return self.tree.root_node

    @property
    def has_error(self) -> bool:
        return self.root.has_error

    def replaced(self, start: int, end: int, text: str) -> "Tree | None":
        """The tree with `text` in the place of what stands from `start` to `end`. What lies around it is not parsed
        again, so it costs a fraction. None where it is too much or too slow."""
        whole = self.text[:start] + text + self.text[end:]
        if _is_too_much(whole):
            return None
        if not self.shift and not text.isascii():
            return _tree(whole, self.language)
        old = self.tree.copy()
        ends = [(self.text, start), (self.text, end), (whole, start + len(text))]
        first, second, third = (offset << self.shift for _, offset in ends)
        old.edit(first, second, third, *(_point(*one, self.shift) for one in ends))
        return _tree(whole, self.language, old, self.shift)

    def errors(self) -> list[tuple[int, int]]:
        """Start and end of the pieces that fit nowhere, and of what is missing. What has no node of its own, as the end
        of a line between two statements, is somewhere in the innermost node that it is missing in."""
        found, nodes = list[tuple[int, int]](), [self.root] if self.has_error else []
        while nodes:
            node = nodes.pop()
            inner = [child for child in node.children if child.has_error]
            if node.is_error or node.is_missing or not inner:
                found.append((node.start_byte >> self.shift, node.end_byte >> self.shift))
            nodes += inner
        return found

    def around(self, offset: int) -> list[tuple[str, int, int]]:
        """Kind, start and end of the nodes that hold the character before `offset`, and those around the place itself:
        innermost first."""
        found = []
        for first in dict.fromkeys((max(0, offset - 1), offset)):
            node = self.root.descendant_for_byte_range(first << self.shift, offset << self.shift)
            while node is not None:
                found.append((node.type, node.start_byte >> self.shift, node.end_byte >> self.shift))
                node = node.parent
        return found


def parse(text: str, language: Language) -> Tree | None:
    """None for a language without grammar, and for a text that is too long or too slow."""
    grammar = _loaded(language) if language.grammar_package and not _is_too_much(text) else None
    return _tree(text, grammar) if grammar is not None else None


def _tree(
    text: str, language: tree_sitter.Language, old: tree_sitter.Tree | None = None, shift: int | None = None
) -> Tree | None:
    shift = (0 if text.isascii() else 1) if shift is None else shift
    tree = _parse(text, language, shift, old)
    return Tree(tree, language, text, shift) if tree is not None else None


def _point(text: str, offset: int, shift: int) -> tuple[int, int]:
    """Row and column of an offset, as tree-sitter counts them."""
    return text.count("\n", 0, offset), (offset - text.rfind("\n", 0, offset) - 1) << shift


def _is_too_much(text: str) -> bool:
    if len(text) > MAX_PARSE_CHARACTERS or text.count("<") - text.count(">") > MAX_OPEN_ANGLES:
        return True
    data = text.encode("utf-8", "replace").translate(None, b" \t\r\n")
    starts = range(0, len(data) - _RUN_CHARACTERS, _RUN_CHARACTERS)
    return any(_repeats(data[start : start + _RUN_CHARACTERS]) for start in starts)


def _repeats(data: bytes) -> bool:
    return any(data[period:] == data[:-period] for period in range(1, _MAX_PERIOD + 1))


def _parse(
    text: str, language: tree_sitter.Language, shift: int, old: tree_sitter.Tree | None = None
) -> tree_sitter.Tree | None:
    """The tree, or None where parsing took more than its time. `old` is that of a text like this one."""
    data = _WIDE.sub("\ufffd", text).encode("utf-16-le") if shift else text.encode()
    reader = _Reader(data)
    try:
        parse = tree_sitter.Parser(language).parse
        parse = parse if old is None else partial(parse, old_tree=old)
        tree = parse(reader.read, encoding="utf16le" if shift else "utf8")
    except ValueError:
        return None
    return None if reader.late else tree


class _Reader:
    """Feeds a parser in steps; when time is up, the text ends.

    tree-sitter 0.26 never releases what `read` returns, so one buffer per thread serves all files. Its progress
    callback would be the plain way, but it crashes the process when a signal arrives inside it.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._end = thread_time() + MAX_PARSE_S
        self._buffer: bytearray = _thread.__dict__.setdefault("buffer", bytearray())
        self.late = False

    def read(self, offset: int, _point: object) -> bytearray:
        self.late = self.late or thread_time() > self._end
        self._buffer[:] = b"" if self.late else self._data[offset : offset + STEP_BYTES]
        return self._buffer


@cache
def _grammar(language: Language, references: bool) -> Grammar | None:
    source = _query_source(language.key, references)
    grammar = _loaded(language) if source else None
    if grammar is None:
        return None
    source, query = _compile(grammar, source)
    patterns = tuple(_pattern(query, index, source.encode()) for index in range(query.pattern_count))
    return Grammar(grammar, query, patterns)


@cache
def _loaded(language: Language) -> tree_sitter.Language | None:
    """Without its query, which takes a tenth of a second to compile."""
    try:
        module = import_module(language.grammar_package.replace("-", "_"))
        return tree_sitter.Language(getattr(module, language.grammar_function)())
    except (ImportError, AttributeError, ValueError) as error:
        _log.warning("no grammar for %s: %s", language.name, error)
        return None


def _query_source(key: str, references: bool) -> str:
    """The paragraphs of a query, with those for references or without."""
    path = grammar_folder() / key / "symbols.scm"
    parts = path.read_text(encoding="utf-8").split("\n\n") if path.is_file() else []
    return "\n\n".join(part for part in parts if references or "@reference" not in part)


def _compile(language: tree_sitter.Language, source: str) -> tuple[str, tree_sitter.Query]:
    """The query; of a grammar whose nodes have changed, the paragraphs of it that still compile."""
    try:
        return source, tree_sitter.Query(language, source)
    except tree_sitter.QueryError as error:
        _log.warning("parts of the query for %s are skipped: %s", language.name, error)
    source = "\n\n".join(part for part in source.split("\n\n") if _compiles(language, part))
    return source, tree_sitter.Query(language, source)


def _compiles(language: tree_sitter.Language, source: str) -> bool:
    try:
        tree_sitter.Query(language, source)
    except tree_sitter.QueryError:
        return False
    return True


def _pattern(query: tree_sitter.Query, index: int, source: bytes) -> Pattern:
    text = source[query.start_byte_for_pattern(index) : query.end_byte_for_pattern(index)].decode()
    capture = _ROLE.search(text)
    only = query.pattern_settings(index).get("only")
    return Pattern(capture[1] if capture else "", frozenset(only.split()) if only else frozenset())
