"""Credentials inside a text: found, and covered with asterisks of the same length, so that no offset and no line moves.

A table of our own. detect-secrets finds the same kinds with the same expressions, but takes 270 ms to import, 100 ms
for 4 KB a line at a time, and 5 ms with its bare expressions; this runs on each keystroke and has 2 ms. Each expression
is tried only where one of its fixed words stands, which is what makes it fast.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

# Below, a value in quotes is rather a word than a key. Hexadecimal keys of 16 characters have about 3.0 bits.
_MIN_ENTROPY_BITS = 2.8
_MIN_VALUE_CHARACTERS = 8
# Without quotes a value may be an expression: `convertUtf8ToBase64` has three digits.
_MIN_BARE_DIGITS = 4
# In a value these say that it stands for one: `${TOKEN}`, "<your key>", "changeme".
_PLACEHOLDER = re.compile(r"[<>{}%]|\$\(|your|example|change.?me|placeholder|dummy|xxx|\*\*\*|\.\.\.", re.IGNORECASE)
# No credential on one line is longer, but signed ones (JWT): those are found from the start of their line, where that
# is no farther away than the other number.
_MAX_CHARACTERS = 600
_MAX_LINE_CHARACTERS = 16_384

_VISIBLE = re.compile(r"[^\r\n*]")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Kind:
    """`pattern` is tried `num_before` characters before each of `words`. The last group, or else all, is covered."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    needs_entropy: bool = False
    num_before: int = 0


def _kind(words: str, pattern: str, *, needs_entropy: bool = False, num_before: int = 0) -> _Kind:
    return _Kind(tuple(words.split()), re.compile(pattern), needs_entropy, num_before)


_KEY_TEXT = r"[\sA-Za-z0-9+/=\\\"'`,:;.-]"
# From their first line to their last, however far; where the last is missing, as far as what looks like a key goes.
# Code that only names the first line of a key goes on.
_BLOCKS = (
    _kind(
        "-----BEGIN",
        rf"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s{{1,8}}[A-Z][\w-]{{2,20}}: [^\r\n]*)*"
        rf"(?:{_KEY_TEXT}*?-----END [A-Z0-9 ]*-----|{_KEY_TEXT}*)",
    ),
    _kind("PuTTY-User-Key-File-", r"PuTTY-User-Key-File-\d: [\s\S]*?(?:Private-MAC:.*|\Z)"),
)
# The inside of a key, or of anything else that is no code, where the first line is out of sight: two long lines.
_KEY_LINES = re.compile(
    r"(?:\n[ \t\"'+]{0,40}[A-Za-z0-9+/]{60,76}[\\\"'rn+,; \t]{0,8}\r?(?=\n|\Z)){2,}"
    r"(?:\n[ \t\"'+]{0,40}[A-Za-z0-9+/]{1,76}={0,2})?"
)
_KINDS = (
    _kind("AKIA ASIA ABIA ACCA", r"\b[A-Z]{4}[0-9A-Z]{16}\b"),
    _kind("aws AWS Aws", r"(?i)aws.{0,20}?(?:key|secret|token).{0,20}?[\"'=:\s]([0-9a-z/+]{40})(?![0-9a-z/+])"),
    _kind("ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[A-Za-z0-9_]{36,255}"),
    _kind("github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    _kind(
        "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas-",
        r"\bgl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[\w-]{20,1024}",
    ),
    _kind("GR1348941", r"\bGR1348941[\w-]{20,50}"),
    _kind("xoxb- xoxa- xoxp- xoxo- xoxs- xoxr- xoxe- xoxe. xapp-", r"\bx(?:ox[abposre]|app)[-.][A-Za-z0-9.-]{10,250}"),
    _kind("hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows)/([\w/]{20,250})"),
    _kind("/api/webhooks/", r"/api/webhooks/(\d{17,20}/[\w-]{60,100})"),
    _kind("sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"\b(?:[rs]k_(?:live|test)|whsec)_[0-9A-Za-z+/]{16,250}"),
    _kind("sk-", r"\bsk-(?:proj-|ant-|svcacct-|admin-|or-v1-)?[\w-]{20,250}", needs_entropy=True),
    _kind("eyJ", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*"),
    _kind("AIza", r"\bAIza[\w-]{35}"),
    _kind("ya29. GOCSPX-", r"\b(?:ya29\.[\w-]{20,250}|GOCSPX-[\w-]{28})"),
    _kind("SG.", r"\bSG\.[\w-]{22}\.[\w-]{43}"),
    _kind("AC SK", r"\b(?:AC|SK)[0-9a-f]{32}\b"),
    _kind("npm_ pypi- hf_", r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[\w-]{70,}|hf_[A-Za-z0-9]{30,})"),
    _kind("_authToken=", r"_authToken=\s?([\w-]{30,250})"),
    _kind("AccountKey= SharedAccessKey=", r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/=]{40,90})"),
    _kind("sig=", r"(?<=[?&])sig=([A-Za-z0-9%+/=]{40,90})"),
    _kind("-us", r"[0-9a-f]{32}-us\d{1,2}\b", num_before=32),
    _kind("sq0csp- sq0atp-", r"\bsq0(?:csp|atp)-[\w-]{22,43}"),
    _kind("dop_v1_ doo_v1_ dor_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    _kind("AKC AP", r"(?<=[\s=:\"'])(?:AKC|AP[0-9A-F])[a-zA-Z0-9]{20,80}(?=[\s\"']|\Z)", needs_entropy=True),
    _kind(":AA", r"\d{8}:(AA[\w-]{33})(?![\w-])", num_before=8),
    _kind("://", r"://[^\s:/?#\[\]@\"'<>{}$]{0,64}:([^\s/?#\[\]@\"'<>{}$*]{3,128})@"),
    _kind("earer EARER", r"(?i)bearer\s+([\w.~+/-]{20,}=*)", needs_entropy=True, num_before=1),
)  # fmt: skip

_WORDS = (
    r"(?:api_?key|api-key|secret|passw(?:or)?d|passphrase|token|credential|private_?key|access_?key|auth_?key"
    r"|signing_?key|encryption_?key)"
)
# A value in quotes, or as shells and configuration have it: all that is right of the sign. And what stands before each.
_QUOTED = re.compile(r"[\"'`](?=([^\s\"'`]{8,512})[\"'`])")
_BEFORE_QUOTED = re.compile(
    rf"(?i){_WORDS}\w{{0,20}}[\"'`]?\]?\s{{0,3}}(?::\s{{0,3}}[\w.\[\], ]{{1,20}}\s{{0,3}}=|:=|=>|[:=(]|(?<=[\"']),)"
    r"\s{0,3}[bfru]{0,2}\Z"
)
_BARE = re.compile(r"[:=][ \t]?([A-Za-z0-9+/=-]{16,512})[ \t;]*(?:#.*)?\r?$", re.MULTILINE)
_BEFORE_BARE = re.compile(rf"(?i){_WORDS}\w{{0,20}}[ \t]?\Z")
_MAX_NAME_CHARACTERS = 80
_HAS_WORD = ("key", "secret", "pass", "token", "credential")


def redact(text: str, start: int = 0, end: int | None = None) -> tuple[str, int]:
    """The text with each credential covered that reaches into `start` to `end`, and how many there were. Its length and
    its lines stay as they are."""
    found = spans(text, start, len(text) if end is None else end)
    for first, last in found:
        text = text[:first] + _VISIBLE.sub("*", text[first:last]) + text[last:]
    return text, len(found)


def contains_secret(text: str) -> bool:
    return bool(spans(text, 0, len(text)))


def spans(text: str, start: int, end: int) -> list[Span]:
    """Where credentials stand that reach into `start` to `end`; none overlap."""
    from_line = text.rfind("\n", 0, max(0, start - _MAX_CHARACTERS)) + 1
    to_line = text.find("\n", end)
    first = max(from_line, start - _MAX_LINE_CHARACTERS, 0)
    last = min(len(text) if to_line < 0 else to_line, end + _MAX_LINE_CHARACTERS)
    found = [*_of_kinds(_BLOCKS, text, 0, end), *_of_kinds(_KINDS, text, first, last), *_assigned(text, first, last)]
    found += _key_lines(text, first, last)
    return [span for span in _merged(found) if span[0] < end and span[1] > start]


def _of_kinds(kinds: tuple[_Kind, ...], text: str, start: int, end: int) -> Iterator[Span]:
    for kind in kinds:
        for word in kind.words:
            at = text.find(word, start, end)
            while at >= 0:
                match = kind.pattern.match(text, max(0, at - kind.num_before))
                group = match.lastindex or 0 if match else 0
                if match and (not kind.needs_entropy or _is_random(match[group])):
                    yield match.span(group)
                at = text.find(word, max(at + 1, match.end() if match else 0), end)


def _assigned(text: str, start: int, end: int) -> Iterator[Span]:
    """Values without order that are given to something whose name says that it is secret."""
    lower = text[start:end].lower()
    if not any(word in lower for word in _HAS_WORD):
        return
    for match in _QUOTED.finditer(text, start, end):
        if _is_random(match[1]) and _follows(_BEFORE_QUOTED, text, match.start()):
            yield match.span(1)
    for match in _BARE.finditer(text, start, end):
        has_digits = sum(map(str.isdigit, match[1])) >= _MIN_BARE_DIGITS
        if has_digits and _is_random(match[1]) and _follows(_BEFORE_BARE, text, match.start()):
            yield match.span(1)


def _follows(name: re.Pattern[str], text: str, at: int) -> bool:
    return name.search(text, max(0, at - _MAX_NAME_CHARACTERS), at) is not None


def _key_lines(text: str, start: int, end: int) -> Iterator[Span]:
    """Each line is looked for behind a line end, which is fast; so the first is given one."""
    for match in _KEY_LINES.finditer("\n" + text[start:end]):
        yield start + match.start(), start + match.end() - 1


def _merged(found: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _is_random(value: str) -> bool:
    """Letters and digits mixed, without order: not a word, a name or a placeholder."""
    if len(value) < _MIN_VALUE_CHARACTERS or value.isalpha() or value.isdigit() or _PLACEHOLDER.search(value):
        return False
    has_digit, has_letter = any(map(str.isdigit, value)), any(map(str.isalpha, value))
    return has_digit and has_letter and _entropy_bits(value) >= _MIN_ENTROPY_BITS


def _entropy_bits(value: str) -> float:
    """Shannon's, a character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
