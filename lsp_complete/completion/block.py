"""Where a block ends: at the first line that is indented less, or after that line if it is the block's own `}`.

Goes by indentation and brackets, as people read code, and asks the grammar what indentation cannot tell: whether a line
stands in a string, a here-document or a comment, where it is indented as it likes. A `case` belongs to its `switch`.
"""

import re
from dataclasses import dataclass

from lsp_complete.completion.brackets import scan
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.indentation import placement
from lsp_complete.completion.lines import (
    continues,
    indentation,
    opens_block,
    starts_definition,
    starts_with_bracket,
    starts_with_closing_word,
    width,
)
from lsp_complete.text.languages import BlockStyle
from lsp_complete.text.scopes import ends_in_text

_SWITCH = re.compile(r"\b(?:switch|select)\b.*\{\s*$")
_CASE = re.compile(r"(?:case|default)\b")
_CASES = ("case", "default")


@dataclass(frozen=True, slots=True)
class _Block:
    """`columns` is the least indentation of its lines. `after` is the index of the line after which it can end."""

    columns: int
    after: int


def block_end(cursor: Cursor, lines: list[str]) -> tuple[int, bool]:
    """The end (exclusive) of the cursor's block in the model's lines, and whether no further text can move it."""
    block = _block(cursor, lines)
    deeper = False
    for index in range(block.after + 1, len(lines)):
        line = lines[index]
        complete = index + 1 < len(lines)
        if not line.strip():
            continue
        if width(line) < block.columns:
            if _is_case(cursor, line, complete) or _is_in_text(cursor, lines, index):
                continue
            if not _closes_own(cursor, lines, index):
                return index, complete or not _could_close(cursor, line)
            if not _still_open(cursor, lines, index):
                return index + 1, complete
        elif (
            deeper and width(line) == block.columns and _is_next_sibling(line) and not _is_in_text(cursor, lines, index)
        ):
            return index, complete
        deeper |= width(line) > block.columns
    return len(lines), False


def _block(cursor: Cursor, lines: list[str]) -> _Block:
    """On a blank line the first line of code says where the block stands; otherwise the cursor's line does."""
    first = next((index for index, line in enumerate(lines) if line.strip()), len(lines))
    if cursor.starts_line:
        at_cursor = first == 0 and bool(lines)
        own = placement(cursor, lines).written if at_cursor else "".join(map(indentation, lines[first : first + 1]))
        return _Block(width(own), first)
    heads = (cursor.before, cursor.before + lines[0])
    opens = any(opens_block(head, cursor.language) for head in heads) or bool(scan(heads[1]).opened)
    return _Block(width(cursor.before) + (1 if opens else 0), 0)


def _closes_own(cursor: Cursor, lines: list[str], index: int) -> bool:
    """Does the line close what the text itself opened, or what the header left open and nothing below closes?"""
    header = _header(cursor)
    if starts_with_bracket(lines[index]):
        text = header + "\n".join(lines[:index]) + "\n"
        at = len(text) + len(indentation(lines[index]))
        opener = scan(text + lines[index]).partners.get(at)
        return opener is not None and (opener >= len(header) or not _closed_below(cursor))
    if not starts_with_closing_word(lines[index], cursor.language):
        return False
    return bool(header) and width(lines[index]) == width(header) and not _closed_below(cursor)


def _still_open(cursor: Cursor, lines: list[str], index: int) -> bool:
    return starts_with_bracket(lines[index]) and bool(scan(_header(cursor) + "\n".join(lines[: index + 1])).opened)


def _header(cursor: Cursor) -> str:
    return cursor.header + "\n" if cursor.starts_line and cursor.header else cursor.header


def _closed_below(cursor: Cursor) -> bool:
    """Is the first line below that is not deeper than the header its closing line?"""
    columns = width(cursor.header)
    line = next((line for line in cursor.lines_below() if width(line) <= columns), "")
    closing = starts_with_bracket(line) or starts_with_closing_word(line, cursor.language)
    return closing and width(line) == columns


def _could_close(cursor: Cursor, line: str) -> bool:
    """May the unfinished line still turn out to close the block, or to be a case of it?"""
    may_be_case = _is_switch(cursor) and any(word.startswith(line.strip()) for word in _CASES)
    return starts_with_bracket(line) or may_be_case or cursor.language.block_style is BlockStyle.KEYWORD


def _is_case(cursor: Cursor, line: str, complete: bool) -> bool:
    """Is it one of the `switch` that the block is of, at whose own indentation many styles put it?"""
    is_case = _CASE.match(line.lstrip()) and (complete or line.strip() not in _CASES)
    return bool(is_case) and _is_switch(cursor) and width(line) == width(cursor.header)


def _is_switch(cursor: Cursor) -> bool:
    return bool(_SWITCH.search(cursor.header))


def _is_in_text(cursor: Cursor, lines: list[str], index: int) -> bool:
    """Does the line begin inside a string, a here-document or a comment that the text began?"""
    opening = "<?php\n" if cursor.document.text.startswith("<?php") else ""
    return ends_in_text(opening + cursor.before + "\n".join(lines[:index]) + "\n", cursor.language)


def _is_next_sibling(line: str) -> bool:
    """Does the line, after a nested body, start something new: another definition, or another statement of a module?"""
    return starts_definition(line) or (not indentation(line) and not continues(line))
