"""Where a stream ends. Every case is fed whole, by characters, and in random pieces: the text is the same."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.backend.fim import FAMILIES, all_markers
from lsp_complete.backend.stops import BlockStop, HealedStart, LineStop, MarkerStop, feed_all, rest_of_all, stops_for
from lsp_complete.protocol.completion import Mode
from tests.fakes import QWEN, request


def run(stops, pieces):
    text = "".join(feed_all(stops, piece) for piece in pieces)
    return text if any(stop.stopped for stop in stops) else text + rest_of_all(stops)


def check(make, text, expected):
    for size in (1, 2, 3, 7, len(text) or 1):
        assert run(make(), [text[i : i + size] for i in range(0, len(text), size)]) == expected


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_no_marker_of_any_family_gets_through_nor_anything_behind_it(family):
    for marker in all_markers(family):
        check(lambda: [MarkerStop(all_markers(QWEN) + all_markers(family))], f"return x{marker}\nmore", "return x")


def test_a_marker_that_comes_first_leaves_nothing():
    check(lambda: [MarkerStop(all_markers(QWEN))], "<|endoftext|>x", "")


def test_the_first_of_two_markers_ends_the_text():
    check(lambda: [MarkerStop(all_markers(QWEN))], "a<|fim_pad|>b<|endoftext|>", "a")


def test_what_only_looks_like_the_start_of_a_marker_is_passed_on():
    check(lambda: [MarkerStop(all_markers(QWEN))], "a <| b <|fim_ c <", "a <| b <|fim_ c <")


def test_text_that_may_become_a_marker_is_held_back():
    stop = MarkerStop(["<|endoftext|>"])
    assert stop.feed("return x<|endof") == "return x"
    assert stop.feed("text|>") == ""
    assert stop.stopped


def test_a_line_ends_at_its_first_line_end_behind_text():
    check(lambda: [LineStop()], "\n  return x\nprint()", "\n  return x")
    check(lambda: [LineStop()], "return x", "return x")
    check(lambda: [LineStop()], "return x\r\n", "return x")


@pytest.mark.parametrize(
    ("prefix", "text", "expected"),
    [
        ("def f():\n    ", "a = 1\n    return a\n\ndef g():\n    pass", "a = 1\n    return a"),
        ("def f():\n    ", "if x:\n        y()\n    z()\n", "if x:\n        y()\n    z()"),
        ("def f():", "\n    return 1\nx = 2", "\n    return 1"),
        ("def f():\n", "    return 1\nx = 2", "    return 1"),
        ("int f() {", "\n  return 1;\n}\nint g();", "\n  return 1;\n}"),
        ("int f() {\n  ", "return 1;\n}\n\nint g();", "return 1;\n}"),
        ("x = 1\n", "y = 2\nz = 3", "y = 2\nz = 3"),
        ("func f() {\n\t", "a()\n\n\tb()\n}\nfunc g() {}", "a()\n\n\tb()\n}"),
        ("def f():\n    ", "return 1\n\n\n", "return 1"),
        ("\tswitch x {", "\n\tcase 1:\n\t\tf()\n\tdefault:\n\t}\n\tg()", "\n\tcase 1:\n\t\tf()\n\tdefault:\n\t}"),
        ("\tif x {", "\n\t\tf()\n\tcase 1:\n", "\n\t\tf()"),
        ("def f():\n    ", "x = '''\na\n b\n'''\n    y = 1\nz", "x = '''\na\n b\n'''\n    y = 1"),
    ],
)  # fmt: skip
def test_a_block_ends_before_the_first_line_further_left(prefix, text, expected):
    check(lambda: [BlockStop(prefix)], text, expected)


def test_a_line_as_long_as_a_request_may_be_holds_nobody_up():
    stop, started = BlockStop(f"\t{'switch ' * 100_000}("), time.process_time()
    assert run([stop], ["\n\tcase 1:\n"]) == ""
    assert time.process_time() - started < 5


def test_a_healed_blank_is_taken_off_once():
    check(lambda: [HealedStart(" ")], "  x", " x")
    check(lambda: [HealedStart(" ")], "x", "x")
    check(lambda: [HealedStart("")], " x", " x")


@given(
    st.text(alphabet="ab \n\t}<|", max_size=40)
    | st.lists(st.sampled_from(["\n", "case 1:", "cas", "default", "end", "e", "'''", " a"])).map("".join),
    st.lists(st.integers(1, 5), max_size=40),
    st.sampled_from(list(Mode)),
    st.sampled_from(["def f():\n    ", "switch x {"]),
)
def test_the_pieces_a_text_comes_in_make_no_difference(text, sizes, mode, prefix):
    pieces: list[str] = []
    rest = text
    for size in sizes:
        pieces, rest = [*pieces, rest[:size]], rest[size:]
    asked = request(prefix, mode=mode)
    markers = ("<|a|>", "<|b")
    assert run(stops_for(asked, markers), [*pieces, rest]) == run(stops_for(asked, markers), [text])
