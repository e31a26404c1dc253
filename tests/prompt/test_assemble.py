"""How a budget is shared between document and snippets, and how much of a prompt a keystroke changes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.context.snippets import Snippet
from lsp_complete.prompt.assemble import CHARACTERS_PER_TOKEN, Budget, assemble
from lsp_complete.text.document import Document

BUDGET = Budget(1000, 250)
SIZE = int(BUDGET.prompt_tokens * CHARACTERS_PER_TOKEN)
LONG = "".join(f"def function_{n}(argument: int) -> int:\n    return argument * {n}\n\n\n" for n in range(600))


def snippets(*sizes):
    return [Snippet(f"{number}.py", "x" * size, "definitions", "", str(number)) for number, size in enumerate(sizes)]


def prompt(text, offset, found=(), before=None, budget=BUDGET):
    scores = {one.key: 1 / (60 + place) for place, one in enumerate(found)}
    return assemble(Document("file:///b.py", text), offset, found, scores, budget, before)


def document_size(prompt):
    return len(prompt.window.prefix) + len(prompt.window.suffix)


def snippet_size(prompt):
    return sum(one.size for one in prompt.packed)


sizes = st.lists(st.integers(0, 2000), max_size=8)
budgets = st.builds(Budget, st.integers(128, 2000), st.integers(0, 3000))


@given(st.text("ab\n", max_size=300), st.integers(1, 40), st.floats(0, 1), sizes, sizes, budgets)
def test_the_budget_is_kept(text, times, share, found, others, budget):
    text = text * times
    offset = int(len(text) * share)
    first = prompt(text, offset, snippets(*others), None, budget)
    for before in (None, first):
        whole = prompt(text, offset, snippets(*found), before, budget)
        assert document_size(whole) + snippet_size(whole) <= budget.prompt_tokens * CHARACTERS_PER_TOKEN


@given(sizes, st.integers(0, len(LONG)))
def test_a_long_document_has_its_share_whatever_is_found(found, offset):
    whole = prompt(LONG, offset, snippets(*found))
    assert document_size(whole) >= SIZE * 0.75 / 2
    assert snippet_size(whole) <= SIZE * 0.25


def test_a_short_document_leaves_its_share_to_snippets_and_is_there_whole():
    text = "x = 1\n" * 50
    whole = prompt(text, 12, snippets(*[300] * 20))
    assert snippet_size(whole) > SIZE * 0.75
    assert whole.window.prefix + whole.window.suffix == text


def test_few_snippets_leave_their_share_to_the_document():
    many, few, none = (document_size(prompt(LONG, 9000, snippets(*[200] * num))) for num in (4, 1, 0))
    assert many < few < none
    assert none > SIZE * 0.75


LINE = st.text("abc _.()=\n", min_size=1, max_size=40)


@given(LINE, st.integers(0, len(LONG)), st.lists(sizes, min_size=1, max_size=40))
def test_a_keystroke_changes_the_end_of_the_prompt_unless_the_snippets_or_the_window_move(typed, offset, found):
    """Whatever the retrievers bring; and the windows move for the snippets' sake, or once in many characters."""
    before, prompts = None, []
    for length in range(len(typed) + 1):
        text = LONG[:offset] + typed[:length] + LONG[offset:]
        before = prompt(text, offset + length, snippets(*found[length % len(found)]), before)
        prompts.append(before)
    moved = [pair for pair in pairwise(prompts) if not is_extended(*pair)]
    assert sum([one.snippet for one in old.packed] == [one.snippet for one in new.packed] for old, new in moved) <= 2


def is_extended(old, new):
    is_same = [one.snippet for one in old.packed] == [one.snippet for one in new.packed]
    return is_same and old.window.suffix == new.window.suffix and new.window.prefix.startswith(old.window.prefix)


def test_when_nothing_is_found_for_a_moment_the_prompt_stays():
    """A retriever was late, or the word being typed has no meaning yet."""
    first = prompt(LONG, 9000, snippets(300, 200))
    typed = LONG[:9000] + "x" + LONG[9000:]
    assert is_extended(first, prompt(typed, 9001, [], first))


def test_a_bracket_that_the_editor_closes_does_not_change_the_prompt():
    first = prompt(LONG, 9000, snippets(300, 200))
    typed = LONG[:9000] + "f()" + LONG[9000:]
    assert is_extended(first, prompt(typed, 9002, snippets(300, 200), first))


def test_the_same_question_has_the_same_prompt():
    before = prompt(LONG, 5000, snippets(300, 200, 400))
    assert prompt(LONG, 9000, snippets(100, 700), before) == prompt(LONG, 9000, snippets(100, 700), before)
