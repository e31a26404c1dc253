"""What of a document goes into a prompt, and how little of it a keystroke changes."""

from itertools import pairwise
from statistics import median

from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.prompt.packer import pack
from lsp_complete.text.document import Document, normalize_eol

CURSOR = "█"
lines = st.lists(st.text("ab é漢😀", max_size=12), max_size=60)
eols = st.sampled_from(["\n", "\r\n", "\r"])
budgets = st.integers(8, 400)


def packed(text, offset, num_characters):
    return pack(Document("file:///a.py", text), offset, num_characters)


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
    if len(text) <= num_characters * 3 // 4:
        assert window.prefix + window.suffix == normalize_eol(text)


@given(documents(), budgets)
def test_most_of_the_budget_is_spent_where_there_is_text_for_it(document, num_characters):
    text, offset = document
    window = packed(text.replace("\r", " "), offset, num_characters)
    if offset >= num_characters:
        assert len(window.prefix) >= num_characters * 3 // 8


def large_file(num_lines=600):
    return "\n".join(f"def function_{n}(argument: int) -> int:\n    return argument * {n}\n" for n in range(num_lines))


def test_windows_begin_and_end_at_lines():
    text = large_file()
    offset = text.index("return argument * 300")
    window = packed(text, offset, 3000)
    start, end = offset - len(window.prefix), offset + len(window.suffix)
    assert text[start - 1] == "\n"
    assert text[end - 1] == "\n"
    assert len(window.prefix) > len(window.suffix) > 400


def test_a_short_prefix_leaves_its_room_to_the_suffix():
    text = large_file()
    window = packed(text, 40, 3000)
    assert len(window.suffix) > 2000


def test_a_line_longer_than_the_budget_is_cut_all_the_same():
    window = packed("x" * 10_000 + CURSOR + "y" * 10_000, 10_000, 400)
    assert 200 <= len(window.prefix) <= 300
    assert len(window.suffix) == 100


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
