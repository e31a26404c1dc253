"""Columns in code units of three encodings (field fault B01, and the kinds `a` beside it)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.text.document import Document
from lsp_complete.text.positions import num_units, offset_at, position_at

from .letters import CODECS, UNIT_BYTES, encodings, lines, texts


def document_of(text):
    return Document("file:///a.py", text)


def before(text, line, column, encoding):
    return text[: offset_at(document_of(text), line, column, encoding)]


@pytest.mark.parametrize(
    ("column", "prefix"),
    [(5, 's = "'), (6, 's = "'), (7, 's = "😀'), (9, 's = "😀😀'), (10, 's = "😀😀x'), (99, 's = "😀😀x"')],
)
def test_a_column_of_utf_16_counts_astral_letters_twice(column, prefix):
    assert before('s = "😀😀x"\nnext', 0, column, "utf-16") == prefix


@pytest.mark.parametrize(("column", "prefix"), [(1, ""), (2, "ñ"), (3, "ñx"), (4, "ñxy"), (5, "ñxy")])
def test_a_column_of_utf_8_counts_bytes(column, prefix):
    assert before("ñxy", 0, column, "utf-8") == prefix


def test_a_letter_beside_its_accent_is_two():
    assert before("e\u0301x", 0, 1, "utf-16") == "e"
    assert before("e\u0301x", 0, 2, "utf-32") == "e\u0301"
    assert before("e\u0301x", 0, 2, "utf-8") == "e"


@pytest.mark.parametrize("encoding", CODECS)
@pytest.mark.parametrize(
    ("text", "line", "column", "offset"),
    [
        ("", 0, 0, 0),
        ("", 0, 5, 0),
        ("", 5, 0, 0),
        ("a\n", 1, 0, 2),
        ("a\n", 1, 7, 2),
        ("a\n", 2, 0, 2),
        ("a\nb", 99, 0, 3),
        ("ab\r\nc", 0, 99, 2),
        ("ab\rc", 0, 3, 2),
        ("ab\n", 0, -1, 0),
        ("ab\n", -1, 3, 0),
    ],
)
def test_what_lies_outside_is_clamped(text, line, column, offset, encoding):
    assert offset_at(document_of(text), line, column, encoding) == offset


def borders(text):
    """All offsets but those inside a CRLF, at which no position points."""
    return [at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n" or at == 0]


@given(texts, encodings)
def test_there_and_back_is_the_same_offset(text, encoding):
    document = document_of(text)
    for offset in borders(text):
        assert offset_at(document, *position_at(document, offset, encoding), encoding) == offset


@given(texts, encodings)
def test_a_later_offset_is_a_later_position(text, encoding):
    positions = [position_at(document_of(text), offset, encoding) for offset in borders(text)]
    assert positions == sorted(set(positions))


@given(lines, encodings, st.integers(-3, 99))
def test_a_column_is_what_the_encoder_says(line, encoding, column):
    """The longest beginning of the line that takes no more than `column` code units."""
    text = f"x\n{line}\ny"
    fitting = [
        n for n in range(len(line) + 1) if len(line[:n].encode(CODECS[encoding])) // UNIT_BYTES[encoding] <= column
    ]
    assert offset_at(document_of(text), 1, column, encoding) == 2 + max(fitting, default=0)


@given(lines, encodings)
def test_the_number_of_units_is_what_the_encoder_says(line, encoding):
    assert num_units(line, encoding) * UNIT_BYTES[encoding] == len(line.encode(CODECS[encoding]))


@given(texts, encodings, st.integers(-2, 60), st.integers(-2, 99))
def test_any_position_is_a_border_between_whole_letters(text, encoding, line, column):
    offset = offset_at(document_of(text), line, column, encoding)
    assert offset in borders(text)
    text[:offset].encode("utf-16")
    text[offset:].encode("utf-16")


@given(texts, st.integers(-5, 99))
def test_an_offset_outside_is_clamped(text, offset):
    document = document_of(text)
    inside = max(0, min(offset, len(text)))
    assert position_at(document, offset, "utf-16") == position_at(document, inside, "utf-16")
