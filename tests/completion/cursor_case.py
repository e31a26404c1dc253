"""A document written as text with the cursor in it, and the one check that all filters go through.

Every case runs four times: the document with LF and with CRLF, the model's text with LF and with CRLF.
"""

from itertools import product

from lsp_complete.completion.postprocess import Insertion, Withheld, accept, enough, judge
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document, with_eol

CURSOR = "█"
EOLS = ("\n", "\r\n")


def at(marked: str, path: str = "a.py", eol: str = "\n") -> tuple[Document, int]:
    """The document without its cursor, and the cursor's offset."""
    text = with_eol(marked, eol)
    offset = text.index(CURSOR)
    return Document(f"file:///{path}", text.replace(CURSOR, ""), path), offset


def check(marked: str, raw: str, accepted: str, mode: Mode = Mode.BLOCK, path: str = "a.py") -> None:
    """Accepting what is made of the model's text `raw` gives the text `accepted`."""
    for eol, raw_eol in product(EOLS, EOLS):
        document, offset = at(marked, path, eol)
        outcome = judge(document, offset, mode, with_eol(raw, raw_eol))
        assert isinstance(outcome, Insertion), (outcome, eol, raw_eol)
        assert accept(document, offset, outcome) == with_eol(accepted, eol), (outcome, eol, raw_eol)


def check_withheld(marked: str, raw: str, reason: Withheld, mode: Mode = Mode.BLOCK, path: str = "a.py") -> None:
    for eol, raw_eol in product(EOLS, EOLS):
        document, offset = at(marked, path, eol)
        assert judge(document, offset, mode, with_eol(raw, raw_eol)) is reason, (eol, raw_eol)


def first_enough(marked: str, raw: str, mode: Mode = Mode.BLOCK, path: str = "a.py") -> str:
    """As much of the text, streamed character by character, as is asked for."""
    document, offset = at(marked, path)
    lengths = range(len(raw) + 1)
    return next((raw[:n] for n in lengths if enough(document, offset, mode, raw[:n])), raw)
