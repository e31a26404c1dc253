"""The text and the rest of the cursor's line, made one.

The model sees the rest of the line and may still write it again: whole, in part, or only the bracket that an editor has
closed by itself. Looks at the cursor's line; at those around it only for the brackets that they lack.
"""

import re
from dataclasses import replace

from lsp_complete.completion.brackets import balance, scan, scan_behind, unpaired
from lsp_complete.completion.cursor import Cursor
from lsp_complete.completion.lines import code_of, indentation, starts_with_bracket
from lsp_complete.completion.window import around
from lsp_complete.text.languages import PLAIN, Language
from lsp_complete.text.scopes import Scope, scope_at
from lsp_complete.text.syntax import parse

_CLOSERS = ")]};, "
_BRACKETS = ")]}"
_ALL_BRACKETS = frozenset("([{)]}")
_QUOTES = frozenset("\"'`")
_WORD = re.compile(r"\w*")
# Of the lines around, on either side.
_NEAR_CHARACTERS = 1_000
# A letter may double inside a word (`press`), two in a row hardly do; so a shorter piece is no sign of a word whose end
# the model has written twice.
_MIN_WORD_END = 2
# A text that begins with so much of the line goes on from its end, and takes its place.
_MIN_REST = 4


def merged(cursor: Cursor, text: str) -> tuple[str, int] | None:
    """The text to insert, and how many characters right of the cursor it replaces; None if the two do not fit."""
    if cursor.ends_line:
        return text.rstrip(), 0
    if cursor.above_line and _is_whole_line(cursor, text):
        return text.rstrip() + "\n" + cursor.before, 0
    body = text.rstrip() if "\n" in text.rstrip() else text.partition("\n")[0]
    first, line_end, _ = body.partition("\n")
    rest = cursor.rest.rstrip()
    if num_quotes := _num_closed_quotes(cursor, first, rest):
        fitted = merged(_without_next(cursor, num_quotes), text)
        return fitted and (fitted[0], fitted[1] + num_quotes)
    if not line_end and _MIN_REST <= len(rest) < len(first) and first.startswith(rest):
        return body, len(cursor.rest)
    if line_end and first.endswith(rest) and _can_go(cursor, first, rest, len(rest)):
        return body, len(cursor.rest)
    fitted = _merged_line(cursor, body, text[len(body) :])
    if fitted is None or fitted[1] < len(rest):
        return fitted
    return without_extra(_without_next(cursor, fitted[1]), fitted[0]), fitted[1]


def without_extra(cursor: Cursor, text: str) -> str:
    """The text for the end of a line, without the brackets at its own end that close nothing: that meet one of another
    kind in it, `if (a) {)`, or that the lines around have no opener for, with as many opened as closed there."""
    body = text.rstrip()
    found = scan_behind(cursor.before, body)
    if not cursor.ends_line or len(body) - 1 not in found.surplus:
        return text
    above, below = around(cursor, body, _NEAR_CHARACTERS)
    place = above + cursor.before
    is_code = scope_at(place + "\n" + below, len(place), cursor.language) is Scope.CODE
    before, behind = (_without_comments(one, cursor.language) if is_code else one for one in (above, below))
    before, behind, kept = before + cursor.before, cursor.rest + behind, body
    while (
        kept.endswith(tuple(_BRACKETS))
        and _is_extra(kept, before, behind, bool(found.opened), is_code)
        and not _is_meant(cursor, kept, above, below)
    ):
        kept = kept[:-1]
    return kept if kept.strip() and len(kept) < len(body) else text


def _without_comments(lines: str, language: Language) -> str:
    return "\n".join(code_of(line, language) for line in lines.split("\n"))


def _is_extra(body: str, before: str, behind: str, meets_another: bool, is_code: bool) -> bool:
    """Is the last bracket of the body of a kind that is closed too often with it? Without those at its end no openers
    must be lacking; and the bracket, or one below it, must close nothing then: an `a)` or `:)` in a text above may
    upset the balance. Neither if it meets one of another kind in the body."""
    num_above, num_open = unpaired(before, body[-1])
    num_needed = unpaired(behind, body[-1])[0]
    num_left, num_bare = (num_open + balance(one, body[-1]) for one in (body, body.rstrip(_BRACKETS)))
    if meets_another or num_left >= num_needed:
        return num_left < num_needed
    is_known = num_bare >= num_needed and not (is_code and num_above)
    whole, shorter = (before + one + behind for one in (body, body[:-1]))
    return is_known and len(scan(whole).surplus) > len(scan(shorter).surplus)


def _is_meant(cursor: Cursor, body: str, above: str, below: str) -> bool:
    """Does the grammar know what the last bracket of the body is for, as in `--help)` of a `case`? In a comment or a
    string, as in `# in [0, 1)`, and where there is no grammar, it is not known; it may be for something unless it is
    right behind another bracket, or there a quote."""
    if cursor.language is PLAIN:
        return body[-2:-1] not in _ALL_BRACKETS
    head, tail = above + cursor.before + body, cursor.rest + below
    if scope_at(head + tail, len(head) - 1, cursor.language) is not Scope.CODE:
        return body[-2:-1] not in _ALL_BRACKETS | _QUOTES
    tree = parse(head + tail, cursor.language)
    return tree is not None and not tree.has_error


def _num_closed_quotes(cursor: Cursor, line: str, rest: str) -> int:
    """How many quotes right of the cursor close a string that the text closes itself, before it goes on: `mp":` in
    `case "du█"`."""
    num = len(rest) - len(rest.lstrip(rest[0])) if rest[:1] in _QUOTES else 0
    start, partners = len(cursor.before), scan(cursor.before + line).partners
    ends = (line[end - start :] for end, opener in partners.items() if opener < start <= end)
    behind = next((end for end in ends if end[0] == rest[:1]), "")
    return num if num in (1, 3) and behind.startswith(rest[:num]) and not rest.startswith(behind) else 0


def _without_next(cursor: Cursor, num: int) -> Cursor:
    text, offset = cursor.document.text, cursor.offset
    return Cursor(replace(cursor.document, text=text[:offset] + text[offset + num :]), offset)


def _is_whole_line(cursor: Cursor, text: str) -> bool:
    """Is the text a line of its own, to be put above the one that starts at the cursor?"""
    body = text.rstrip()
    if cursor.rest[0] in " \t":
        return True
    if body.endswith(cursor.rest.rstrip()):
        return False
    fuses = bool(re.match(r"\w", cursor.rest)) and bool(re.search(r"\w$", text))
    return "\n" in text[len(body) :] or fuses


def _merged_line(cursor: Cursor, body: str, end: str) -> tuple[str, int] | None:
    """`end` is the white space after the body's last line."""
    rest = cursor.rest.rstrip()
    overlap = _overlap(cursor, body, rest)
    kept = body[: len(body) - overlap]
    if re.search(r"\w", rest) and (kept.endswith(rest) or (body.endswith(rest) and overlap < len(rest))):
        return None
    if _is_inside_word(cursor):
        word = _within_word(kept, rest, overlap)
        return None if word is None else (word, 0)
    if overlap:
        text, num_replaced, end = kept, _num_closed_twice(cursor, kept, rest), ""
    else:
        text, num_replaced = _without_surplus(cursor, body, rest)
    if starts_with_bracket(rest) and _needs_all(cursor, text, body, rest[num_replaced:]):
        return body, 0
    return text + _line_end(cursor, text, end, rest[num_replaced:]), num_replaced


def _overlap(cursor: Cursor, body: str, rest: str) -> int:
    """Length of the longest end of the body's last line that the rest starts with and that can go."""
    last = body.rpartition("\n")[2]
    closing = rest.lstrip() if starts_with_bracket(rest) else rest
    for start in (rest, closing):
        for length in range(min(len(last), len(start)), 0, -1):
            if last.endswith(start[:length]) and _can_go(cursor, body, rest, length):
                return length
    return 0


def _can_go(cursor: Cursor, body: str, rest: str, length: int) -> bool:
    """Can the last `length` characters of the body go, because the rest has them? Not a bracket or a quote that closes
    one in what stays, and not more brackets than the line has too many."""
    start = len(cursor.before)
    end = start + len(body) - length
    pairs = scan(cursor.before + body)
    if any(start <= opener < end <= closer for closer, opener in pairs.partners.items()):
        return False
    gone = body[len(body) - length :]
    return bool(gone.strip(_CLOSERS)) or len(scan(gone).surplus) <= _num_spare(cursor, body, rest)


def _num_closed_twice(cursor: Cursor, kept: str, rest: str) -> int:
    """How many brackets at the start of the rest close what the text has closed: `x) -> None:` before `)`."""
    code = code_of(rest, cursor.language)
    texts = cursor.before + kept, cursor.before
    with_text, alone = (sum(at >= len(text) for at in scan(text + code).surplus) for text in texts)
    return max(0, min(with_text - alone, len(rest) - len(rest.lstrip(_BRACKETS))))


def _num_spare(cursor: Cursor, body: str, rest: str) -> int:
    """How many closing brackets of the body the line has too many, given those of the rest."""
    code = code_of(rest, cursor.language)
    found = scan(cursor.before + body + code), scan_behind(cursor.before, body), scan(code)
    return min(len(one.surplus) for one in found)


def _is_inside_word(cursor: Cursor) -> bool:
    return bool(re.search(r"\w$", cursor.before) and re.match(r"\w", cursor.rest))


def _within_word(kept: str, rest: str, overlap: int) -> str | None:
    """What the word lacks. It fits if the model wrote the word to its end, or nothing but a piece of it."""
    end = _WORD.match(rest).group()  # type: ignore[union-attr]  # it matches the empty text
    if overlap == len(rest) and len(end) >= _MIN_WORD_END:
        kept = kept.removesuffix(end)
    fits = "\n" not in kept and (overlap >= len(end) or _WORD.fullmatch(kept))
    return kept if fits else None


def _needs_all(cursor: Cursor, text: str, body: str, rest: str) -> bool:
    """Do the lines around need the brackets of the body as well as those of the cursor's line? Then some of them close
    lines above, and there are as many as are opened only with both: `}, b);` before the `)` of a line far above. Not
    where the line pairs up as it is: rather is a bracket above never closed, as while writing."""
    line = scan(cursor.before + cursor.rest)
    if not line.surplus and not line.opened:
        return False
    above, below = around(cursor, body, _NEAR_CHARACTERS)
    before = above + cursor.before
    with_all, with_fewer = before + body + cursor.rest + below, before + text + rest + below
    return any(balance(with_all, one) <= 0 < balance(with_fewer, one) for one in _BRACKETS)


def _without_surplus(cursor: Cursor, body: str, rest: str) -> tuple[str, int]:
    """The body without the brackets that the rest has; or with them, and the number of those in the rest that it takes
    the place of: `x) + 1` before `)`."""
    num_spare, surplus = _num_spare(cursor, body, rest), scan_behind(cursor.before, body).surplus
    for count in range(num_spare, 0, -1):
        kept = body[: len(body) - _overlap(cursor, body, rest[count:])]
        closers = "".join(body[index] for index in surplus if index < len(kept))
        if count <= len(rest) and rest[:count] in closers:
            return kept, count
    at_end = len(body) - len(body.rstrip(")]}"))
    body = body[: len(body) - min(num_spare, at_end)]
    return (body[:-1] if _repeats_end(body, rest) else body), 0


def _repeats_end(body: str, rest: str) -> bool:
    """Does the rest, brackets apart, end the statement that the body ends too?"""
    return "\n" not in body and body.endswith((";", ",")) and rest.strip(")]} ") == body[-1]


def _line_end(cursor: Cursor, text: str, end: str, rest: str) -> str:
    """The one line end that is needed between a body of several lines and a closing bracket."""
    if "\n" not in text or "\n" not in end or not starts_with_bracket(rest):
        return ""
    return "\n" + (end.rpartition("\n")[2] or indentation(cursor.before))
