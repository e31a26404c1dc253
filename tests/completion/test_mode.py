import pytest

from lsp_complete.completion.mode import choose_mode
from lsp_complete.protocol.completion import Mode
from tests.completion.cursor_case import EOLS, at

LINE, BLOCK = Mode.LINE, Mode.BLOCK


@pytest.mark.parametrize("eol", EOLS)
@pytest.mark.parametrize(
    ("marked", "path", "mode"),
    [
        ("x = █ + base\n", "a.py", LINE),
        ("foo█bar\n", "a.py", LINE),
        ("█return x\n", "a.py", LINE),
        ("if (a) {█ b(); }\n", "a.js", LINE),
        ("f(█)\n", "a.py", LINE),
        ("f(a, █);\n", "a.js", LINE),
        ('x = "█"\n', "a.py", LINE),
        ("x = █\n", "a.py", LINE),
        ("    return█\n", "a.py", LINE),
        ("f(█\n", "a.py", LINE),
        ("x = a => █\n", "a.js", LINE),
        ("a ? b :█\n", "a.js", LINE),
        ("    case 1:█\n", "a.c", LINE),
        ('x = {"a":█\n', "a.py", LINE),
        ("def f(x):█\n", "a.py", BLOCK),
        ("def f(x):  █\n", "a.py", BLOCK),
        ("if x:  # why█\n", "a.py", BLOCK),
        ("if (a) {█\n", "a.js", BLOCK),
        ("if (a) { // why█\n", "a.js", BLOCK),
        ("f(() => {█});\n", "a.js", BLOCK),
        ("if [ -f a ]; then█\n", "a.sh", BLOCK),
        ("xs.each do |x|█\n", "a.rb", BLOCK),
        ("def f(x)█\n", "a.rb", BLOCK),
        ("local f = function(a, b)█\n", "a.lua", BLOCK),
        ("def f(x):\n    █\n", "a.py", BLOCK),
        ("def f(x):\n█\n", "a.py", BLOCK),
        ("f(\n  █\n)\n", "a.js", BLOCK),
        ("a = 1\n\n█\n", "a.py", BLOCK),
        ("    a = 1\n    █   \n", "a.py", BLOCK),
        ("█", "a.py", BLOCK),
        ("key:█\n", "a.unheard", BLOCK),
    ],
)
def test_a_line_is_finished_and_a_blank_one_or_a_header_gets_a_block(
    marked: str, path: str, mode: Mode, eol: str
) -> None:
    document, offset = at(marked, path, eol)
    assert choose_mode(document, offset) is mode


@pytest.mark.parametrize(
    ("marked", "path"),
    [
        ('d = {\n    "a":█\n}\n', "a.py"),
        ('d = {"a": {\n    "b":█\n}}\n', "a.py"),
        ("class A:\n    x:█\n", "a.py"),
        ("def f(\n    a:█\n):\n    pass\n", "a.py"),
        ("f = lambda x:█\n", "a.py"),
        ('def f():\n    """About.\n\n    Args:█\n    """\n', "a.py"),
        ('x = f"{█}"\n', "a.py"),
        ('x = "{█"\n', "a.js"),
        ("x = `${█}`\n", "a.js"),
        ("/*\n * see {█\n */\n", "a.js"),
        ('puts "if a then█"\n', "a.rb"),
    ],
)
def test_what_looks_like_a_header_and_holds_a_value_or_text_gets_a_line(marked: str, path: str) -> None:
    assert choose_mode(*at(marked, path)) is LINE


@pytest.mark.parametrize(
    ("marked", "path"),
    [
        ("def f(\n    a,\n) -> int:█\n", "a.py"),
        ("def f(x: Callable[[int], str]):█\n", "a.py"),
        ("for x in {1: 2}:█\n", "a.py"),
        ("match a:\n    case 1:█\n", "a.py"),
        ("try:\n    a()\nexcept ValueError:█\n", "a.py"),
        ("except ValueError:█\n", "a.py"),
        ("xs.map {█}\n", "a.kt"),
        ("fn f<'a>(x: &'a str) {█\n", "a.rs"),
        ('if x == "{" {█\n}\n', "a.go"),
        ("match x {\n    1 => {█\n}\n", "a.rs"),
    ],
)
def test_what_looks_like_anything_else_and_is_a_header_gets_a_block(marked: str, path: str) -> None:
    assert choose_mode(*at(marked, path)) is BLOCK
