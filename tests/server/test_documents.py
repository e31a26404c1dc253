"""The documents as the editor has them: changes in any encoding, applied in order, whatever a client sends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from lsp_complete.server.documents import Documents
from tests.text.letters import CODECS, LETTERS, UNIT_BYTES, encodings, texts

URI = "file:///w/a.py"


def opened(text, uri=URI, roots=()):
    documents = Documents()
    documents.open(types.TextDocumentItem(uri, "python", 1, text), roots)
    return documents


def edit(text, start, end):
    """A change between two (line, column)s."""
    return types.TextDocumentContentChangePartial(types.Range(types.Position(*start), types.Position(*end)), text)


def change(documents, *changes, uri=URI, encoding="utf-16"):
    documents.change(types.VersionedTextDocumentIdentifier(uri=uri, version=2), list(changes), encoding)


class Model:
    """What an editor does: a list of lines with their ends; columns counted by the encoder."""

    def __init__(self, text, encoding):
        self.text, self.encoding = text, encoding

    def position(self, offset):
        lines = self.text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return len(lines) - 1, len(lines[-1].encode(CODECS[self.encoding])) // UNIT_BYTES[self.encoding]

    def replace(self, start, end, text):
        """Returns the change as it is sent. A CRLF is never torn apart: no position is inside it."""
        start, end = (at - (self.text[max(0, at - 1) : at + 1] == "\r\n") for at in (start, end))
        sent = edit(text, self.position(start), self.position(end))
        self.text = self.text[:start] + text + self.text[end:]
        return sent


@given(texts, encodings, st.data())
def test_any_edits_in_order_give_the_editors_text(text, encoding, data):
    documents, model = opened(text), Model(text.removeprefix("\ufeff"), encoding)
    for _ in range(data.draw(st.integers(1, 4))):
        sent = []
        for _ in range(data.draw(st.integers(1, 3))):
            start, end = sorted(data.draw(st.integers(0, len(model.text))) for _ in range(2))
            inserted = data.draw(st.text([*LETTERS, "\n"], max_size=4))
            sent.append(model.replace(start, end, inserted))
        change(documents, *sent, encoding=encoding)
        assert documents.get(URI).text == model.text


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([edit("o()", (1, 10), (1, 10)), edit("o()", (0, 10), (0, 10))], "val_a = foo()\nval_b = foo()\n"),
        ([edit("o()", (0, 10), (0, 10)), edit("o()", (1, 10), (1, 10))], "val_a = foo()\nval_b = foo()\n"),
        ([edit("!", (0, 10), (0, 10)), edit("!", (0, 3), (0, 3))], "val!_a = fo!\nval_b = fo\n"),
        ([edit("!", (0, 3), (0, 3)), edit("!", (0, 11), (0, 11))], "val!_a = fo!\nval_b = fo\n"),
    ],
)
def test_several_carets_change_the_text_in_the_given_order(changes, expected):
    documents = opened("val_a = fo\nval_b = fo\n")
    change(documents, *changes)
    assert documents.get(URI).text == expected


def test_an_insertion_behind_a_two_byte_letter_lands_behind_it():
    documents = opened("ñxy")
    change(documents, edit("q", (0, 2), (0, 2)), encoding="utf-8")
    assert documents.get(URI).text == "ñqxy"


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
def test_a_line_end_is_deleted_whole(eol):
    documents = opened(f"a{eol}b")
    change(documents, edit("", (0, 1), (1, 0)))
    assert documents.get(URI).text == "ab"


def test_a_range_outside_the_document_or_the_wrong_way_round_is_no_error():
    documents = opened("ab\nc")
    change(documents, edit("!", (0, 99), (0, 99)), edit("?", (99, 0), (99, 9)), edit("-", (1, 1), (0, 0)))
    assert documents.get(URI).text == "ab!\nc-?"


def test_a_change_without_a_range_is_the_whole_text():
    documents = opened("old")
    change(documents, types.TextDocumentContentChangeWholeDocument("new\n"), edit("!", (0, 3), (0, 3)))
    assert documents.get(URI).text == "new!\n"


def test_a_snapshot_stays_as_it_is():
    documents = opened("old")
    snapshot = documents.get(URI)
    change(documents, types.TextDocumentContentChangeWholeDocument("new"))
    assert (snapshot.text, snapshot.version) == ("old", 1)
    assert (documents.get(URI).text, documents.get(URI).version) == ("new", 2)


def test_a_byte_order_mark_is_no_part_of_the_text_nor_of_a_column():
    documents = opened("\ufeffclass Marked:")
    assert documents.get(URI).text == "class Marked:"
    change(documents, edit("X", (0, 6), (0, 6)))
    assert documents.get(URI).text == "class XMarked:"
    change(documents, types.TextDocumentContentChangeWholeDocument("\ufeffx"))
    assert documents.get(URI).text == "x"


def test_what_is_not_open_is_none_and_a_change_to_it_is_no_error():
    documents = Documents()
    change(documents, edit("x", (0, 0), (0, 0)))
    documents.close(URI)
    assert documents.get(URI) is None


def test_any_spelling_reaches_the_document_and_it_keeps_the_one_it_was_opened_with():
    documents = opened("x", "file:///c%3A/Work/My%20App/app.py", ["file:///c%3A/Work"])
    change(documents, edit("y", (0, 1), (0, 1)), uri="file:///C:/Work/My App/app.py")
    document = documents.get("file:///c:/Work/My%20App/app.py")
    assert (document.text, document.uri) == ("xy", "file:///c%3A/Work/My%20App/app.py")
    documents.close("file:///C%3a/Work/My%20App/app.py")
    assert documents.get("file:///c%3A/Work/My%20App/app.py") is None


def test_save_as_leaves_nothing_of_the_untitled_document():
    documents = opened("x", "untitled:Untitled-1")
    documents.close("untitled:Untitled-1")
    documents.open(types.TextDocumentItem("file:///w/a.py", "python", 1, "x"), ["file:///w"])
    assert documents.get("untitled:Untitled-1") is None
    assert documents.get(URI).path == "a.py"


def test_paths_follow_the_folders_of_the_workspace():
    documents = opened("x", "file:///w/web/plugins/x/src/main.py", ["file:///w/web"])
    assert documents.get("file:///w/web/plugins/x/src/main.py").path == "plugins/x/src/main.py"
    documents.rebase(["file:///w/web", "file:///w/web/plugins/x"])
    assert documents.get("file:///w/web/plugins/x/src/main.py").path == "src/main.py"
    documents.rebase([])
    assert documents.get("file:///w/web/plugins/x/src/main.py").path == "main.py"
