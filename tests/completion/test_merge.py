"""The rest of the cursor's line is merged with and never shown twice."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.completion.postprocess import Insertion, Withheld, accept, judge
from lsp_complete.protocol.completion import Mode
from lsp_complete.text.document import Document
from tests.completion.cursor_case import at, check, check_withheld

LINE = Mode.LINE


@pytest.mark.parametrize("raw", ['ishedhed"  # done', 'ished"  # done', 'ishedhed"  # done\n', "is", "ished", "ish"])
def test_the_rest_of_a_word_and_its_line_is_written_once(raw: str) -> None:
    check('status = "fin█hed"  # done\n', raw, 'status = "finished"  # done\n', LINE)


def test_a_piece_of_the_word_and_the_whole_rest_is_written_once() -> None:
    check("x = fin█shed  # done\n", "ished  # done", "x = finished  # done\n", LINE)


@pytest.mark.parametrize("quote", ["”", "»", "！"])
def test_the_rest_may_have_punctuation_that_is_not_ascii(quote: str) -> None:
    for raw in (f"ished{quote} done", f"ishedhed{quote} done", "is"):
        check(f"status = fin█hed{quote} done\n", raw, f"status = finished{quote} done\n", LINE)


@pytest.mark.parametrize("raw", ["ance = 3", 'ale"', "\nished", "ish - "])
def test_a_text_that_does_not_fit_the_word_is_not_offered(raw: str) -> None:
    check_withheld('status = "fin█hed"  # done\n', raw, Withheld.DOES_NOT_FIT, Mode.BLOCK)


def test_a_bracket_of_a_line_far_above_is_not_taken_for_one_of_the_text() -> None:
    head, tail = "(() => {\n  a;\n  f(() => {\n    █", ")\n}\n"
    for closing in ("}, b);", "}, b)"):
        check(f"{head}{tail}", f"c;\n  {closing}", f"{head}c;\n  {closing}{tail}".replace("█", ""), path="a.js")
    check(
        "(() => {\n  f(() => {\n    █)\n});\n",
        "c;\n  }, b)",
        "(() => {\n  f(() => {\n    c;\n  }, b)\n});\n",
        path="a.js",
    )


def test_brackets_that_close_what_the_line_opens_leave_the_one_behind_them_to_a_line_above() -> None:
    head, tail = "function f() {\n  return g((s) => {\n    s.a(b(", ")\n}\n"
    check(f"{head}█{tail}", "s, c));", f"{head}s, c));{tail}", LINE, "a.ts")


@pytest.mark.parametrize(
    "above",
    ["def f(a):\n    # x in (0, 1]\n", "def f(a):\n    # see foo (bar\n", "g(a, {\n  # open, as while writing\n"],
)
def test_a_bracket_above_that_is_never_closed_does_not_shorten_what_the_line_gets(above: str) -> None:
    check(f"{above}    x = g(█)\n    y = x\n", "a) + h(2)", f"{above}    x = g(a) + h(2)\n    y = x\n", LINE)


@pytest.mark.parametrize(
    ("marked", "right", "path"),
    [
        ("/**\n * ![]█\n */\n", "(a.svg)", "a.ts"),
        ("/**\n *   a(b), //take\n * );\n * //█\n */\n", " '[d] e'", "a.ts"),
        ('def f():\n    """See f█\n    """\n', "(x)", "a.py"),
        ("function g(\n  a: ((v█\n  d: string\n): E {\n}\n", ": c) => c) | void,\n  b?: (c) => d,", "a.ts"),
    ],
)
@pytest.mark.parametrize("surplus", [")", "))"])
def test_brackets_at_the_end_that_close_nothing_are_not_shown(marked: str, right: str, path: str, surplus: str) -> None:
    check(marked, right + surplus, marked.replace("█", right), path=path)


def test_brackets_at_the_end_are_too_many_if_what_is_below_closes_what_the_text_opens() -> None:
    head, tail = "function g(\n  a: ((v: c) => c) | void,\n  b: d,", "\n  d: string\n): E {\n}\n"
    check(f"█{tail}", f"{head}))", f"{head}{tail}", path="a.ts")


@pytest.mark.parametrize("raw", ["b):", "b):)", "b):))"])
def test_brackets_behind_what_takes_the_place_of_the_editor_s_close_nothing_either(raw: str) -> None:
    check("def f():\n    for a in g(█)\n        h(a)\n", raw, "def f():\n    for a in g(b):\n        h(a)\n", LINE)


@pytest.mark.parametrize("raw", ["(ctx)", "(ctx))", "(ctx)))"])
def test_what_closes_nothing_is_not_shown_whatever_is_broken_elsewhere(raw: str) -> None:
    broken = "func f() {\n\tif a ! {\n\t\tx := = 1\n\t}\n\tb :="
    check(f"{broken} g█\n\tdefer c()\n}}\n", raw, f"{broken} g(ctx)\n\tdefer c()\n}}\n", LINE, path="a.go")


def test_a_bracket_that_lines_above_have_opened_is_shown() -> None:
    check("f(\n    a,\n    █\nb()\n", "c)", "f(\n    a,\n    c)\nb()\n", LINE)


@pytest.mark.parametrize(
    ("marked", "raw", "path"),
    [
        ("x = 1\n# foo█\ny = 2\n", " and bar :)", "a.py"),
        ("x = 1  # in █\n", "(0, 1]", "a.py"),
        ('"""Doc.\n\n:param x: █\n"""\n', "any of [0, 1)", "a.py"),
        ("/* One █\n*/\nf();\n", "a) two", "a.ts"),
        ("Range: █\nfoo\n", "[0, 1)", "a.md"),
        ("We are happy█\n", " :)", "a.md"),
        ("# Returns the total (see\n# also █\nx = 1\n", "prices())", "a.py"),
        ("// The total (see\n// also █\nf();\n", "`render()`)", "a.ts"),
    ],
)
def test_a_bracket_of_a_sentence_is_shown(marked: str, raw: str, path: str) -> None:
    check(marked, raw, marked.replace("█", raw), LINE, path)


@pytest.mark.parametrize("above", ["# a) first\n# b) second\n", '"""See :) there."""\n', '"""\na) first\n"""\n'])
def test_a_bracket_of_a_sentence_above_is_none_that_the_text_has_too_many(above: str) -> None:
    check(f"{above}x = f(a, g(█\ny = 2\n", "b))", f"{above}x = f(a, g(b))\ny = 2\n", LINE)
    check(f"{above}x = f(a,  # :)\n      █\ny = 2\n", "b)", f"{above}x = f(a,  # :)\n      b)\ny = 2\n", LINE)


@pytest.mark.parametrize(
    ("marked", "raw", "path"),
    [
        ('print("█\ny = 2\n', 'sad :( {", x)', "a.py"),
        ("x = s.match(█\ny = 2;\n", "/\\{(\\w+)/)", "a.js"),
        ("fn f<'a>() {\n    x.find::<'a>(█\n}\n", "'{')", "a.rs"),
        ("case $x in\n  █\n    b;;\nesac\n", "-h|--help)", "a.sh"),
        ('if [ x\ncase "$1" in\n  "a") b ;;\n  █\nesac\n', '"start")', "a.sh"),
        ('run: |\n  case "$1" in\n    █\n      start\n      ;;\n  esac\n', '"start")', "a.yaml"),
    ],
)
def test_a_bracket_is_not_one_too_many_for_those_of_a_string_or_a_pattern(marked: str, raw: str, path: str) -> None:
    check(marked, raw, marked.replace("█", raw), LINE, path)


def test_a_bracket_behind_another_is_one_too_many_where_no_grammar_tells() -> None:
    check('{\n  "a": [█\n}\n', "[1]]}", '{\n  "a": [[1]]\n}\n', LINE, "a.json")


def test_a_letter_may_double_in_a_word() -> None:
    check('x = "pre█s"\n', 'ss"', 'x = "press"\n', LINE)


@pytest.mark.parametrize("raw", ["(3, 3))", "(3, 3)", "(3, 3))\n"])
def test_a_bracket_that_the_editor_has_closed_is_closed_once(raw: str) -> None:
    check("a = np.zeros(█)\n", raw, "a = np.zeros((3, 3))\n", LINE)


@pytest.mark.parametrize(
    ("marked", "raw", "accepted"),
    [
        ("f(g(█))", "x))", "f(g(x))"),
        ("f(g(█))", "x)", "f(g(x))"),
        ("f(g(█)", "x)", "f(g(x))"),
        ("f(g(█)", "x))", "f(g(x))"),
        ("f(█)", "bar()", "f(bar())"),
        ("f(█)", "bar())", "f(bar())"),
        ("f(█ )", "x)", "f(x )"),
        # Brackets that meet another kind are none to begin with.
        ("if f(█)", "(a)) {)", "if f((a)) {"),
        ("if f(█", "(a)) {))", "if f((a)) {"),
        # What is closed in the text itself closes nothing behind it, where quotes begin before the cursor.
        ('f({"a█})', 'b": {"c": d}, ', 'f({"ab": {"c": d}, })'),
        ("f(█)  # :)", "x)", "f(x)  # :)"),
        ("f(█, b)", "a)", "f(a, b)"),
        ("f(█, b)", "a, b)", "f(a, b)"),
        ("    █)", "x)", "    x)"),
        ('x = {"a": [█]}', "1]}", 'x = {"a": [1]}'),
        ('x = {"a": [█]}', "1]", 'x = {"a": [1]}'),
        ('print("█")', 'hello"', 'print("hello")'),
        ('print("█")', 'hello")', 'print("hello")'),
        ('print("█")', 'a :)")', 'print("a :)")'),
        ("print(█)", '"a")', 'print("a")'),
        ("x = [█]", '"a", "b"]', 'x = ["a", "b"]'),
        ("foo.bar█(x)", "_baz(x)", "foo.bar_baz(x)"),
        ("limit = █ + base", "offset ", "limit = offset + base"),
        ("limit = █ + base", "offset + base", "limit = offset + base"),
        ("return █x", "not ", "return not x"),
    ],
)
def test_what_the_rest_of_the_line_has_is_left_to_it(marked: str, raw: str, accepted: str) -> None:
    check(marked + "\n", raw, accepted + "\n", LINE)


@pytest.mark.parametrize(
    ("marked", "raw", "accepted"),
    [
        ("f(█);", "bar();", "f(bar());"),
        ("f(█);", "bar());", "f(bar());"),
        ("f(█);", "a) + 1;", "f(a) + 1;"),
        ("f(█)", "bar());", "f(bar());"),
        ("x = █;", "1;", "x = 1;"),
        ("[f(█),", "a,", "[f(a),"),
    ],
)
def test_a_statement_ends_once(marked: str, raw: str, accepted: str) -> None:
    check(marked + "\n", raw, accepted + "\n", LINE, path="a.js")


def test_a_text_that_goes_on_after_the_bracket_takes_its_place() -> None:
    document, offset = at("y = f(█)\n")
    assert judge(document, offset, LINE, "x) + 1") == Insertion("x) + 1", num_replaced=1)
    check("y = f(█)\n", "x) + 1", "y = f(x) + 1\n", LINE)
    check("if (█) {\n", "x) {", "if (x) {\n", LINE, path="a.js")
    check("if (█)\n", "x) {\n  a();\n}\n", "if (x) {\n  a();\n}\n", path="a.js")
    check("if (█) {\n", "x) {\n  a();\n}\n", "if (x) {\n  a();\n}\n", path="a.js")


@pytest.mark.parametrize(
    ("marked", "raw", "accepted"),
    [
        ('    case "du█"', 'mp":', '    case "dump":'),
        ('    case "du█":', 'mp":', '    case "dump":'),
        ('x = f("a█")', 'bc")', 'x = f("abc")'),
        ('x = f("a█")', 'bc", 2)', 'x = f("abc", 2)'),
        ('x = f("a█")', 'bc", "d")', 'x = f("abc", "d")'),
        ("x = f('a█', b)", "c', d, b)", "x = f('ac', d, b)"),
        ("x = f('a█', b)", "c', b)", "x = f('ac', b)"),
        ('x = {"a█"}', 'b": 1}', 'x = {"ab": 1}'),
        ('x = "█"', '" + "b"', 'x = "" + "b"'),
        ('x = """█"""', 'a""" + b', 'x = """a""" + b'),
        ('x = f(a, f"{b[█})', '1]} and {c}"', 'x = f(a, f"{b[1]} and {c}")'),
    ],
)
def test_a_string_that_the_editor_has_closed_is_closed_once(marked: str, raw: str, accepted: str) -> None:
    check(f"{marked}\n", raw, f"{accepted}\n", LINE)


def test_a_bracket_behind_one_that_the_user_has_left_open_takes_the_editor_s_place() -> None:
    check("see (also [thi█)\n", "s](a.md)) `code` here", "see (also [this](a.md)) `code` here\n", LINE, "a.md")


def test_a_block_behind_a_string_takes_the_place_of_the_quote_that_the_editor_has_closed() -> None:
    check(
        "switch (x) {\n  case 'du█'\n}\n",
        "mp':\n    y();\n",
        "switch (x) {\n  case 'dump':\n    y();\n}\n",
        Mode.BLOCK,
        "a.js",
    )


def test_a_block_between_brackets_ends_before_the_closing_one() -> None:
    for raw in ("\n  a();\n", "\n  a();\n});\n", "\n  a();\n})", "\n  a();"):
        document, offset = at("f(() => {█});\n", path="a.js")
        outcome = judge(document, offset, Mode.BLOCK, raw)
        assert isinstance(outcome, Insertion)
        assert outcome.text.rstrip() == "\n  a();"
    check("  f(() => {█});\n", "\n    a();\n  });\n", "  f(() => {\n    a();\n  });\n", path="a.js")
    check("  f(() => {█});\n", "\n    a();\n", "  f(() => {\n    a();\n  });\n", path="a.js")


def test_the_rest_of_the_line_ends_at_its_line_end() -> None:
    check("f(█)\nx)\n", "a, x)", "f(a, x)\nx)\n", LINE)
    check("f(█)\n+ 1\n", "a) + 1", "f(a) + 1\n+ 1\n", LINE)


def test_a_text_that_is_the_rest_of_the_line_is_not_offered() -> None:
    check_withheld("x = █foo(a)\n", "foo(a)", Withheld.REPEATS_REST, LINE)
    check_withheld("f(█)\n", ")", Withheld.REPEATS_REST, LINE)
    check_withheld("f(█b)\n", "a(b)", Withheld.DOES_NOT_FIT, LINE)


def test_the_leading_blank_is_kept() -> None:
    check("def f(total):\n    return█\n", " total", "def f(total):\n    return total\n", LINE)


def test_a_line_of_crlf_has_nothing_after_its_last_character() -> None:
    document, offset = at("def f(a):\n    return █\n\nprint(f(1))\n", eol="\r\n")
    assert judge(document, offset, LINE, "a + 1") == Insertion("a + 1")


def test_an_accepted_call_parses() -> None:
    for raw in ("(3, 3)", "(3, 3))", "3)", "3", "(3, (1, 2)))"):
        document, offset = at("a = np.zeros(█)\n")
        outcome = judge(document, offset, LINE, raw)
        assert isinstance(outcome, Insertion)
        ast.parse(document.text[:offset] + outcome.text + document.text[offset + outcome.num_replaced :])


@pytest.mark.parametrize("raw", ["a: int) -> str:", "a: int) -> str:)"])
def test_a_bracket_of_the_editor_goes_where_the_text_has_closed_it(raw: str) -> None:
    check('def name(█)\n    """It."""\n', raw, 'def name(a: int) -> str:\n    """It."""\n', LINE)


def test_a_text_that_goes_on_from_the_end_of_the_line_takes_its_place() -> None:
    document, offset = at('def f(cents):\n    return █f"{cents}"\n', "a.py", "\n")
    insertion = judge(document, offset, LINE, 'f"{cents}" if cents else "0"')
    assert isinstance(insertion, Insertion)
    assert accept(document, offset, insertion) == 'def f(cents):\n    return f"{cents}" if cents else "0"\n'


@pytest.mark.parametrize(("marked", "raw"), [("{foo█)}}  ", "),  (}\n["), ("{f(█)}", ")}"), ("[{a(█)}]", "), (}]")])
def test_what_is_replaced_is_written_again(marked: str, raw: str) -> None:
    document, offset = at(f"{marked}\n", path="a.unknown")
    outcome = judge(document, offset, LINE, raw)
    replaced = document.text[offset : offset + outcome.num_replaced] if isinstance(outcome, Insertion) else ""
    letters = iter(outcome.text if isinstance(outcome, Insertion) else "")
    assert all(letter in letters for letter in replaced)


@given(*[st.text("(){}[],; a\"'", max_size=6) for _ in range(3)])
def test_nothing_that_is_replaced_is_lost(before: str, rest: str, raw: str) -> None:
    document = Document("file:///a.js", f"{before}{rest}\nfoo\n", "a.js")
    outcome = judge(document, len(before), LINE, raw)
    if isinstance(outcome, Insertion):
        letters = iter(outcome.text)
        assert all(letter in letters for letter in rest[: outcome.num_replaced].rstrip())
