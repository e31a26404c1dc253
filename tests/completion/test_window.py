"""The lines around a cursor are, by themselves, code that parses where the document does."""

import sysconfig
from pathlib import Path

import pytest

from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.window import around
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.syntax import parse
from tests.completion.cursor_case import at

SAMPLES = Path(__file__).resolve().parents[1] / "text" / "samples"
LIBRARY = Path(sysconfig.get_path("stdlib"))
STATEMENTS = "".join(f"        value_{number} = compute({number})\n" for number in range(60))
PROSE = "".join(f"    Say it once; and then, if it's not clear, ({number} times) again.\n" for number in range(60))
# Of windows that begin and end by what indentation, brackets and quotes say, and not the grammar.
MOST_SHARE = 0.02


def window(marked: str, path: str = "a.py", text: str = "") -> str:
    document, offset = at(marked, path)
    cursor = Cursor(document, offset)
    above, below = around(cursor, text, 1_000)
    return above + cursor.before + text + cursor.rest + below


def is_clean(text: str, path: str) -> bool:
    tree = parse(text, language_of(path))
    return tree is not None and not tree.has_error


def test_windows_of_code_that_parses_parse() -> None:
    paths = [path for path in sorted(SAMPLES.iterdir()) if path.suffix != ".toml"] + [LIBRARY / "textwrap.py"]
    outcomes = [
        is_clean(window(text[:offset] + "█" + text[offset:], path.name), path.name)
        for path in paths
        for text in [path.read_text(encoding="utf-8")]
        if is_clean(text, path.name)
        for offset in [index for index, char in enumerate(text) if char == "\n"][::5]
    ]
    assert outcomes.count(False) <= MOST_SHARE * len(outcomes)


@pytest.mark.parametrize(
    "header",
    [
        "class A:\n    def f(\n        self,\n        a,\n    ):\n",
        "class A:\n    def f(self, a,\n          b=(1, 2)):\n",
        "if a:\n    b()\nelse:\n    if c:\n",
        "try:\n    b()\nexcept E:\n    if c:\n",
    ],
)
def test_a_header_is_whole(header: str) -> None:
    assert is_clean(window(f"{header}{STATEMENTS}        █\n{STATEMENTS}"), "a.py")


def test_a_header_has_the_line_that_it_goes_on_from() -> None:
    body = "".join(f"        f({number});\n" for number in range(200))
    for header in ("if (a) {\n    b();\n} else {\n    while (c) {\n", "class A\n{\n    void f()\n    {\n"):
        assert is_clean(window(f"{header}{body}        █\n    }}\n}}\n", "a.cs"), "a.cs")


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_in_prose_the_window_is_prose(quotes: str) -> None:
    prose = f"def f():\n    {quotes}About.\n{PROSE}█\n{PROSE}    {quotes}\n"
    assert is_clean(window(prose), "a.py")
    assert is_clean(window(prose, text="it's (not"), "a.py")
    assert is_clean(window(f"/**\n{PROSE}█\n{PROSE} */\nf();\n", "a.js"), "a.js")


def test_a_text_that_ends_or_begins_prose_has_the_window_behind_it() -> None:
    code = f"    x = 1\n    y = 2\n\n\ndef g():\n    '''One.'''\n{STATEMENTS}"
    assert is_clean(window(f"def f():\n    '''About.\n{PROSE}    █\n{code}", text="Done.\n    '''"), "a.py")
    assert is_clean(window(f"def f():\n    █\n{PROSE}    '''\n{code}", text="'''About."), "a.py")
    assert not is_clean(window(f"def f():\n    █\n{code}", text="'''About."), "a.py")


def test_a_mark_inside_a_line_begins_no_comment() -> None:
    body = "".join(f"  f({number});\n" for number in range(200))
    marked = f'const files = "src/*.js";\nfunction g() {{\n{body}  █\n{body}}}\n'
    assert is_clean(window(marked, "a.js", "f(a);"), "a.js")
    assert not is_clean(window(marked, "a.js", "f(a;"), "a.js")


def test_a_document_of_any_length_gives_a_short_window() -> None:
    text = "def f():\n" + STATEMENTS * 300
    document = Document("file:///a.py", text, "a.py")
    above, below = around(Cursor(document, len(text) // 2), "", 1_000)
    assert len(above) + len(below) < 3_000
