import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.text.languages import language_of
from lsp_complete.text.scopes import Scope, scope_at

CODE, COMMENT, STRING = Scope.CODE, Scope.COMMENT, Scope.STRING


def check(name: str, marked: str, expected: Scope) -> None:
    text = marked.replace("█", "")
    assert scope_at(text, marked.index("█"), language_of(name)) is expected


@pytest.mark.parametrize(
    ("name", "marked", "expected"),
    [
        ("a.py", "x = █1\n", CODE),
        ("a.py", "x = 1  # é why█\ny = 2\n", COMMENT),
        ("a.py", "x = 1  █# why\n", CODE),
        ("a.py", "# why\n█\n", CODE),
        ("a.py", "x = 'a█b'\n", STRING),
        ("a.py", "x = 'ab'█\n", CODE),
        ("a.py", "x = █'ab'\n", CODE),
        ("a.py", 'x = "ab█\ny = 1\n', STRING),
        ("a.py", 'def f():\n    """What it does█\n', STRING),
        ("a.py", 'x = f"a{b█}c"\n', CODE),
        ("a.py", 'x = f"a{b}c█"\n', STRING),
        ("a.py", 'x = f("a", b█\n', CODE),
        ("a.js", "let a = `x${b█}`;\n", CODE),
        ("a.js", "let a = `x█${b}`;\n", STRING),
        ("a.js", 'let a = "😀abc█\nlet b = 1;\n', STRING),
        ("a.js", "/* abc █\nlet a = 1;\n", COMMENT),
        ("a.c", "/* a */█ int x;\n", CODE),
        ("a.c", "/* a */\n█int x;\n", CODE),
        ("a.c", "int x; // why█", COMMENT),
        ("a.c", 'char *a = "abc█\nint b;\n', STRING),
        ("a.rs", "/// What it does█\nfn a() {}\n", COMMENT),
        ("a.rs", 'let a = "abc█\nlet b = 1;\n', STRING),
        ("a.go", 'x := "abc█\ny := 1\n', STRING),
        ("a.go", "x := `a\nb█`\n", STRING),
        ("a.java", 'class A { String a = "b█"; }\n', STRING),
        ("a.sh", "# why█\n", COMMENT),
        ("a.sh", 'echo "abc█\nls\n', STRING),
        ("a.sh", 'echo "abc $(ls █) d"\n', CODE),
        ("a.rb", 'x = "a#{b█}"\n', CODE),
        ("a.lua", "-- why█\n", COMMENT),
        ("a.kt", "// why█\n", COMMENT),
        ("a.scala", 'val a = "b█"\n', STRING),
        ("a.php", "<?php\n// a█\n", COMMENT),
        ("a.cs", 'class A { string a = "b█"; }\n', STRING),
        ("a.cpp", 'auto a = "b█";\n', STRING),
        ("a.ts", "// why█\n", COMMENT),
        ("a.tsx", "const a = 'b█';\n", STRING),
        ("notes.txt", "it's █\n", CODE),
    ],
)
def test_the_scope_is_that_of_the_syntax(name: str, marked: str, expected: Scope) -> None:
    check(name, marked, expected)


def test_a_text_too_long_to_parse_is_judged_by_its_line() -> None:
    check("a.py", "x = 1\n" * 100_000 + "# why█", COMMENT)
    check("a.py", "x = 1\n" * 100_000 + "x = 1 █", CODE)


@given(st.text(alphabet="a\"'`#/*\n {}$\\é😀"), st.integers(0, 50), st.sampled_from(["a.py", "a.js", "a.rs", "a.sh"]))
def test_no_text_raises(text: str, offset: int, name: str) -> None:
    assert scope_at(text, min(offset, len(text)), language_of(name)) in Scope
