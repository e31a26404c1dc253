"""The file of the audit: a request a line. A line that is none is passed over."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lsp_complete.client import private_lines

# A line has some 500 bytes without text: a week of busy typing.
_MAX_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class SentSnippet:
    path: str
    source: str
    num_characters: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A request that left. `num_bytes` is its body on the wire, `text` all of it as JSON or "". Tokens are 0 where the
    stream was closed before the service told them."""

    at_s: float
    destination: str
    request_id: str = ""
    trigger: str = ""
    path: str = ""
    language: str = ""
    num_bytes: int = 0
    num_prefix_characters: int = 0
    num_suffix_characters: int = 0
    snippets: tuple[SentSnippet, ...] = ()
    num_redacted: int = 0
    outcome: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    text: str = ""


def append(file: Path, entries: Iterable[Entry], max_bytes: int = _MAX_BYTES) -> None:
    """Raises OSError."""
    private_lines.append(file, map(asdict, entries), max_bytes)


def read(file: Path) -> tuple[list[Entry], int]:
    """All entries, the oldest first, and how many lines are none. Raises OSError where a file cannot be read."""
    lines = private_lines.read(file)
    entries = [entry for line in lines if (entry := _entry(line)) is not None]
    return entries, len(lines) - len(entries)


def clear(file: Path) -> None:
    """Raises OSError."""
    private_lines.clear(file)


def as_row(entry: Entry) -> dict[str, Any]:
    """As JSON has it: the time in ISO 8601, the text, where it was kept, as the request that it was."""
    at = datetime.fromtimestamp(entry.at_s, UTC).isoformat(timespec="milliseconds")
    request = json.loads(entry.text) if entry.text else None
    known = {name: value for name, value in asdict(entry).items() if name not in ("at_s", "text")}
    return {"at": at, **known} | ({"request": request} if request else {})


def _entry(line: str) -> Entry | None:
    try:
        data = json.loads(line)
        known = {field.name: data[field.name] for field in fields(Entry) if field.name in data}
        known["snippets"] = tuple(SentSnippet(**one) for one in known.get("snippets", ()))
        return _checked(Entry(**known))
    except (ValueError, TypeError, RecursionError):
        return None


def _checked(entry: Entry) -> Entry:
    """Raises TypeError for a value of another kind: somebody may have edited the file."""
    kinds: dict[Any, Any] = {float: (int, float), int: int, str: str}
    for field in fields(Entry):
        if not isinstance(getattr(entry, field.name), kinds.get(field.type, tuple)):
            raise TypeError(field.name)
    return entry
