import pytest

from lsp_complete.completion.postprocess import Withheld
from lsp_complete.protocol.completion import Mode
from tests.completion.cursor_case import check, check_withheld, first_enough

LINE, BLOCK = Mode.LINE, Mode.BLOCK


def test_a_line_ends_at_its_first_line_end() -> None:
    check("x = █\n", "1\ny = 2\n", "x = 1\n", LINE)


def test_a_line_may_be_the_next_one_at_the_end_of_a_line() -> None:
    check("call(█\n", "\n    first,\n    second,\n", "call(\n    first,\n", LINE)


def test_the_halves_of_a_line_are_not_torn_apart() -> None:
    check("x = f(█) + 1\n", "a\nb", "x = f(a) + 1\n", LINE)
    check_withheld("x = f(█) + 1\n", "\na", Withheld.BLANK, LINE)


def test_a_line_in_front_of_a_line_becomes_a_line_above_it() -> None:
    check("def f():\n█    return x\n", "    x = 1\n    y = 2\n", "def f():\n    x = 1\n    return x\n", LINE)
    check("def f():\n    █return x\n", "x = 1\n    y = 2\n", "def f():\n    x = 1\n    return x\n", LINE)
    check("def f():\n█    return x\n", "    x = 1", "def f():\n    x = 1\n    return x\n", LINE)


def test_a_piece_in_front_of_a_line_stays_on_it() -> None:
    check("█value = 1\n", "self.", "self.value = 1\n", LINE)
    check("return █x\n", "not ", "return not x\n", LINE)


def test_a_block_ends_at_the_line_that_is_indented_less() -> None:
    check(
        "def f(xs):\n    for x in xs:\n        █\n",
        "if x:\n            yield x\n\n        print(x)\n    return 1\n",
        "def f(xs):\n    for x in xs:\n        if x:\n            yield x\n\n        print(x)\n",
    )


def test_a_block_at_column_zero_of_a_blank_line_has_the_indentation_of_its_first_line() -> None:
    check("def f():\n█\n", "    a()\n    b()\nc()\n", "def f():\n    a()\n    b()\n")


def test_a_block_after_its_header_is_deeper_than_the_header() -> None:
    check("def f(a):█\n", "\n    return a\n\ndef g():\n    pass\n", "def f(a):\n    return a\n")
    check("    if a:█\n", " return b\n    return c\n", "    if a: return b\n")
    check("def f(a):  # note█\n", "\n    return a\nx = 1\n", "def f(a):  # note\n    return a\n")


def test_else_is_not_part_of_the_block_of_if() -> None:
    check("if a:\n    █\n", "b()\nelse:\n    c()\n", "if a:\n    b()\n")


@pytest.mark.parametrize("header", ["function f() {", "if (a) {", "f(() => {"])
def test_the_closing_bracket_of_the_header_belongs_to_the_block(header: str) -> None:
    close = "});" if "=>" in header else "}"
    check(f"{header}█\n", f"\n  a();\n{close}\n\nb();\n", f"{header}\n  a();\n{close}\n", path="a.js")
    check(f"{header}\n  █\n", f"a();\n{close}\n\nb();\n", f"{header}\n  a();\n{close}\n", path="a.js")


def test_the_closing_bracket_that_the_document_has_is_not_written_again() -> None:
    check("if (a) {█\n  c();\n}\n", "\n  b();\n}\n", "if (a) {\n  b();\n  c();\n}\n", path="a.js")
    check("if (a) {\n  █\n  c();\n}\n", "b();\n}\n", "if (a) {\n  b();\n  c();\n}\n", path="a.js")
    check("if (a) {\n  █\n}\n", "b();\n}\nc();\n", "if (a) {\n  b();\n}\n", path="a.js")


def test_the_bracket_of_an_enclosing_block_ends_the_block() -> None:
    check(
        "class A {\n  f() {\n    a();\n    █\n",
        "b();\n  }\n}\n",
        "class A {\n  f() {\n    a();\n    b();\n",
        path="a.ts",
    )


def test_a_bracket_that_opens_again_goes_on() -> None:
    check("if (a) {█\n", "\n  b();\n} else {\n  c();\n}\nd();\n", "if (a) {\n  b();\n} else {\n  c();\n}\n", path="a.c")
    check("a = f(█\n", "\n    1,\n)\nb = 2\n", "a = f(\n    1,\n)\n")


def test_what_the_text_opens_it_may_close() -> None:
    body = "if (a) {\n    b();\n  }\n  c();"
    check("function f() {\n  █\n}\n", f"{body}\n}}\n", f"function f() {{\n  {body}\n}}\n", path="a.js")


def test_the_word_that_closes_the_header_belongs_to_the_block() -> None:
    check("def f(x)█\n", "\n  x + 1\nend\n\ndef g\nend\n", "def f(x)\n  x + 1\nend\n", path="a.rb")
    check("def f(x)█\nend\n", "\n  x + 1\nend\n", "def f(x)\n  x + 1\nend\n", path="a.rb")
    check("if [ -n $a ]; then\n  █\n", "b\nfi\nc\n", "if [ -n $a ]; then\n  b\nfi\n", path="a.sh")
    check("class A\n  def f\n    a\n    █\n", "b\n  end\nend\n", "class A\n  def f\n    a\n    b\n", path="a.rb")


def test_the_next_definition_is_not_part_of_the_block() -> None:
    check(
        "class A:\n    █\n",
        "def a(self):\n        pass\n\n    def b(self):\n        pass\n",
        "class A:\n    def a(self):\n        pass\n",
    )
    check(
        "impl A {\n    █\n}\n",
        "pub fn a() {\n        x();\n    }\n\n    pub fn b() {\n    }\n",
        "impl A {\n    pub fn a() {\n        x();\n    }\n}\n",
        path="a.rs",
    )


def test_a_name_that_could_start_a_definition_starts_none() -> None:
    for line in ("object.add(a)", "module.exports = a", "@items.each do |x|", "record = a", "function_of(a)"):
        raw = f"if (a) {{\n    b();\n  }}\n  {line}"
        check("f() {\n  █\n}\n", raw, f"f() {{\n  {raw}\n}}\n", path="a.js")


def test_a_module_level_block_is_one_statement_with_a_body() -> None:
    check("█\n", "def f():\n    return 1\n\n\nprint(f())\n", "def f():\n    return 1\n")
    check("█\n", "if a:\n    b()\nelse:\n    c()\nd()\n", "if a:\n    b()\nelse:\n    c()\n")
    check("█\n", "int f() {\n  a();\n}\n\nint g() {\n}\n", "int f() {\n  a();\n}\n", path="a.c")
    check("█\n", "import a\nimport b\n", "import a\nimport b\n")


def test_the_same_line_three_times_in_a_row_is_said_once() -> None:
    check("    █\n", "a()\n    b()\n    b()\n\n    b()\n    c()\n", "    a()\n    b()\n")
    check("    █\n", "a()\n    a()\n    a()\n", "    a()\n")


def test_the_same_line_twice_is_code() -> None:
    check("    █\n", "a()\n    a()\n    b()\n", "    a()\n    a()\n    b()\n")


def test_a_line_is_asked_for_up_to_its_line_end() -> None:
    assert first_enough("x = █\n", "1\ny = 2\n", LINE) == "1\n"
    assert first_enough("x = █\n", "\n\n  1\ny", LINE) == "\n\n  1\n"
    assert first_enough("f(█) + 1\n", "\n  1\n", LINE) == "\n"


def test_a_block_is_asked_for_up_to_the_first_character_outside_it() -> None:
    assert first_enough("def f():\n    █\n", "a()\n\n    b()\nc()\n") == "a()\n\n    b()\nc"


def test_a_bracket_outside_the_block_is_waited_for_to_the_end_of_its_line() -> None:
    raw = "\n  b();\n} else {\n  c();\n}\nd();\n"
    assert first_enough("if (a) {█\n", raw, path="a.js") == raw[: raw.index("d")]


def test_a_loop_is_left_at_the_end_of_its_third_line() -> None:
    assert first_enough("    █\n", "a()\n    a()\n    a()\n    a()\n") == "a()\n    a()\n    a()\n"


@pytest.mark.parametrize(
    ("path", "opening", "closing"),
    [
        ("a.py", 'x = """', '""")'),
        ("a.py", "x = f'''", "''')"),
        ("a.js", "const x = `", "`;"),
        ("a.go", "x := `", "`"),
        ("a.rs", 'let x = "', '";'),
        ("a.java", 'String x = """', '""";'),
        ("a.cpp", 'auto x = R"(', ')";'),
        ("a.lua", "local x = [[", "]]"),
        ("a.sh", "cat <<EOF", "EOF"),
        ("a.sh", "cat <<'EOF'", "EOF"),
        ("a.rb", "x = <<~SQL", "SQL"),
        ("a.c", "/*", "*/"),
    ],
)
def test_text_of_several_lines_is_indented_as_it_likes(path: str, opening: str, closing: str) -> None:
    closing = closing.replace(")", "") if path == "a.py" else closing
    raw = f"{opening}\nselect a\n  from it\n{closing}\n    g(x)\n"
    check("    f(x)\n    █\n", raw + "g(y)\n", "    f(x)\n    " + raw, path=path)
    assert first_enough("    f(x)\n    █\n", raw + "g(y)\n" + raw, path=path) in (raw + "g", raw + "g(y)\n")


def test_prose_that_stands_like_a_statement_is_part_of_its_string() -> None:
    raw = 'def f():\n    x = """\nclass A is not\nB is\n"""\n    return x\n'
    check("█\n", raw + "y = 1\n", raw)


def test_a_quote_in_a_comment_begins_no_string() -> None:
    check("def f():\n    █\n", "a()  # don't\n    b()\nc()\n", "def f():\n    a()  # don't\n    b()\n")


def test_a_case_at_the_indentation_of_its_switch_is_part_of_the_block() -> None:
    body = "\n\tcase 1:\n\t\tf()\n\tdefault:\n\t\tg()\n\t}\n"
    check("\tswitch x {█\n", body + "\th()\n", "\tswitch x {" + body, path="a.go")
    check("\tswitch x {█\n\t}\n", body + "\th()\n", "\tswitch x {" + body, path="a.go")
    check("\tcase 1:\n\t\t█\n", "f()\n\tcase 2:\n\t\tg()\n", "\tcase 1:\n\t\tf()\n", path="a.go")
