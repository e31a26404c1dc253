"""One document, many spellings of its URI (B35); buffers that are no file (B36); the root that counts (B37)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.server.uris import is_served, key, relative_path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///c%3A/Work/My%20App/app.py", "file:///C:/Work/My App/app.py"),
        ("file:///c%3A/Work/My%20App/app.py", "file:///c:/Work/My%20App/app.py"),
        ("file:///c%3a/x.py", "file:///C%3A/x.py"),
        ("FILE:///w/x.py", "file:///w/x.py"),
        ("file:/w/x.py", "file:///w/x.py"),
        ("file:///w/caf%C3%A9.py", "file:///w/café.py"),
        ("file:///w/cafe%CC%81.py", "file:///w/café.py"),
        ("file:///w/cafe\u0301.py", "file:///w/caf\u00e9.py"),
        ("file:///w/a%2Bb%26c.py", "file:///w/a+b&c.py"),
        ("file:///w/100%25.py", "file:///w/100%.py"),
        ("file:///w/c%23.py", "file:///w/c#.py"),
    ],
)
def test_spellings_of_one_document_have_one_key(one, other):
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///w/a.py", "file:///w/A.py"),
        ("file:///w/a+b.py", "file:///w/a%20b.py"),
        ("file:///w/a%2520b.py", "file:///w/a%20b.py"),
        ("file:///w/c%23.py", "file:///w/c.py"),
        ("file:///w/%FF.py", "file:///w/%FE.py"),
        ("untitled:Untitled-1", "file:///Untitled-1"),
        ("file://server/share/a.py", "file:///share/a.py"),
    ],
)
def test_different_documents_have_different_keys(one, other):
    assert key(one) != key(other)


@given(st.text(max_size=30))
def test_no_uri_is_too_strange(text):
    for uri in (text, f"file:///{text}", f"file:///w/%{text}"):
        assert key(uri) == key(uri)
        assert is_served(uri) in (True, False)
        relative_path(uri, ["file:///w", text]).encode("utf-8")


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///w/a.py", True),
        ("untitled:Untitled-1", True),
        ("untitled:/w/new.py", True),
        ("file:///", False),
        ("file:", False),
        ("untitled:", False),
        ("", False),
        ("/w/a.py", False),
        ("vscode-vfs://github/x/y.py", False),
        ("git:/a.py?ref", False),
        ("vscode-remote://ssh-remote%2Bhost/home/u/a.py", False),
        ("vscode-notebook-cell:/w/a.ipynb#1", False),
        ("output:tasks", False),
    ],
)
def test_files_and_new_buffers_are_served_and_nothing_else(uri, expected):
    assert is_served(uri) is expected


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///w/api/src/main.py", "src/main.py"),
        ("file:///w/web/src/main.py", "src/main.py"),
        ("file:///w/web/plugins/x/src/main.py", "src/main.py"),
        ("file:///w/web/plugins/y/src/main.py", "plugins/y/src/main.py"),
        ("file:///w/webber/src/main.py", "main.py"),
        ("file:///elsewhere/main.py", "main.py"),
    ],
)
def test_the_path_is_below_the_innermost_root(uri, path, order):
    roots = ["file:///w/api", "file:///w/web/", "file:///w/web/plugins/x"][::order]
    assert relative_path(uri, roots) == path


def test_without_a_root_the_path_is_the_name():
    assert relative_path("file:///home/u/a%20b.py", []) == "a b.py"
    assert relative_path("file:///home/u/a.py", [""]) == "a.py"


def test_the_root_of_all_files_is_a_root():
    assert relative_path("file:///home/u/a.py", ["file:///"]) == "home/u/a.py"


def test_roots_and_documents_may_be_spelled_differently():
    assert relative_path("file:///C:/My App/src/a.py", ["file:///c%3A/My%20App/"]) == "src/a.py"
    assert relative_path("file:///w/cafe%CC%81/a.py", ["file:///w/caf%C3%A9"]) == "a.py"


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "untitled:/w/new.py", "untitled:c:\\Users\\new.py"])
def test_a_buffer_that_is_no_file_has_no_path(uri):
    assert relative_path(uri, ["file:///w", "untitled:/w"]) == ""


def test_a_path_that_is_not_utf_8_has_no_half_characters():
    assert relative_path("file:///w/%FFx.py", ["file:///w"]) == "?x.py"
