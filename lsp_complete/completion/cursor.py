"""Where the cursor stands: its line, the lines around it, and the line that opened the block it is in.

Lines come without their ends, whatever those are, so nothing that looks through a `Cursor` can see a carriage return.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lsp_complete.completion.lines import opens_block
from lsp_complete.text.document import Document, normalize_eol
from lsp_complete.text.languages import Language, language_of

# Characters that are cut into lines at once: most who look at the lines around look at a few.
_CHUNK = 2_000


@dataclass(frozen=True)
class Cursor:
    """`offset` lies within the document's text."""

    document: Document
    offset: int

    @cached_property
    def before(self) -> str:
        return self.document.before_on_line(self.offset)

    @cached_property
    def rest(self) -> str:
        return self.document.after_on_line(self.offset)

    @cached_property
    def language(self) -> Language:
        return language_of(self.document.path, self.document.language)

    @property
    def starts_line(self) -> bool:
        """Is nothing but indentation to the left?"""
        return not self.before.strip()

    @property
    def ends_line(self) -> bool:
        return not self.rest.strip()

    @property
    def above_line(self) -> bool:
        """Is the whole code of the line to the right, so that lines can be put above it?"""
        return self.starts_line and not self.ends_line

    @cached_property
    def header(self) -> str:
        """What stands left of the cursor; on a blank line the line above if that opens a block, else nothing."""
        if not self.starts_line:
            return self.before
        line = next(self.lines_above(), "")
        return line if opens_block(line, self.language) else ""

    def lines_above(self) -> Iterator[str]:
        """The lines above the cursor's that are not blank, nearest first."""
        document, end = self.document, self.offset - len(self.before)
        while end > 0:
            start = document.line_start(document.line_at(max(0, end - _CHUNK)))
            yield from reversed(_written(document.text[start:end]))
            end = start

    def lines_below(self) -> Iterator[str]:
        """The lines below that are not blank, nearest first; the cursor's own too where it stands above it."""
        document = self.document
        line = document.line_at(self.offset) + (not self.above_line)
        while line < document.num_lines:
            start = document.line_start(line)
            line = document.line_at(start + _CHUNK) + 1
            yield from _written(document.text[start : document.line_start(line) if line < document.num_lines else None])


def _written(text: str) -> list[str]:
    return [line.rstrip() for line in normalize_eol(text).split("\n") if line.strip()]
