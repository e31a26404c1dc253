import pytest

from lsp_complete.protocol.completion import Mode
from tests.completion.cursor_case import check

UNITS = ["    ", "  ", "   ", "\t"]


def python(unit: str, text: str) -> str:
    """The text with each `>` at the start of a line one unit of indentation."""
    lines = text.split("\n")
    return "\n".join(unit * (len(line) - len(line.lstrip(">"))) + line.lstrip(">") for line in lines)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    ("raw", "accepted"),
    [
        (">>yield x\n>>print(x)", "def f(xs):\n>for x in xs:\n>>yield x\n>>print(x)\n"),
        ("yield x\n>>print(x)", "def f(xs):\n>for x in xs:\n>>yield x\n>>print(x)\n"),
        ("yield x\nprint(x)", "def f(xs):\n>for x in xs:\n>>yield x\n"),
        (">>if x:\n>>>yield x\n>>print(x)", "def f(xs):\n>for x in xs:\n>>if x:\n>>>yield x\n>>print(x)\n"),
        (">yield x\n>print(x)", "def f(xs):\n>for x in xs:\n>>yield x\n>>print(x)\n"),
        (">yield x\n>>print(x)", "def f(xs):\n>for x in xs:\n>>yield x\n>>print(x)\n"),
        (">>>yield x\n>>>print(x)", "def f(xs):\n>for x in xs:\n>>yield x\n>>print(x)\n"),
        (">>>if x:\n>>>>yield x", "def f(xs):\n>for x in xs:\n>>if x:\n>>>yield x\n"),
    ],
)
def test_an_indented_line_is_not_indented_again(unit: str, raw: str, accepted: str) -> None:
    before = python(unit, "def f(xs):\n>for x in xs:\n>>") + "█\n"
    check(before, python(unit, raw), python(unit, accepted))


@pytest.mark.parametrize("unit", UNITS)
def test_a_first_level_line_is_not_indented_again(unit: str) -> None:
    accepted = python(unit, "def f(x):\n>y = x\n>return y\n")
    check(python(unit, "def f(x):\n>") + "█\n", python(unit, ">y = x\n>return y\n"), accepted)


@pytest.mark.parametrize("unit", UNITS)
def test_one_line_is_not_indented_again(unit: str) -> None:
    accepted = python(unit, "def f(x):\n>return x\n")
    check(python(unit, "def f(x):\n>") + "█\n", python(unit, ">return x"), accepted, Mode.LINE)
    check(python(unit, "def f(x):\n>") + "█\n", python(unit, ">>return x"), accepted, Mode.LINE)


def test_a_line_that_is_not_deep_enough_for_its_header_gets_what_it_lacks() -> None:
    check("if a:\n    if b:\n    █\n", "    c()\n        d()\n", "if a:\n    if b:\n        c()\n        d()\n")
    check("if a:\n    if b:\n    █\n", "        c()\n        d()\n", "if a:\n    if b:\n        c()\n        d()\n")
    check("if a:\n    b()\n  █\n", "  c()\n", "if a:\n    b()\n    c()\n")


def test_a_blank_line_without_indentation_takes_that_of_the_text() -> None:
    check("if a:\n█\n", "    b()\n    c()\n", "if a:\n    b()\n    c()\n")


def test_a_first_line_that_is_blank_changes_nothing() -> None:
    check("if a:\n    █\n", "\n    b()\n", "if a:\n    \n    b()\n")


@pytest.mark.parametrize(
    ("raw", "accepted"),
    [
        ("yield x\n        print(x)", "def f(xs):\n\tfor x in xs:\n\t\tyield x\n\t\tprint(x)\n"),
        ("        yield x\n        print(x)", "def f(xs):\n\tfor x in xs:\n\t\tyield x\n\t\tprint(x)\n"),
        ("if x:\n            y()\n        z()", "def f(xs):\n\tfor x in xs:\n\t\tif x:\n\t\t\ty()\n\t\tz()\n"),
    ],
)
def test_no_spaces_come_into_a_file_of_tabs(raw: str, accepted: str) -> None:
    check("def f(xs):\n\tfor x in xs:\n\t\t█\n", raw, accepted)


def test_no_spaces_come_after_a_header_in_a_file_of_tabs() -> None:
    check("def f():\n\ta()\n\nif b:█\n", "\n    c()\n", "def f():\n\ta()\n\nif b:\n\tc()\n")
    check("\tif (a) {█\n", "\n        b();\n    }\n", "\tif (a) {\n\t\tb();\n\t}\n", path="a.go")


def test_nothing_is_rounded_in_a_file_of_three_spaces() -> None:
    check("def f(x):\n   █\n", "if x:\n      a()\n   b()\n", "def f(x):\n   if x:\n      a()\n   b()\n")
    check("def f(x):\n   █\n", "   if x:\n       a()\n", "def f(x):\n   if x:\n       a()\n")
