"""What becomes of the model's text before it is shown: the filters, in their order, and when the stream can be closed.

    cut ............... marker, line, end of the block, loop        cut.py, block.py, markers.py
    indentation ....... not twice on an indented line               indentation.py
    repeats ........... not the lines above, not those below        repeats.py
    rest of the line .. merged with, never shown twice              merge.py
    line ends ......... the document's own
    credentials ....... none                                        credentials.py

Pure functions of a document, an offset and a text. Knows neither the model nor the editor, and never raises.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from lsp_complete.completion.credentials import brings_credential
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.cut import cut
from lsp_complete.completion.indentation import reindented
from lsp_complete.completion.merge import merged
from lsp_complete.completion.repeats import repeats_above, without_repeat_below
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document, with_eol

# A model that has lost its way writes the same few letters again and again; rulers of `-` or `=` are meant.
_RUNAWAY = re.compile(r"([^\W_]{1,8}?)\1{11,}")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text for the cursor. It takes the place of `num_replaced` characters right of it, all on its line."""

    text: str
    num_replaced: int = 0


class Withheld(StrEnum):
    """Why the model's text is not shown."""

    BLANK = "blank"
    RUNAWAY = "runaway"
    REPEATS_ABOVE = "repeats-above"
    REPEATS_BELOW = "repeats-below"
    REPEATS_REST = "repeats-rest"
    DOES_NOT_FIT = "does-not-fit"
    FILTERED = "filtered"
    CREDENTIAL = "credential"


def postprocess(document: Document, offset: int, mode: Mode, raw: str) -> Insertion | None:
    """What to show of the text the model has written so far, if anything."""
    outcome = judge(document, offset, mode, raw)
    return outcome if isinstance(outcome, Insertion) else None


def judge(document: Document, offset: int, mode: Mode, raw: str) -> Insertion | Withheld:
    """As `postprocess`, with the reason where there is nothing to show."""
    cursor = _cursor(document, offset)
    text = cut(cursor, mode, raw).text
    if not text.strip():
        return Withheld.BLANK
    if _RUNAWAY.search(text):
        return Withheld.RUNAWAY
    text = reindented(cursor, text)
    if repeats_above(cursor, text):
        return Withheld.REPEATS_ABOVE
    text = without_repeat_below(cursor, text)
    if not text.strip():
        return Withheld.REPEATS_BELOW
    fitted = merged(cursor, text)
    if fitted is None:
        return Withheld.DOES_NOT_FIT
    text, num_replaced = fitted
    if not text.strip() or text.rstrip() == cursor.rest[:num_replaced].rstrip():
        return Withheld.REPEATS_REST
    if brings_credential(document, cursor.offset, text, num_replaced):
        return Withheld.CREDENTIAL
    return Insertion(with_eol(text, document.eol), num_replaced)


def enough(document: Document, offset: int, mode: Mode, text_so_far: str) -> bool:
    """Has the stream brought all it can: would any further text leave the outcome as it is?"""
    return cut(_cursor(document, offset), mode, text_so_far).settled


def accept(document: Document, offset: int, insertion: Insertion) -> str:
    """The document's text once the insertion is accepted."""
    cursor = _cursor(document, offset).offset
    return document.text[:cursor] + insertion.text + document.text[cursor + insertion.num_replaced :]


def _cursor(document: Document, offset: int) -> Cursor:
    return Cursor(document, max(0, min(offset, len(document.text))))
