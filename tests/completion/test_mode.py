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
