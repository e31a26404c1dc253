"""What holds for any document, any cursor and anything a model may write."""

import re
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import is_closing
from lsp_complete.completion.markers import MARKERS
from lsp_complete.completion.mode import choose_mode
from lsp_complete.completion.postprocess import Insertion, accept, enough, judge
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document, with_eol

PYTHON = '''\
import os


class Total:
    """A sum of 😀."""

    def __init__(self, prices):
        self.prices = [price for price in prices if price]

    def compute(self, tax, scale=(1, 2)):
        total = 0
        for price in self.prices:
            if price > 0:
                total += price * (1 + tax)
            else:
                raise ValueError(f"negative: {price}")
        return round(
            total,
            2,
        )


print(Total([1, 2]).compute(0.2))
'''
BRACES = """\
import { a } from "b";

export class Cart {
\tadd(item, count = 1) {
\t\tif (count < 1) {
\t\t\tthrow new Error("none");
\t\t} else {
\t\t\tthis.items.push({ item, count });
\t\t}
\t\tthis.items.forEach((each) => {
\t\t\tconsole.log(each, "ß");
\t\t});
\t}
}
"""


@dataclass(frozen=True)
class Case:
    document: Document
    offset: int
    mode: Mode
    raw: str


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Code with a hole at a random place, and a text that runs on, or is put together from what goes wrong."""
    path, source = draw(st.sampled_from([("a.py", PYTHON), ("a.js", BRACES), ("a.rb", BRACES), ("a", PYTHON)]))
    eol = draw(st.sampled_from(["\n", "\r\n"]))
    line_ends = [index for index, char in enumerate(source) if char == "\n"]
    start = draw(st.integers(0, len(source)) | st.sampled_from(line_ends))
    end = draw(st.just(start) | st.integers(start, min(len(source), start + 60)) | st.sampled_from(line_ends))
    end = max(start, end)
    document = Document(f"file:///{path}", with_eol(source[:start] + source[end:], eol), path)
    offset = len(with_eol(source[:start], eol))
    runs_on = st.integers(0, 200).map(lambda length: source[start : end + length])
    pieces = st.lists(_pieces(source, start, end), max_size=6).map("".join)
    body = st.tuples(st.integers(0, 20), st.integers(2, 9)).map(lambda at: _lines(source, *at))
    raw = draw(st.one_of(pieces, runs_on, body, st.tuples(pieces | body, runs_on | body).map("".join)))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(raw)))
        raw = raw[:at] + draw(st.sampled_from(MARKERS)) + raw[at:]
    return Case(document, offset, draw(st.sampled_from(Mode)), raw)


def _lines(source: str, first: int, count: int) -> str:
    return "\n" + "\n".join(source.split("\n")[first : first + count])


LINE_ENDS = ["\n", "\r\n", "\r", "\n\n", "\n    ", "\n\t\t"]
PUNCTUATION = [" ", "    ", "\t", ")", "}", "]", "});", ",", ";", '"', "'", "😀", "𝒜𝒷", "\u2028", "\x0c", "\x00"]
CODE = [
    "if a:",
    "x = 1\n",
    "foo(",
    "{ a }",
    "end\n",
    "else:\n",
    "    });\n",
    "\t\t}\n",
    '"""\n',
    "`\n",
    "/*\n",
    "switch (a) {\n",
    "case 1:\n",
]


def _pieces(source: str, start: int, end: int) -> st.SearchStrategy[str]:
    suffix, lines = source[end:], source.split("\n")
    rest = suffix.partition("\n")[0]
    return st.one_of(
        st.sampled_from([source[start:end], suffix, rest, rest + rest, suffix[:20], suffix.lstrip()]),
        st.sampled_from([*MARKERS, "<|fim_", "<｜", "<"]),
        st.sampled_from(LINE_ENDS),
        st.sampled_from(PUNCTUATION),
        st.sampled_from(CODE),
        st.sampled_from([*lines, *(f"{line}\n" for line in lines)]),
        st.text(max_size=12),
    )


@settings(max_examples=200, deadline=None)
@given(cases())
def test_what_is_offered_keeps_the_document_and_says_nothing_twice(case: Case) -> None:
    outcome = judge(case.document, case.offset, case.mode, case.raw)
    if isinstance(outcome, Insertion):
        _check_marks(case, outcome)
        _check_document(case, outcome)
        _check_repeats(case, outcome)


def _check_marks(case: Case, insertion: Insertion) -> None:
    assert insertion.text.strip()
    assert not any(marker in insertion.text for marker in MARKERS)
    ends = set(re.findall(r"\r\n|\r|\n", insertion.text))
    assert ends <= {case.document.eol}


def _check_document(case: Case, insertion: Insertion) -> None:
    text, cursor = case.document.text, Cursor(case.document, case.offset)
    accepted = accept(case.document, case.offset, insertion)
    kept = text[case.offset + insertion.num_replaced :]
    assert 0 <= insertion.num_replaced <= len(cursor.rest)
    assert accepted == text[: case.offset] + insertion.text + kept
    assert len(accepted) == case.offset + len(insertion.text) + len(kept)


def _check_repeats(case: Case, insertion: Insertion) -> None:
    cursor = Cursor(case.document, case.offset)
    rest, below = cursor.rest.strip(), next(cursor.lines_below(), "")
    if not cursor.above_line and not insertion.num_replaced and re.search(r"\w", rest):
        assert not insertion.text.endswith(cursor.rest.rstrip())
    whole = cursor.before + insertion.text if cursor.starts_line else "\n" + insertion.text
    last = whole.replace("\r\n", "\n").rstrip().rpartition("\n")[2]
    lines_end = cursor.ends_line or (cursor.above_line and insertion.text.endswith("\n" + cursor.before))
    if lines_end and (cursor.starts_line or "\n" in insertion.text) and not is_closing(below, cursor.language):
        assert not below or last != below


@settings(max_examples=200, deadline=None)
@given(cases(), st.lists(st.integers(1, 9), min_size=1, max_size=8))
def test_a_stream_that_is_closed_early_gives_the_same_as_the_whole(case: Case, sizes: list[int]) -> None:
    whole = judge(case.document, case.offset, case.mode, case.raw)
    at, turn = 0, 0
    while at < len(case.raw) and not enough(case.document, case.offset, case.mode, case.raw[:at]):
        at += sizes[turn % len(sizes)]
        turn += 1
    assert judge(case.document, case.offset, case.mode, case.raw[:at]) == whole


@settings(max_examples=50, deadline=None)
@given(cases())
def test_there_is_a_mode_for_every_cursor(case: Case) -> None:
    assert choose_mode(case.document, case.offset) in Mode
