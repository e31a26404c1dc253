"""One line or a block: how much to ask for, by what stands around the cursor.

Between the two halves of a line only one line fits. A blank line, and the end of a line that opens a block, have room
for a block. Anywhere else the line is finished first: it is short, comes fast, and is right more often. What looks like
the end of a header is asked of the grammar: that of `{"a":`, `x:` or `"if {` is none. Nothing else is parsed.
"""

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import code_of, continues, opens_block
from lsp_complete.completion.window import around
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document
from lsp_complete.text.syntax import parse

# To the right of the cursor these are what an editor closes by itself, not code.
_CLOSERS = ")]};, \t\"'`"
# On either side of the cursor; a tenth of a millisecond.
_NEAR_CHARACTERS = 500
# What stands behind the cursor for the grammar to make sense of what is before it: a value, a type or a body.
_ANYTHING = " x"
# Kinds of nodes, in part, that hold what looks like the end of a header; the latter what ends in a colon.
_TEXT = ("comment", "string", "interpolation", "substitution")
_HOLD_COLON = ("pair", "lambda", "slice", "assignment", "parameter")


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
    is_like_one = not cursor.starts_line and not expression and opens_block(cursor.before, cursor.language)
    return is_like_one and (continues(cursor.before) or not _is_in_value(cursor))


def _is_in_value(cursor: Cursor) -> bool:
    """Does the line end in a string, a comment, or in something that a value or a type comes behind?"""
    above, below = around(cursor, "", _NEAR_CHARACTERS)
    code = code_of(cursor.before, cursor.language)
    tree = parse(above + code + _ANYTHING + cursor.rest + below, cursor.language)
    if tree is None:
        return False
    kinds = [kind for kind, _, _ in tree.around(len(above) + len(code))[:2]]
    holders = _TEXT + _HOLD_COLON if code.endswith(":") else _TEXT
    return any(holder in kind for kind in kinds for holder in holders)
