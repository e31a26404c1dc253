"""What a text defines, uses and imports.

Knows no language and no file: a folder of `grammars/` says what to look for, `syntax` finds it, and this module makes
values of it. Offsets are characters. Nothing here raises; the worst result is an empty one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from tree_sitter import Node

from lsp_complete.text.languages import Language
from lsp_complete.text.syntax import Captures, Matches, matches

# A longer header, or first line of a comment, says little more and costs prompt.
MAX_SIGNATURE_CHARACTERS = 200
_SEPARATORS = ".:\\ "
# What a grammar may count as a part of a name: `:name`, `@name`, `#name`, 'name'.
_SIGILS = ":@#\"'`"
_QUOTES = "\"'`<>"
_ATTRIBUTES = ("@", "#[")
_TAGS = re.compile(r"^<\w+>|</\w+>$")
# How far above a definition its comment may begin.
MAX_COMMENT_LINES = 100
# Deeper definitions belong to the outermost ones: no program nests so, and each name would be repeated at every depth.
MAX_NESTING = 30

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
# Letters beyond ASCII count as lower case: `re` has no class for upper case.
_SUBWORD = re.compile(r"[A-Z]+(?![^\W\dA-Z_])|[A-Z]?[^\W\dA-Z_]+|\d+")


class SymbolKind(StrEnum):
    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    INTERFACE = "interface"
    ENUM = "enum"
    STRUCT = "struct"
    TYPE = "type"
    VARIABLE = "variable"
    CONSTANT = "constant"
    FIELD = "field"
    MODULE = "module"
    MACRO = "macro"


@dataclass(frozen=True, slots=True)
class Definition:
    """`start` and `end` hold the whole definition.

    `signature` is its header on one line without the body, `doc` the first line of its docstring or of the comment
    above it, `parent` the dotted names of what it belongs to.
    """

    name: str
    kind: SymbolKind
    start: int
    end: int
    signature: str
    doc: str
    parent: str
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that is called, used as a type or read as an attribute."""

    name: str
    start: int


@dataclass(frozen=True, slots=True)
class Import:
    """`module` as it is written, without quotes; no `names` where the whole module is imported."""

    module: str
    names: tuple[str, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Symbols:
    """Each part in the order of the text."""

    definitions: tuple[Definition, ...] = ()
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()


_FUNCTIONS = {SymbolKind.FUNCTION, SymbolKind.METHOD}
# None is a scope: a part of a type that stands elsewhere.
_TYPES = {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.STRUCT, None}


def symbols(text: str, language: Language, *, references: bool = True) -> Symbols:
    """Empty for a language without a grammar, and for a text that is too long, too slow to parse or a table of data."""
    found = _Collector(text, matches(text, language, references=references)).collect()
    definitions = tuple(_Outline(text, language).definitions(found.drafts.values()))
    for start in found.drafts:
        found.references.pop(start, None)
    return Symbols(
        definitions,
        tuple(Reference(text[start:end], start) for start, end in sorted(found.references.items())),
        tuple(Import(module, tuple(names), start) for (start, module), names in sorted(found.imports.items())),
    )


def identifiers(text: str) -> list[str]:
    """Every word that could be a name, keywords and words of comments included, in order and with repetitions."""
    return _IDENTIFIER.findall(text)


def subwords(identifier: str) -> list[str]:
    """The words of a name in lower case: those of `getHTTPResponse2` are get, http, response and 2."""
    return [word.lower() for word in _SUBWORD.findall(identifier)]


@dataclass(slots=True)
class _Draft:
    """A definition while its matches come in; `kind` is None for a scope."""

    name: str
    name_start: int
    pattern: int
    kind: SymbolKind | None = None
    start: int = 0
    end: int = 0
    body: int = -1
    doc: str = ""
    parents: list[str] = field(default_factory=list)
    bases: dict[str, None] = field(default_factory=dict)


class _Collector:
    """Sorts matches into drafts by the start of their name, references by start, imports by start and module."""

    def __init__(self, text: str, found: Matches) -> None:
        self._text = text
        self._found = found
        self.drafts: dict[int, _Draft] = {}
        self.references: dict[int, int] = {}
        self.imports: dict[tuple[int, str], dict[str, None]] = {}

    def collect(self) -> "_Collector":
        shift = self._found.shift
        roles = [pattern.role for pattern in self._found.patterns]
        for index, captures in self._found.found:
            if roles[index] == "reference":
                for node in captures["reference"]:
                    self.references[node.start_byte >> shift] = node.end_byte >> shift
            elif self._counts(index, captures):
                self._add(index, roles[index], captures)
        return self

    def _counts(self, index: int, captures: Captures) -> bool:
        only = self._found.patterns[index].only
        return not only or self._text_of(captures["only"][0]) in only

    def _add(self, index: int, role: str, captures: Captures) -> None:
        if role == "import":
            self._import(captures)
            return
        draft = self._draft(index, role, captures)
        if "body" in captures and draft.pattern == index:
            draft.body = captures["body"][0].start_byte >> self._found.shift
        if "doc" in captures:
            draft.doc = self._text_of(captures["doc"][0])
        if "parent" in captures:
            draft.parents = [self._text_of(node) for node in captures["parent"]]
        for node in captures.get("base", ()):
            draft.bases[self._text_of(node)] = None

    def _draft(self, index: int, role: str, captures: Captures) -> _Draft:
        name, whole = captures["name"][0], captures[role][0]
        start = name.start_byte >> self._found.shift
        draft = self.drafts.get(start)
        if draft is None:
            draft = self.drafts[start] = _Draft(self._text_of(name).strip(_SIGILS), start, index)
        elif index >= draft.pattern:
            return draft
        draft.pattern, draft.body = index, -1
        draft.kind = None if role == "scope" else SymbolKind(role.removeprefix("definition."))
        draft.start, draft.end = whole.start_byte >> self._found.shift, whole.end_byte >> self._found.shift
        return draft

    def _import(self, captures: Captures) -> None:
        modules, names = captures.get("module", []), captures.get("imported", [])
        if modules:
            key = captures["import"][0].start_byte >> self._found.shift, self._module(modules, names)
            self.imports.setdefault(key, {}).update(dict.fromkeys(map(self._text_of, names)))

    def _module(self, modules: list[Node], names: list[Node]) -> str:
        """From its first part to its last; a name that is captured inside it (`java.util.UUID`) ends it."""
        start, end = modules[0].start_byte, modules[-1].end_byte
        inside = [name.start_byte for name in names if start <= name.start_byte < end]
        module = self._text[start >> self._found.shift : min([*inside, end]) >> self._found.shift]
        return module.rstrip(_SEPARATORS) if inside else module.strip(_QUOTES)

    def _text_of(self, node: Node) -> str:
        return self._text[node.start_byte >> self._found.shift : node.end_byte >> self._found.shift]


@dataclass(frozen=True, slots=True)
class _Owner:
    """A definition or scope, with its final kind, while those that stand in it are made."""

    draft: _Draft
    kind: SymbolKind | None

    def holds(self, other: _Draft) -> bool:
        """Strictly: of two names that one statement defines neither holds the other."""
        mine = self.draft
        return mine.start <= other.start and other.end <= mine.end and other.end - other.start < mine.end - mine.start


class _Outline:
    """Puts drafts in the order of the text and says what each belongs to."""

    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._mark = language.line_comment
        self._comments = _Comments(text, language)
        self._owners: list[_Owner] = []
        self._fields: set[tuple[str, str]] = set()

    def definitions(self, drafts: Iterable[_Draft]) -> Iterator[Definition]:
        for draft in sorted(drafts, key=lambda draft: (draft.start, -draft.end)):
            while self._owners and not self._owners[-1].holds(draft):
                self._owners.pop()
            kind = self._kind(draft)
            if kind is not None and self._is_wanted(draft, kind):
                yield self._definition(draft, kind)
            if len(self._owners) < MAX_NESTING:
                self._owners.append(_Owner(draft, kind))

    def _kind(self, draft: _Draft) -> SymbolKind | None:
        in_type = bool(self._owners) and self._owners[-1].kind in _TYPES
        if draft.kind is SymbolKind.FUNCTION and (in_type or draft.parents):
            return SymbolKind.METHOD
        if draft.kind is SymbolKind.VARIABLE:
            return SymbolKind.FIELD if in_type else SymbolKind.CONSTANT if draft.name.isupper() else draft.kind
        return draft.kind

    def _is_wanted(self, draft: _Draft, kind: SymbolKind) -> bool:
        """A variable of a function is of no use elsewhere, nor is a field's second assignment."""
        if kind is SymbolKind.VARIABLE or kind is SymbolKind.CONSTANT:
            return bool(draft.name) and not any(owner.kind in _FUNCTIONS for owner in self._owners)
        if kind is SymbolKind.FIELD:
            field_ = self._parent(draft, kind), draft.name
            is_new = field_ not in self._fields
            self._fields.add(field_)
            return is_new and bool(draft.name)
        return bool(draft.name)

    def _definition(self, draft: _Draft, kind: SymbolKind) -> Definition:
        return Definition(
            name=draft.name,
            kind=kind,
            start=draft.start,
            end=draft.end,
            signature=_signature(self._text, draft, self._mark),
            doc=_first_line(draft.doc) or self._comments.above(draft.start),
            parent=self._parent(draft, kind),
            bases=tuple(draft.bases),
        )

    def _parent(self, draft: _Draft, kind: SymbolKind) -> str:
        """A field belongs to the type around the method that sets it."""
        owners = self._owners
        if kind is SymbolKind.FIELD:
            types = [index for index, owner in enumerate(owners, 1) if owner.kind in _TYPES]
            owners = owners[: types[-1]] if types else owners
        return ".".join([owner.draft.name for owner in owners] + draft.parents)


def _signature(text: str, draft: _Draft, mark: str) -> str:
    """The header without lines of comment, which begin with `mark`.

    Where annotations make a header too long, it begins on the line of the name.
    """
    end = draft.body if draft.body > draft.start else draft.end
    header = _folded(text, draft.start, end, mark)
    if len(header) > MAX_SIGNATURE_CHARACTERS:
        header = _folded(text, max(draft.start, text.rfind("\n", 0, draft.name_start) + 1), end, mark)
    if draft.name_start >= end:
        header += " " + _folded(text, draft.name_start, draft.end, mark)
    header = header.replace("( ", "(").replace(", )", ")").replace(" )", ")")
    return header[:MAX_SIGNATURE_CHARACTERS].rstrip(" {:=;,\\")


def _folded(text: str, start: int, end: int, mark: str) -> str:
    """On one line. Of a long text only what can count: white space rarely makes up three quarters of a header."""
    part = text[start : min(end, start + 4 * MAX_SIGNATURE_CHARACTERS)]
    if mark and mark in part:
        part = "\n".join(line for line in part.splitlines() if not line.lstrip().startswith(mark))
    return " ".join(part.split())


class _Comments:
    """The comments above definitions; each serves the first definition below it only."""

    def __init__(self, text: str, language: Language) -> None:
        self._text = text
        self._mark = language.line_comment
        self._blocks = {closer: opener for opener, closer in language.block_comments}
        self._closers = tuple(self._blocks)
        self._used: set[int] = set()

    def above(self, start: int) -> str:
        """The first line of the comment that ends on the line above; attributes and decorators may stand in between."""
        begin, line = self._line_before(start)
        while line.startswith(_ATTRIBUTES):
            begin, line = self._line_before(begin)
        is_line_comment = bool(self._mark) and line.startswith(self._mark)
        if begin in self._used or not (is_line_comment or line.endswith(self._closers)):
            return ""
        self._used.add(begin)
        return _first_line(self._line_comments(begin, line) if is_line_comment else self._block(begin, line))

    def _line_before(self, offset: int) -> tuple[int, str]:
        """Start and text of the line above that of `offset`."""
        end = self._text.rfind("\n", 0, offset)
        begin = self._text.rfind("\n", 0, max(end, 0)) + 1
        return begin, self._text[begin : max(end, 0)].strip()

    def _line_comments(self, begin: int, line: str) -> str:
        lines: list[str] = []
        while line.startswith(self._mark) and not line.startswith("#!") and len(lines) < MAX_COMMENT_LINES:
            lines.append(line)
            begin, line = self._line_before(begin)
        return "\n".join(reversed(lines))

    def _block(self, begin: int, line: str) -> str:
        """The inside of a block comment that ends with this line and begins one."""
        closer = next(closer for closer in self._closers if line.endswith(closer))
        end = self._text.index(line, begin) + len(line) - len(closer)
        start = self._text.rfind(self._blocks[closer], 0, end)
        if start < 0 or self._text[self._text.rfind("\n", 0, start) + 1 : start].strip():
            return ""
        return self._text[start + len(self._blocks[closer]) : end]


def _first_line(comment: str) -> str:
    """Without comment marks, and without the XML tags of C#."""
    for line in comment.splitlines():
        words = _TAGS.sub("", line.strip().lstrip("/*#!- ")).rstrip("*/-=# ")
        if words:
            return words[:MAX_SIGNATURE_CHARACTERS]
    return ""
