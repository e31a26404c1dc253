import pytest

from lsp_complete.completion.markers import MARKERS, before_marker
from lsp_complete.completion.postprocess import Withheld
from lsp_complete.protocol.completion import Mode
from tests.completion.cursor_case import check, check_withheld, first_enough

HERE = "def f(x):\n    █\n"
THERE = "def f(x):\n    return x\n"
ENDS = [
    "<|endoftext|>",
    "<|fim_pad|>",
    "<file_sep>",
    "<｜end▁of▁sentence｜>",
    "<|file_separator|>",
    "<eos>",
    "<EOT>",
    "</s>",
]


@pytest.mark.parametrize("marker", ENDS)
@pytest.mark.parametrize("mode", Mode)
def test_nothing_after_an_end_marker_of_any_family_is_used(marker: str, mode: Mode) -> None:
    check(HERE, f"return x{marker}", THERE, mode)
    check(HERE, f"return x{marker} + 1\n    x = 2", THERE, mode)


def test_the_first_of_two_markers_counts() -> None:
    check(HERE, "return x<|fim_middle|> + 1<|endoftext|>", THERE)


def test_a_text_without_a_marker_stays() -> None:
    check(HERE, "return x", THERE)


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_at_the_start_leaves_nothing(marker: str) -> None:
    check_withheld(HERE, f"{marker}return x", Withheld.BLANK)


@pytest.mark.parametrize("marker", MARKERS)
def test_a_marker_that_the_stream_broke_off_is_not_shown(marker: str) -> None:
    shortest = 2 if marker[1] in "|｜" else 3
    for length in range(shortest, len(marker)):
        check(HERE, f"return x{marker[:length]}", THERE)


def test_less_than_is_code() -> None:
    check("if a █:\n", "<", "if a <:\n")
    check("x: List█>\n", "<E", "x: List<E>\n")
    assert before_marker("a <b") == ("a <b", False)


@pytest.mark.parametrize("marker", MARKERS)
def test_the_stream_ends_with_the_marker_and_not_before(marker: str) -> None:
    assert first_enough(HERE, f"return x{marker}more", Mode.LINE) == f"return x{marker}"
