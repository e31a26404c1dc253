"""What was changed lately, as hunks: merged, undone, bounded, and in step with the text."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.context.edits import MAX_AGE_S, MAX_CHARACTERS, MAX_PLACES, EditHistory, Place, edit_between, edited

CODE = "".join(f"line_{n} = {n}\n" for n in range(40))


class Typed:
    """A file that is changed step by step, a second a step."""

    def __init__(self, text: str = CODE, file: str = "/w/a.py", history: EditHistory | None = None) -> None:
        self.text, self.file = text, file
        self.history = history or EditHistory()
        self.now_s = 0.0

    def replace(self, old: str, new: str) -> None:
        self.becomes(self.text.replace(old, new, 1))

    def becomes(self, text: str) -> None:
        self.now_s += 1
        self.history.changed(self.file, self.text, text, self.now_s)
        self.text = text

    @property
    def changed(self) -> list[str]:
        return [hunk.changed for hunk in self.history.hunks(self.now_s)]


def test_a_hunk_is_the_new_text_in_its_lines_with_a_few_around() -> None:
    typed = Typed()
    typed.replace("line_5 = 5", "rate = 5")
    (hunk,) = typed.history.hunks(typed.now_s)
    assert hunk.path == "/w/a.py"
    assert hunk.text == "line_3 = 3\nline_4 = 4\nrate = 5\nline_6 = 6\nline_7 = 7"


def test_keystrokes_and_edits_some_lines_apart_are_one_hunk_others_are_several() -> None:
    typed = Typed()
    for before, after in (("line_5", "r"), ("r = 5", "ra = 5"), ("ra = 5", "rate = 5"), ("line_8", "QQ")):
        typed.replace(before, after)
    typed.replace("line_30", "other")
    assert typed.changed == ["other", "rate = 5\nline_6 = 6\nline_7 = 7\nQQ"]


def test_the_latest_hunk_comes_first_and_moves_with_the_text_above_it() -> None:
    typed = Typed()
    typed.replace("line_30 = 30", "thirty = 30")
    typed.replace("line_5 = 5", "five = 5\n" * 3)
    (first, second) = typed.history.hunks(typed.now_s)
    assert "five" in first.text
    assert "thirty = 30" in second.text.splitlines()


def test_what_was_undone_or_only_deleted_is_no_hunk() -> None:
    typed = Typed()
    typed.replace("line_5", "rate")
    typed.replace("rate", "line_5")
    assert typed.changed == []
    typed.replace("line_5 = 5\n", "")
    assert typed.changed == []


def test_a_paste_of_a_whole_file_is_no_hunk_and_hides_none_elsewhere() -> None:
    typed = Typed()
    typed.replace("line_1 = 1", "one = 1")
    typed.replace("line_30 = 30", "x" * (MAX_CHARACTERS + 1))
    assert len(typed.changed) == 1


def test_a_text_that_changed_unseen_is_forgotten() -> None:
    typed = Typed()
    typed.replace("line_5", "rate")
    typed.text = "something else\n"
    typed.replace("else", "new")
    assert typed.changed == ["new"]


def test_old_hunks_go_and_there_are_never_many() -> None:
    history = EditHistory()
    files = [Typed(file=f"/w/{n}.py", history=history) for n in range(MAX_PLACES + 5)]
    for n, typed in enumerate(files):
        typed.now_s = float(n)
        typed.replace("line_5", "rate")
    assert [hunk.path for hunk in history.hunks(50.0)] == [f"/w/{n}.py" for n in reversed(range(5, MAX_PLACES + 5))]
    assert history.hunks(100.0 + MAX_AGE_S) == []


def test_a_renamed_file_takes_its_history_along_and_a_deleted_one_leaves_none() -> None:
    history = EditHistory()
    one, other = Typed(file="/w/a.py", history=history), Typed(file="/w/b.py", history=history)
    for n in range(3):
        one.replace(f"line_{n}", f"one_{n}")
        other.replace(f"line_{n}", f"other_{n}")
    history.renamed("/w/a.py", "/w/c.py")
    assert {hunk.path for hunk in history.hunks(9.0)} == {"/w/b.py", "/w/c.py"}
    assert history.together("/w/b.py") == ["/w/c.py"]
    history.forget("/w/c.py")
    assert {hunk.path for hunk in history.hunks(9.0)} == {"/w/b.py"}
    assert history.together("/w/b.py") == []


def test_files_that_are_changed_in_turns_belong_together_one_change_of_file_is_chance() -> None:
    history = EditHistory()
    a, b, c = (Typed(file=f"/w/{name}.py", history=history) for name in "abc")
    for typed in (a, b, a, b, c):
        typed.replace("line_", "l_")
    assert history.together("/w/a.py") == ["/w/b.py"]
    assert history.together("/w/c.py") == []


TEXTS = st.text(alphabet="ab\n😀", max_size=40)


@given(TEXTS, TEXTS)
def test_an_edit_makes_one_text_of_the_other(before: str, after: str) -> None:
    edit = edit_between(before, after)
    inserted = after[edit.start : edit.start + edit.length]
    assert before[: edit.start] + inserted + before[edit.end :] == after


@given(st.lists(TEXTS, min_size=2, max_size=8))
def test_putting_back_what_each_place_replaced_gives_the_first_text(texts: list[str]) -> None:
    places: list[Place] = []
    for number, (before, after) in enumerate(pairwise(texts)):
        edit = edit_between(before, after)
        if edit.start != edit.end or edit.length:
            places = edited(places, before, after, edit, float(number), number)
    restored = texts[-1]
    for place in sorted(places, key=lambda place: -place.start):
        assert 0 <= place.start <= place.end <= len(texts[-1])
        restored = restored[: place.start] + place.before + restored[place.end :]
    assert restored == texts[0]


@given(st.lists(TEXTS, min_size=1, max_size=12))
def test_hunks_always_are_lines_of_the_text(texts: list[str]) -> None:
    typed = Typed(texts[0])
    for text in texts[1:]:
        typed.becomes(text)
        for hunk in typed.history.hunks(typed.now_s):
            assert hunk.changed in hunk.text
            assert f"\n{hunk.text}\n" in f"\n{text}\n"
