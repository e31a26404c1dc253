"""One line or a block: how much to ask for, by what stands around the cursor.

Between the two halves of a line only one line fits. A blank line, and the end of a line that opens a block, have room
for a block. Anywhere else the line is finished first: it is short, comes fast, and is right more often.
"""

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import opens_block
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document

# To the right of the cursor these are what an editor closes by itself, not code.
_CLOSERS = ")]};, \t\"'`"


def choose_mode(document: Document, offset: int) -> Mode:
    cursor = Cursor(document, max(0, min(offset, len(document.text))))
    if cursor.rest.strip(_CLOSERS):
        return Mode.LINE
    if cursor.starts_line and cursor.ends_line:
        return Mode.BLOCK
    return Mode.BLOCK if _ends_header(cursor) else Mode.LINE


def _ends_header(cursor: Cursor) -> bool:
    """Does the line open a block of statements? An argument or an expression goes on where it is."""
    expression = cursor.before.rstrip().endswith(("(", "[", "=>"))
    return not cursor.starts_line and not expression and opens_block(cursor.before, cursor.language)
