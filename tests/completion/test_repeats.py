"""What the lines above and below the cursor already say is not said again."""

import ast

import pytest

from lsp_complete.completion.postprocess import Insertion, Withheld, accept, judge
from lsp_complete.protocol.completion import Mode
from tests.completion.cursor_case import at, check, check_withheld

CALL = "\n    price,\n    tax,\n)"
CALLED = "total = compute(\n    price,\n    tax,\n)\nprint(total)\n"


@pytest.mark.parametrize("raw", [CALL, CALL + "\n", CALL + "\nprint(total)\n", CALL + "\nprint(to"])
def test_the_closing_line_below_is_not_written_again(raw: str) -> None:
    check("total = compute(█\n)\nprint(total)\n", raw, CALLED)


@pytest.mark.parametrize("blank", ["\n", "\n\n", "\n    \n"])
def test_the_closing_line_may_be_some_blank_lines_away(blank: str) -> None:
    accepted = CALLED.replace(",\n)", f",{blank}\n)")
    check(f"total = compute(█{blank}\n)\nprint(total)\n", CALL, accepted)


@pytest.mark.parametrize("indent", ["  ", "    "])
def test_the_closing_line_may_be_indented_differently(indent: str) -> None:
    check(f"total = compute(█\n{indent})\nprint(total)\n", CALL, CALLED.replace("\n)", f"\n{indent})"))


@pytest.mark.parametrize(("closing", "below"), [("});", "})"), ("})", "});"), ("});", "});"), ("},", "}")])
def test_the_closing_line_may_end_differently(closing: str, below: str) -> None:
    opener = "f(() => {" if ")" in below else "x = {"
    check(f"{opener}█\n{below}\n", f"\n  a,\n{closing}", f"{opener}\n  a,\n{below}\n", path="a.js")


def test_a_bracket_at_the_end_of_a_line_is_left_to_the_line_below() -> None:
    check("total = compute(█\n)\nprint(total)\n", "price, tax)", "total = compute(price, tax\n)\nprint(total)\n")


def test_a_closing_line_that_the_document_lacks_is_written() -> None:
    check("total = compute(█\nprint(total)\n", CALL, CALLED)
    check("a {\n  if (b) {\n    c();\n█\n}\n", "  }", "a {\n  if (b) {\n    c();\n  }\n}\n", path="a.js")


def test_a_closing_line_that_the_text_itself_needs_is_written() -> None:
    check("f() {\n█\n}\n", "if (a) {\n  b();\n}", "f() {\nif (a) {\n  b();\n}\n}\n", path="a.js")
    check("f() {\n  █\n}\n", "if (a) {\n    b();\n  }", "f() {\n  if (a) {\n    b();\n  }\n}\n", path="a.js")


def test_an_accepted_call_has_one_closing_line_and_parses() -> None:
    for gap in ("\n", "\n\n", "\n\n\n", "\n    "):
        document, offset = at(f"total = compute(█{gap})\nprint(total)\n")
        outcome = judge(document, offset, Mode.BLOCK, CALL)
        assert isinstance(outcome, Insertion)
        text = accept(document, offset, outcome)
        ast.parse(text)
        assert text.count(")") == 2
        assert "price,\n    tax,\n" in text


def test_a_text_that_runs_on_into_the_lines_below_is_cut_there() -> None:
    below = "    b = 2\n    return a + b\n"
    for end in (len(below), len(below) - 1, 20, 8):
        check(f"def f():\n    █\n{below}", f"a = 1\n{below[:end]}", f"def f():\n    a = 1\n{below}")


def test_the_line_below_is_not_offered() -> None:
    check_withheld("def f():\n    █\n    return 1\n", "return 1", Withheld.REPEATS_BELOW)
    check_withheld("def f():\n█    return 1\n", "    return 1\n", Withheld.REPEATS_BELOW, Mode.LINE)
    check_withheld("f(\n    a\n█\n)\n", ")", Withheld.REPEATS_BELOW)


def test_a_line_like_the_one_below_but_for_its_indentation_is_offered() -> None:
    check(
        "    if a:\n        return True\n█    return False\n",
        "        return False\n",
        "    if a:\n        return True\n        return False\n    return False\n",
    )


def test_the_lines_above_are_not_offered_again() -> None:
    check_withheld("def f():\n    a()\n    █\n", "a()", Withheld.REPEATS_ABOVE)
    check_withheld("def f():\n    a()\n    b()█\n", "\n    b()", Withheld.REPEATS_ABOVE)
    check_withheld("def f():\n    a()\n    b()\n\n    █\n", "a()\n    b()", Withheld.REPEATS_ABOVE)


def test_one_more_line_than_those_above_is_offered() -> None:
    check("def f():\n    a()\n    █\n", "a()\n    b()", "def f():\n    a()\n    a()\n    b()\n")


def test_a_closing_line_with_the_indentation_of_the_next_is_not_written_again_whatever_else_is_open() -> None:
    marked = "f(() => {\n  if (a) {\n  g(() => {\n    b;█\n  })\n  c;\n});\n"
    check_withheld(marked, "\n  });", Withheld.REPEATS_BELOW, Mode.LINE, path="a.ts")


@pytest.mark.parametrize(("raw", "path"), [("\n):", "a.py"), ("\n) {", "a.js")])
def test_what_goes_on_from_the_bracket_below_is_not_written_above_it(raw: str, path: str) -> None:
    check_withheld("if (\n    a█\n)\nb\n", raw, Withheld.REPEATS_BELOW, Mode.LINE, path=path)


def test_another_branch_before_the_brace_below_is_written() -> None:
    check("if (a) {\n  b;█\n}\n", "\n} else {", "if (a) {\n  b;\n} else {\n}\n", Mode.LINE, path="a.js")


def test_what_goes_on_from_the_brace_right_of_the_cursor_takes_its_place() -> None:
    document = "package a\n\nfunc f() {\n\tgo func() {\n\t\ta()\n\t%s\n}\n"
    check(document % "█}", "}()", document % "}()", Mode.LINE, path="a.go")
