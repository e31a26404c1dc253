"""JSON for the events of events.py, on the wire and in the store.

Reading checks each field against its type and drops what it does not know, so whatever passes is as harmless as what
was written. Missing fields have defaults where the event has them.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, fields, is_dataclass
from enum import StrEnum
from typing import Any, TypeVar, get_args

from lsp_complete.protocol.errors import InvalidRequest
from lsp_complete.protocol.events import Event, Hex, Record

EVENTS_PATH = "/v1/events"

_T = TypeVar("_T")
_KINDS: dict[str, type[Any]] = {cls.__name__.lower(): cls for cls in get_args(Event)}
# More is no count and no duration of ours.
_MAX_NUMBER = 2.0**53


def kind_of(event: Event) -> str:
    return type(event).__name__.lower()


def record_to_dict(record: Record) -> dict[str, Any]:
    head = {"id": record.id, "session": record.session, "at_s": round(record.at_s, 3), "kind": kind_of(record.event)}
    return head | asdict(record.event)


def record_from_dict(data: Any) -> Record:
    """Raises ValueError, without a word of what was read."""
    try:
        event = _parsed(_KINDS[data["kind"]], data)
        return Record(Hex(data["session"]), event, _value(float, data["at_s"]), _id(data["id"]))
    except (KeyError, TypeError, AttributeError, ValueError):
        raise ValueError("not an event") from None


def records_to_json(records: Iterable[Record]) -> bytes:
    return json.dumps({"events": [record_to_dict(record) for record in records]}, separators=(",", ":")).encode()


def records_from_json(body: bytes) -> tuple[list[Record], int]:
    """The events, and how many there were that make no sense. Raises InvalidRequest."""
    try:
        sent = json.loads(body)["events"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InvalidRequest("the body is not a list of events") from None
    if not isinstance(sent, list):
        raise InvalidRequest("the body is not a list of events")
    records = []
    for data in sent:
        try:
            records.append(record_from_dict(data))
        except ValueError:
            continue
    return records, len(sent) - len(records)


def _id(value: str) -> Hex:
    if not value:
        raise ValueError
    return Hex(value)


def _parsed(cls: type[_T], data: Mapping[str, Any]) -> _T:
    given = {f.name: f for f in fields(cls) if f.name in data or not _has_default(f)}  # type: ignore[arg-type]
    return cls(**{name: _value(f.type, data[name]) for name, f in given.items()})


def _has_default(known: "Field[Any]") -> bool:
    return known.default is not MISSING or known.default_factory is not MISSING


def _value(kind: Any, value: Any) -> Any:
    """Raises ValueError or TypeError for what is not of its kind."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _parsed(kind, value)
    if issubclass(kind, StrEnum):
        return kind.of(value) if hasattr(kind, "of") else kind(value)
    if kind is Hex:
        return Hex(value)
    if kind is bool and isinstance(value, bool):
        return value
    return _number(kind, value)


def _number(kind: type[Any], value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind not in (int, float) or not is_number or not 0 <= value <= _MAX_NUMBER:
        raise ValueError
    return kind(value)
