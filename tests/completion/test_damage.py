"""A document does not parse worse with a suggestion in it, or there is none."""

import pytest

from lsp_complete.completion.postprocess import Withheld
from lsp_complete.protocol.completion import Mode
from tests.completion.cursor_case import check, check_withheld

LINE = Mode.LINE
METHOD = "    def m{}(self, a):\n        if a:\n            return [a, (a, a)]\n        return a\n\n"
LONG = "class A:\n" + "".join(METHOD.format(number) for number in range(99))


@pytest.mark.parametrize("surplus", [")", "]", "}", "))", ");", "\n    )"])
def test_a_bracket_that_closes_nothing_is_left_out(surplus: str) -> None:
    check("def f(a):\n    x = █\n    return x\n", f"g(a){surplus}", "def f(a):\n    x = g(a)\n    return x\n", LINE)


def test_a_closing_line_too_many_is_left_out() -> None:
    check("f() {\n  █\n}\n", "a();\n  }", "f() {\n  a();\n}\n", path="a.js")
    check("f() {\n  if (b) {\n    █\n  }\n}\n", "a();\n    }\n", "f() {\n  if (b) {\n    a();\n  }\n}\n", path="a.js")


def test_a_last_line_that_is_broken_off_is_left_out() -> None:
    check("def f(a):\n    █\n\n\ng()\n", "x = a\n    y = [a for", "def f(a):\n    x = a\n\n\ng()\n")


@pytest.mark.parametrize("raw", ["if if", "x = = 1", "for x y:", "a b c"])
def test_what_is_no_code_is_not_offered(raw: str) -> None:
    check_withheld("def f(a):\n    █\n    return a\n", raw, Withheld.BREAKS_SYNTAX, LINE)


@pytest.mark.parametrize("raw", ["g(", "g(a, ", "[a, (", "{'a':", "a +", "g(lambda:"])
def test_what_is_not_finished_is_no_damage(raw: str) -> None:
    check("def f(a):\n    x = █\n    return x\n", raw, f"def f(a):\n    x = {raw.rstrip()}\n    return x\n", LINE)


@pytest.mark.parametrize(
    ("path", "header"), [("a.py", "for a in b:"), ("a.js", "if (a) {"), ("a.lua", "if a then"), ("a.sh", "if a; then")]
)
def test_a_header_without_its_block_is_no_damage(path: str, header: str) -> None:
    check("x = 1\n█\ny = 2\n", header, f"x = 1\n{header}\ny = 2\n", LINE, path=path)


def test_a_document_that_is_broken_elsewhere_is_completed() -> None:
    check("def f(:\n    pass\n\nx = █\n", "g(1)", "def f(:\n    pass\n\nx = g(1)\n", LINE)
    macros = "BEGIN_DECLS\nAPI int EXPORT f(int);\n█\nAPI int EXPORT h(int);\nEND_DECLS\n"
    check(macros, "API int EXPORT g(int);", macros.replace("█", "API int EXPORT g(int);"), LINE, path="a.c")


def test_a_language_without_grammar_is_completed() -> None:
    check("a ( █\nb\n", "c))", "a ( c)\nb\n", LINE, path="a.unknown")


@pytest.mark.parametrize("place", ["        return a\n\n    def m50(", "    def m70("])
def test_in_a_long_document_a_line_far_from_its_class_is_judged_as_in_a_short_one(place: str) -> None:
    at = LONG.index(place) + place.index("    def m")
    text = "    def new(self):\n        return (1, 2)\n"
    check(LONG[:at] + "█\n" + LONG[at:], text, LONG[:at] + text + LONG[at:])
    check(LONG[:at] + "█\n" + LONG[at:], text.replace("2)", "2))"), LONG[:at] + text + LONG[at:])
    check_withheld(LONG[:at] + "█\n" + LONG[at:], "    def def\n", Withheld.BREAKS_SYNTAX)


def test_long_lines_nearby_are_not_looked_at() -> None:
    long = f"x = [{'1, ' * 20_000}]\n"
    accepted = f"{long}\ndef f(a):\n    y = g(a)\n    return y\n\n{long}"
    for raw in ("g(a)", "g(a))"):
        check(accepted.replace("g(a)", "█"), raw, accepted, LINE)
