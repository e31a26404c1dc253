import dataclasses

import pytest

from lsp_complete.text.languages import PLAIN, BlockStyle, language_of, languages

KEYS = [
    "bash",
    "c",
    "cpp",
    "csharp",
    "go",
    "java",
    "javascript",
    "kotlin",
    "lua",
    "php",
    "python",
    "ruby",
    "rust",
    "scala",
    "tsx",
    "typescript",
]


def test_each_folder_of_grammars_is_a_language() -> None:
    assert [language.key for language in languages()] == KEYS


def test_languages_are_read_once() -> None:
    assert languages() is languages()


@pytest.mark.parametrize(
    ("path", "language_id", "key"),
    [
        ("src/app.py", "", "python"),
        ("app.pyi", "", "python"),
        ("a/b\\c.tsx", "", "tsx"),
        ("x.jsx", "", "tsx"),
        ("", "typescriptreact", "tsx"),
        ("", "javascriptreact", "tsx"),
        ("x.ts", "", "typescript"),
        ("x.mjs", "", "javascript"),
        ("x.h", "", "c"),
        ("x.h", "cpp", "cpp"),
        ("X.C", "", "cpp"),
        ("MAIN.PY", "", "python"),
        ("deploy/Rakefile", "", "ruby"),
        ("/home/a/.bashrc", "", "bash"),
        ("run", "shellscript", "bash"),
        ("Program.cs", "", "csharp"),
        ("build.gradle.kts", "", "kotlin"),
        ("app.rb", "unheard-of", "ruby"),
    ],
)
def test_a_language_is_known_by_its_id_its_file_name_or_its_extension(path: str, language_id: str, key: str) -> None:
    assert language_of(path, language_id).key == key


@pytest.mark.parametrize("path", ["", "README", "a.unheard", "x.", ".", "dir.py/notes", "😀.😀"])
def test_an_unknown_file_is_plain_text(path: str) -> None:
    assert language_of(path) is PLAIN


def test_no_two_languages_claim_the_same_name() -> None:
    for field in ("language_ids", "extensions", "file_names"):
        claimed = [name for language in languages() for name in getattr(language, field)]
        assert len(claimed) == len(set(claimed)), field


def test_each_language_says_how_comments_and_blocks_look() -> None:
    for language in languages():
        assert language.line_comment in {"#", "//", "--"}
        assert language.grammar_package.startswith("tree-sitter-")
        assert all(extension.startswith(".") for extension in language.extensions)
        assert language.language_ids
    styles = {language.key: language.block_style for language in languages()}
    assert {key for key, style in styles.items() if style is BlockStyle.KEYWORD} == {"bash", "lua", "ruby"}
    assert {key for key, style in styles.items() if style is BlockStyle.INDENT} == {"python"}


def test_a_language_is_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        PLAIN.name = "other"  # type: ignore[misc]
