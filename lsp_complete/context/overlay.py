"""Open documents, which are ahead of their files: the same questions as to the index, answered from memory."""

from dataclasses import dataclass, field

from lsp_complete.context.parse import ParsedFile, parse_text
from lsp_complete.context.queries import Chunk, FoundDefinition, definition_of, import_of
from lsp_complete.text.symbols import Definition, Import


@dataclass(frozen=True, slots=True)
class OpenFile:
    """`chunks` has the numbers of those that hold a word."""

    text: str
    parsed: ParsedFile
    definitions: dict[str, list[Definition]]
    chunks: dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Overlay:
    """Open documents by relative path. Immutable, so that a question sees one state of all of them."""

    files: dict[str, OpenFile] = field(default_factory=dict)

    def with_file(self, path: str, file: OpenFile) -> "Overlay":
        return Overlay({**self.files, path: file})

    def without_file(self, path: str) -> "Overlay":
        return Overlay({name: file for name, file in self.files.items() if name != path})

    def definitions(self, name: str) -> list[FoundDefinition]:
        return [
            FoundDefinition(path, file.parsed.language, definition)
            for path, file in self.files.items()
            for definition in file.definitions.get(name, ())
        ]

    def definitions_in(self, path: str) -> list[Definition]:
        return [definition_of(row) for row in self.files[path].parsed.definitions]

    def imports_of(self, path: str) -> list[Import]:
        return [import_of(row) for row in self.files[path].parsed.imports]

    def chunks(self, word: str) -> list[Chunk]:
        return [Chunk(path, number) for path, file in self.files.items() for number in file.chunks.get(word, ())]


def open_file(path: str, text: str) -> OpenFile:
    """Parses the text, which takes milliseconds for a long one."""
    parsed = parse_text(path, text)
    definitions: dict[str, list[Definition]] = {}
    for row in parsed.definitions:
        definitions.setdefault(row[0], []).append(definition_of(row))
    chunks: dict[str, list[int]] = {}
    for number, words in enumerate(parsed.chunks):
        for word in set(words.split()):
            chunks.setdefault(word, []).append(number)
    return OpenFile(text, parsed, definitions, chunks)
