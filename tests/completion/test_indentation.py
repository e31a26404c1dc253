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


@pytest.mark.parametrize("unit", [*UNITS, "        "])
@pytest.mark.parametrize("width", range(1, 16))
def test_a_line_that_is_half_indented_is_taken_to_its_block(unit: str, width: int) -> None:
    block = python(unit, "def f(xs):\n>for x in xs:\n>>print(x)\n>>")
    own = unit * 2
    if width >= len(own) or width % len(unit) == 0:
        return  # a line may stand there
    typed = block[: len(block) - len(own)] + own[:width]
    lines = python(unit, "if x:\n>>>yield x\n>>print(x)")
    accepted = block + lines + python(unit, "\n>>print()\n")
    below = python(unit, "\n>>print()\n")
    check(f"{typed}█{below}", own[width:] + lines, accepted)
    check(f"{typed}█{below}", lines, accepted)
    check(f"{typed}█{below}", own + lines, accepted)


@pytest.mark.parametrize("unit", [unit for unit in UNITS if len(unit) > 1])
def test_a_new_block_that_is_half_indented_gets_the_indentation_of_the_others(unit: str) -> None:
    before = python(unit, "def f(x):\n>return x\n\n\ndef g(x):\n")
    check(f"{before}{unit[:1]}█\n", f"{unit[1:]}y = x\n{unit}return y\n", python(unit, f"{before}>y = x\n>return y\n"))


def test_between_two_lines_of_a_block_a_line_is_not_less_indented() -> None:
    check(
        "def f():\n        a()\n    █\n        c()\n", "    b()\n", "def f():\n        a()\n        b()\n        c()\n"
    )


def test_lines_that_count_from_a_half_indented_line_move_with_it() -> None:
    block = "def f(x):\n    a()\n"
    check(f"{block}  █\n", "if x:\n      b()\n  c()\n", f"{block}    if x:\n        b()\n    c()\n")


def test_the_closing_line_of_a_block_stays_where_it_is() -> None:
    check("f() {\n  if (a) {\n    b();\n  █\n}\n", "}\n", "f() {\n  if (a) {\n    b();\n  }\n}\n", path="a.js")
