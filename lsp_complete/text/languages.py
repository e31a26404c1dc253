"""The languages we know: their names, comments and block style, one folder of `grammars/` each.

Reads `language.toml` and nothing else of a folder. Knows no grammar and parses no code; a file of an unknown language
is `PLAIN`.
"""

import re
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent.parent
# In an installed package, and in a checkout.
_FOLDERS = (_PACKAGE / "grammars", _PACKAGE.parent / "grammars")


class BlockStyle(StrEnum):
    """How a block shows where it ends: by indentation alone, by a bracket, or by a word such as `end`."""

    INDENT = "indent"
    BRACES = "braces"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True)
class Language:
    """`key` is the folder's name. `grammar_function` is the function of `grammar_package` that returns the grammar."""

    key: str
    name: str
    language_ids: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    line_comment: str = ""
    block_comments: tuple[tuple[str, str], ...] = ()
    block_style: BlockStyle = BlockStyle.INDENT
    grammar_package: str = ""
    grammar_function: str = "language"


PLAIN = Language("plain", "Plain text")


@cache
def grammar_folder() -> Path:
    """Where the folders of the languages lie."""
    return next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])


@cache
def languages() -> tuple[Language, ...]:
    """All known languages, in order of their folders' names. Read once."""
    return tuple(_read(path) for path in sorted(grammar_folder().glob("*/language.toml")))


def language_of(path_or_name: str, language_id: str = "") -> Language:
    """The language an editor names by `language_id`, else that of the file's name, else `PLAIN`."""
    name = re.split(r"[/\\]", path_or_name)[-1]
    extension = "." + name.rpartition(".")[2] if "." in name else ""
    table = _table()
    keys = (f"id:{language_id}", f"name:{name}", f"extension:{extension}", f"extension:{extension.lower()}")
    return next((table[key] for key in keys if key in table), PLAIN)


@cache
def _table() -> dict[str, Language]:
    table: dict[str, Language] = {}
    for language in languages():
        table |= dict.fromkeys((f"id:{id_}" for id_ in language.language_ids), language)
        table |= dict.fromkeys((f"name:{name}" for name in language.file_names), language)
        table |= dict.fromkeys((f"extension:{extension}" for extension in language.extensions), language)
    return table


def _read(path: Path) -> Language:
    values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return Language(
        key=path.parent.name,
        name=values["name"],
        language_ids=tuple(values["language_ids"]),
        extensions=tuple(values["extensions"]),
        file_names=tuple(values.get("file_names", ())),
        line_comment=values["line_comment"],
        block_comments=tuple((start, end) for start, end in values.get("block_comments", ())),
        block_style=BlockStyle(values["block_style"]),
        grammar_package=values["grammar_package"],
        grammar_function=values.get("grammar_function", "language"),
    )
