"""What becomes of the model's text before it is shown: the filters, in their order, and when the stream can be closed.

    marker, line, block, loop ... how much of it is wanted                   cut.py, block.py, markers.py
    indentation ................. not twice on an indented line              indentation.py
    dot ......................... no blank behind it
    repeats-above, -below ....... not the lines above, not those below       repeats.py
    rest-of-line ................ merged with, never shown twice             merge.py
    brackets .................... none too many, or nothing that breaks off  merge.py, damage.py
    line-ends ................... the document's own

and what is not shown at all: `Withheld`. Pure functions of a document, an offset and a text. Knows neither the model
nor the editor, and never raises.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum

from lsp_complete.completion.brackets import lacks_quote
from lsp_complete.completion.credentials import brings_credential
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.cut import cut
from lsp_complete.completion.damage import undamaging
from lsp_complete.completion.indentation import reindented
from lsp_complete.completion.lines import code_of
from lsp_complete.completion.merge import merged, without_extra
from lsp_complete.completion.repeats import repeats_above, without_repeat_below
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document, with_eol

# A model that has lost its way writes the same few letters again and again; rulers of `-` or `=` are meant.
_RUNAWAY = re.compile(r"([^\W_]{1,8}?)\1{11,}")
# A dot behind a value, not one of `1.` or `..`; and a name behind a blank, not a sentence.
_DOT = re.compile(r"(?:[^\W\d]\w*|[)\]])\.$")
_NAME = re.compile(r" +[a-z_]")
_LITTLE = frozenset(")]};,\"'`")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text for the cursor. It takes the place of `num_replaced` characters right of it, all on its line. `filters`
    names those that have changed what the model wrote."""

    text: str
    num_replaced: int = 0
    filters: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A text on its way through the filters, with the names of those that have changed it."""

    text: str
    filters: tuple[str, ...]

    def become(self, name: str, text: str) -> "_Draft":
        is_same = text.rstrip() == self.text.rstrip()
        return _Draft(text, self.filters if is_same else (*self.filters, name))


class Withheld(StrEnum):
    """Why the model's text is not shown."""

    BLANK = "blank"
    RUNAWAY = "runaway"
    REPEATS_ABOVE = "repeats-above"
    REPEATS_BELOW = "repeats-below"
    REPEATS_REST = "repeats-rest"
    DOES_NOT_FIT = "does-not-fit"
    TOO_LITTLE = "too-little"
    BREAKS_SYNTAX = "breaks-syntax"
    FILTERED = "filtered"
    CREDENTIAL = "credential"


def postprocess(document: Document, offset: int, mode: Mode, raw: str) -> Insertion | None:
    """What to show of the text the model has written so far, if anything."""
    outcome = judge(document, offset, mode, raw)
    return outcome if isinstance(outcome, Insertion) else None


def judge(document: Document, offset: int, mode: Mode, raw: str) -> Insertion | Withheld:
    """As `postprocess`, with the reason where there is nothing to show."""
    cursor = _cursor(document, offset)
    wanted = cut(cursor, mode, raw)
    if not wanted.text.strip():
        return Withheld.BLANK
    if _RUNAWAY.search(wanted.text):
        return Withheld.RUNAWAY
    draft = _Draft(wanted.text, (wanted.by,) if wanted.by else ())
    draft = draft.become("indentation", reindented(cursor, draft.text))
    draft = draft.become("dot", _behind_dot(cursor, draft.text))
    if repeats_above(cursor, draft.text):
        return Withheld.REPEATS_ABOVE
    draft = draft.become("repeats-below", without_repeat_below(cursor, draft.text))
    if not draft.text.strip():
        return Withheld.REPEATS_BELOW
    return _joined(cursor, draft)


def _joined(cursor: Cursor, draft: _Draft) -> Insertion | Withheld:
    """The text as it stands in the cursor's line, if it does no harm there."""
    draft = draft.become("brackets", without_extra(cursor, draft.text))
    fitted = merged(cursor, draft.text)
    if fitted is None:
        return Withheld.DOES_NOT_FIT
    text, num_replaced = fitted
    if not text.strip() or text.rstrip() == cursor.rest[:num_replaced].rstrip():
        return Withheld.REPEATS_REST
    draft = draft.become("rest-of-line", text)
    if _is_too_little(cursor, text):
        return Withheld.TOO_LITTLE
    if brings_credential(cursor.document, cursor.offset, text, num_replaced):
        return Withheld.CREDENTIAL
    whole = undamaging(cursor, text, num_replaced)
    if whole is None:
        return Withheld.BREAKS_SYNTAX
    draft = draft.become("brackets", whole)
    draft = draft.become("line-ends", with_eol(whole, cursor.document.eol))
    return Insertion(draft.text, num_replaced, draft.filters)


def enough(document: Document, offset: int, mode: Mode, text_so_far: str) -> bool:
    """Has the stream brought all it can: would any further text leave the outcome as it is?"""
    return cut(_cursor(document, offset), mode, text_so_far).settled


def accept(document: Document, offset: int, insertion: Insertion) -> str:
    """The document's text once the insertion is accepted."""
    cursor = _cursor(document, offset).offset
    return document.text[:cursor] + insertion.text + document.text[cursor + insertion.num_replaced :]


def _behind_dot(cursor: Cursor, text: str) -> str:
    """A name follows a dot at once. In a sentence of a comment a blank does, and often a capital."""
    is_code = code_of(cursor.before, cursor.language) == cursor.before and not lacks_quote(cursor.before)
    is_named = is_code and _DOT.search(cursor.before) and _NAME.match(text)
    return text.lstrip(" ") if is_named else text


def _is_too_little(cursor: Cursor, text: str) -> bool:
    """Is it one character that ends something, on a line that has others? An editor has it closed already, or it is
    typed as fast as it is accepted."""
    return not cursor.starts_line and text.strip() in _LITTLE


def _cursor(document: Document, offset: int) -> Cursor:
    return Cursor(document, max(0, min(offset, len(document.text))))
