"""What one line of code says about blocks: its indentation, whether it opens one, closes one or defines something.

Looks at one line at a time and parses nothing; knows neither documents nor cursors.
"""

import re

from lsp_complete.completion.brackets import masked, scan
from lsp_complete.text.languages import BlockStyle, Language

# Only compares tabs with spaces where a text mixes them; four is what most editors and formatters assume.
_TAB_WIDTH = 4
_INDENTATION = re.compile(r"[ \t]*")
_CLOSING_LINE = re.compile(r"[)\]}][)\]};,\s]*")
_CLOSING_WORD = re.compile(r"(?:end|fi|done|esac)\b[)\]};,\s]*")
_OPENING_END = re.compile(r"(?:[({\[]|=>)$")
_OPENING_WORD_END = re.compile(r"(?:\b(?:then|do|else|begin|ensure)|\bdo\s*\|[^|]*\||\bfunction\s*\w*\([^)]*\))$")
_OPENING_WORD = re.compile(
    r"(?:local\s+)?(?:def|class|module|if|elsif|elseif|unless|while|until|for|case|begin|repeat|function)\b"
)
_DEFINITION = re.compile(
    r"@[\w.]+\s*(?:\(|$)|#\[|(?:(?:export|default|pub(?:\([^)]*\))?|public|private|protected|internal|static|abstract|final|override"
    r"|async|unsafe|const|local|sealed|open|data|virtual)\s+)*"
    r"(?:def|class|func|fn|fun|function|struct|enum|trait|impl|interface|module|namespace|object|mod|record)(?:\s+[\w(*]|\*)"
    r"|(?:public|private|protected|internal)\s"
)
_CONTINUATION = re.compile(
    r"[)\]}]|(?:else|elif|elsif|elseif|except|finally|rescue|ensure|when|catch|end|fi|done|esac)\b"
)


def indentation(line: str) -> str:
    return _INDENTATION.match(line).group()  # type: ignore[union-attr]  # it matches the empty text


def width(line: str) -> int:
    """Columns of the line's indentation."""
    return len(indentation(line).expandtabs(_TAB_WIDTH))


def code_of(line: str, language: Language) -> str:
    """The line without a comment at its end."""
    if not language.line_comment:
        return line.rstrip()
    comment = re.search(r"(?:^|(?<=\s))" + re.escape(language.line_comment), masked(line))
    return (line[: comment.start()] if comment else line).rstrip()


def opens_block(line: str, language: Language) -> bool:
    """Is the next line one level deeper?"""
    code = code_of(line, language)
    if _OPENING_END.search(code):
        return True
    if language.block_style is BlockStyle.INDENT:
        return code.endswith(":") and not scan(code).opened
    return language.block_style is BlockStyle.KEYWORD and _opens_with_word(code.strip())


def _opens_with_word(code: str) -> bool:
    closed = re.search(r"\b(?:end|fi|done|esac)\b", code)
    return bool(_OPENING_WORD_END.search(code) or (_OPENING_WORD.match(code) and not closed))


def is_closing(line: str, language: Language) -> bool:
    """Does the line hold nothing but what closes a block: brackets, `end`, with `;` and `,`?"""
    code = line.strip()
    return bool(_CLOSING_LINE.fullmatch(code)) or starts_with_closing_word(code, language, whole=True)


def starts_with_closing_word(line: str, language: Language, whole: bool = False) -> bool:
    if language.block_style is not BlockStyle.KEYWORD:
        return False
    return bool((_CLOSING_WORD.fullmatch if whole else _CLOSING_WORD.match)(line.strip()))


def starts_with_bracket(line: str) -> bool:
    return line.lstrip()[:1] in (")", "]", "}")


def starts_definition(line: str) -> bool:
    return bool(_DEFINITION.match(line.lstrip()))


def continues(line: str) -> bool:
    """Does the line belong to the statement above it, at the same indentation: a closing bracket, `else`, `except`?"""
    return bool(_CONTINUATION.match(line.lstrip()))


def closers_of(line: str) -> str:
    """A closing line in the form in which two are compared: without blanks, `;` and `,`."""
    return re.sub(r"[\s;,]", "", line)
