"""When the last answer is given again: while a word is typed that means nothing, and never otherwise."""

import pytest

from lsp_complete.context.edits import Hunk
from lsp_complete.context.index import Index
from lsp_complete.context.mixer import Mix
from lsp_complete.context.policy import Policy
from lsp_complete.context.recall import Recall
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.text.document import Document

CURSOR = "█"
ANSWER = Mix((Snippet("b.py", "x = 1", "definitions", "", "b"),), {"b": 1.0})
HUNK = Hunk("/w/b.py", "x = 2", "x = 2", 0)


def question(marked, **fields):
    document = Document("file:///w/a.py", marked.replace(CURSOR, ""), "a.py")
    return Question(document, marked.index(CURSOR), "/w/a.py", (), **fields)


@pytest.fixture
def index(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "w/b.py").write_text("def total(): ...\n")
    index = Index.open(tmp_path / "w", tmp_path / "indexes", Policy([tmp_path / "w"]))
    index.build()
    yield index
    index.close()


def recalled(index, first, then, *, mix=ANSWER, after_s=0.1):
    recall = Recall()
    recall.keep(first if isinstance(first, Question) else question(first), mix, 0.0)
    return recall.find(then if isinstance(then, Question) else question(then), [index], after_s)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("x = █\n", "x = s█\n"),
        ("x = so█\n", "x = som█\n"),
        ("x = som█\n", "x = so█\n"),
        ("x █\n", "x = █\n"),
        ("f(█)\n", "f(so█)\n"),
    ],
)
def test_a_key_that_means_nothing_yet_is_answered_from_memory(index, first, then):
    assert recalled(index, first, then) is ANSWER


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("x = tota█\n", "x = total█\n"),  # a name that is defined somewhere
        ("some = 1\nx = som█\n", "some = 1\nx = some█\n"),  # a name of the document
        ("x = so█\nsome\n", "x = some█\nsome\n"),
        ("x█\n", "x.█\n"),
        ("f█\n", "f(█\n"),
        ("x = f█\n", "x = f\n█\n"),
        ("x = █\n", "y = █\n"),
        ("x = a█\n", "x = ab█ + c\n"),
        ("x = a█\n", "x = a█\n"),  # put twice: somebody wants to know
    ],
)
def test_a_key_that_means_something_asks_anew(index, first, then):
    assert recalled(index, first, then) is None


def test_it_is_forgotten_after_a_moment(index):
    assert recalled(index, "x = s█", "x = so█", after_s=1.5) is None


def test_an_answer_that_is_not_whole_is_not_kept(index):
    assert recalled(index, "x = s█", "x = so█", mix=Mix(late=("similar",))) is None


@pytest.mark.parametrize("field", ["edits", "recent", "together"])
def test_what_happened_in_other_files_asks_anew(index, field):
    now = question("x = so█", **{field: (HUNK if field == "edits" else "/w/b.py",)})
    assert recalled(index, "x = s█", now) is None


def test_what_was_typed_into_the_same_file_does_not(index):
    own = Hunk("/w/a.py", "x = so", "x = so", 0)
    assert recalled(index, "x = s█", question("x = so█", edits=(own,))) is ANSWER


def test_it_can_be_told_to_forget(index):
    recall = Recall()
    recall.keep(question("x = s█"), ANSWER, 0.0)
    recall.forget()
    assert recall.find(question("x = so█"), [index], 0.1) is None
