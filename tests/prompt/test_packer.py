"""What of a document goes into a prompt, and how little of it a keystroke changes."""

from itertools import pairwise
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.prompt.packer import Window, pack
from lsp_complete.text.document import Document, normalize_eol

CURSOR = "█"
CLOSERS = ")]}>\"'`"
lines = st.lists(st.text('ab é漢😀)"', max_size=12), max_size=60)
eols = st.sampled_from(["\n", "\r\n", "\r"])
budgets = st.integers(8, 400)


def packed(text, offset, num_characters, before=None):
    return pack(Document("file:///a.py", text), offset, num_characters, before)


def at(marked, before=None, num_characters=400):
    return packed(marked.replace(CURSOR, ""), marked.index(CURSOR), num_characters, before)


@st.composite
def documents(draw):
    """A text and an offset in it that is not inside a CRLF."""
    text = draw(eols).join(draw(lines))
    offset = draw(st.integers(0, len(text)))
    return text, offset - (text[max(0, offset - 1) : offset + 1] == "\r\n")


@given(documents(), budgets)
def test_the_window_is_the_text_around_the_cursor_with_lf_alone(document, num_characters):
    text, offset = document
    window = packed(text, offset, num_characters)
    assert normalize_eol(text[:offset]).endswith(window.prefix)
    assert normalize_eol(text[offset:]).startswith(window.suffix)
    assert "\r" not in window.prefix + window.suffix


@given(documents(), budgets)
def test_the_budget_is_never_exceeded(document, num_characters):
    text, offset = document
    window = packed(text, offset, num_characters)
    assert len(window.prefix) + len(window.suffix) <= num_characters


@given(documents(), budgets)
def test_what_fits_is_there_whole(document, num_characters):
    text, offset = document
    window = packed(text, offset, num_characters)
    if len(text) <= num_characters:
        assert window.prefix + window.suffix == normalize_eol(text)


@given(documents(), budgets)
def test_most_of_the_budget_is_spent_where_there_is_text_for_it(document, num_characters):
    text, offset = document
    window = packed(text.replace("\r", " "), offset, num_characters)
    if offset >= num_characters:
        assert len(window.prefix) >= num_characters * 3 // 8


@given(documents(), budgets, st.text("ab é漢😀(){}\n", max_size=80))
def test_typing_changes_nothing_before_the_cursor_but_in_steps(document, num_characters, typed):
    text, offset = document
    texts = [text[:offset] + typed[:length] + text[offset:] for length in range(len(typed) + 1)]
    windows = [packed(one, offset + length, num_characters) for length, one in enumerate(texts)]
    num_steps = sum(not is_extended(*pair) for pair in pairwise(windows))
    assert num_steps <= 2 * (1 + len(typed) / max(1, num_characters * 3 // 20))


def is_extended(old, new):
    return old.suffix == new.suffix and new.prefix.startswith(old.prefix)


@given(documents(), budgets, documents())
def test_the_window_before_hides_closing_brackets_at_most(document, num_characters, other):
    (text, offset), (other_text, other_offset) = document, other
    window = packed(text, offset, num_characters, packed(other_text, other_offset, num_characters))
    hidden = [text[offset:end] for end in range(offset, offset + 9) if all(one in CLOSERS for one in text[offset:end])]
    assert any(normalize_eol(text[offset + len(one) :]).startswith(window.suffix) for one in hidden)
    assert len(window.prefix) + len(window.suffix) <= num_characters


def large_file(num_lines=600):
    return "\n".join(f"def function_{n}(argument: int) -> int:\n    return argument * {n}\n" for n in range(num_lines))


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_windows_begin_and_end_between_definitions(eol):
    text = large_file().replace("\n", eol)
    offset = text.index("return argument * 300")
    window = packed(text, offset, 3000)
    assert window.prefix.startswith("def function_")
    assert window.suffix.endswith("\n\n")
    assert len(window.prefix) > len(window.suffix) > 400


def test_without_definitions_nearby_they_begin_and_end_at_lines():
    text = "".join(f"    value = compute(value, {n})\n" for n in range(600))
    window = packed(text, text.index("value, 300"), 3000)
    assert window.prefix.startswith("    value")
    assert window.suffix.endswith(")\n")


def test_a_short_prefix_leaves_its_room_to_the_suffix():
    text = large_file()
    window = packed(text, 40, 3000)
    assert len(window.suffix) > 2000


def test_a_line_longer_than_the_budget_is_cut_all_the_same():
    window = packed("x" * 10_000 + "y" * 10_000, 10_000, 400)
    assert 200 <= len(window.prefix) <= 300
    assert len(window.suffix) == 100


@pytest.mark.parametrize(
    ("before", "now", "suffix"),
    [
        ("total = add█\nx", "total = add(█)\nx", "\nx"),  # the editor has closed what was typed
        ("total = add(█)\nx", "total = add(a█)\nx", ")\nx"),  # it was there when the cursor came
        ("limit = █ + base\n", "limit = f([█]) + base\n", " + base\n"),  # the rest of the line is seen
        ("limit = f(█) + base\n", "limit = f(█)) + base\n", ") + base\n"),
        ("name = █", 'name = "█"', ""),
        ("f(█)", "f()█", ""),
        ("a█\nb\n", "a\nb█)\n", ")\n"),  # elsewhere
    ],
)
def test_what_an_editor_closes_by_itself_does_not_change_the_suffix(before, now, suffix):
    assert at(now, before=at(before)).suffix == suffix


def test_without_a_window_before_the_rest_of_the_line_is_seen():
    assert at("np.zeros(█)\n").suffix == ")\n"
    assert at("np.zeros(█)\n", Window("x", "something else")).suffix == ")\n"


def num_shared(old, new):
    differences = (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other)
    return next(differences, min(len(old), len(new)))


def test_a_keystroke_changes_only_the_end_of_the_prompt():
    """In the order in which services put it: suffix, then prefix."""
    text = large_file()
    start = text.index("    return argument * 300")
    typed = "    total = sum(values) / max(len(values), 1)"[:40]
    prompts = []
    for num_typed in range(len(typed) + 1):
        edited = text[:start] + typed[:num_typed] + text[start:]
        window = packed(edited, start + num_typed, 3686)
        prompts.append(window.suffix + window.prefix)
    shares = [num_shared(old, new) / len(new) for old, new in pairwise(prompts)]
    assert median(shares) >= 0.97
    assert sum(share < 0.97 for share in shares) <= 1


def test_a_keystroke_before_the_window_is_full_changes_only_the_end_too():
    text = large_file()
    prompts = []
    for num_typed in range(41):
        window = packed("x" * num_typed + "\n" + text, num_typed, 3686)
        prompts.append(window.suffix + window.prefix)
    shares = [num_shared(old, new) / len(new) for old, new in pairwise(prompts)]
    assert median(shares) >= 0.97
