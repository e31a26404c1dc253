"""Events say what happened, and there is no place in them for code, a path or a name."""

import json
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.completion.answer import NoSuggestion
from lsp_complete.completion.postprocess import Withheld
from lsp_complete.completion.trigger import Skip
from lsp_complete.protocol import errors
from lsp_complete.protocol.errors import CompletionError, InvalidRequest
from lsp_complete.protocol.events import Event, Failure, Hex, Language, Reason, Record, Retained, hashed, timings
from lsp_complete.protocol.events_wire import record_from_dict, record_to_dict, records_from_json, records_to_json
from lsp_complete.text.languages import languages
from tests.telemetry.samples import EVENTS, ID, records


def leaves(cls):
    """The types of all fields, of nested ones too."""
    for field in fields(cls):
        if is_dataclass(field.type):
            yield from leaves(field.type)
        else:
            yield field.type


@pytest.mark.parametrize("cls", [Record, *get_args(Event)])
def test_every_field_is_an_id_a_member_of_a_list_a_number_or_a_truth_value(cls):
    kinds = {kind for kind in leaves(cls) if kind != Event}
    assert all(issubclass(kind, Hex | Enum | int | float) and kind is not str for kind in kinds)
    assert {type(event) for event in EVENTS} == set(get_args(Event))


@pytest.mark.parametrize("text", ["def f", "src/a.py", "secret", "ABCDEF", "0" * 33, " ab", "ab\n"])
def test_an_id_holds_nothing_else(text):
    with pytest.raises(ValueError):
        Hex(text)


def test_a_name_from_outside_becomes_other_or_a_hash():
    assert Language.of("my-secret-language") is Language.OTHER
    assert Language.of("python") is Language.PYTHON
    assert hashed("/home/me/secret.gguf") == hashed("/home/me/secret.gguf") == Hex(hashed("/home/me/secret.gguf"))
    assert hashed("") == ""


def test_all_that_can_be_the_reason_is_on_the_lists():
    known = {"deadline", "service"}
    assert {str(one) for enum in (NoSuggestion, Skip, Withheld) for one in enum} | known <= set(Reason)
    types = {cls.type for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, CompletionError)}
    assert types - {"error"} <= set(Failure)
    assert {one for language in languages() for one in language.language_ids} <= set(Language)


@pytest.mark.parametrize("record", records(), ids=lambda record: type(record.event).__name__)
def test_an_event_comes_back_as_it_was_sent(record):
    assert record_from_dict(json.loads(json.dumps(record_to_dict(record)))) == record


def test_unknown_fields_are_dropped_and_missing_ones_have_defaults():
    data = {"id": "ab", "session": "", "at_s": 1, "kind": "shown", "request": ID, "rung": "network"}
    record = record_from_dict(data | {"num_characters": 3, "code": "def f(): pass"})
    assert record.event.num_characters == 3  # type: ignore[union-attr]
    assert "pass" not in json.dumps(record_to_dict(record))


@pytest.mark.parametrize(
    "change",
    [{"id": ""}, {"id": "x"}, {"id": 1}, {"at_s": "now"}, {"at_s": float("nan")}, {"at_s": float("inf")},
     {"at_s": 10**400}, {"kind": "code"}, {"kind": []}, {"request": "src/a.py"}, {"num_characters": "12"},
     {"num_characters": -1}, {"num_characters": True}, {"part": "some code"}, {"how": None}],
)  # fmt: skip
def test_what_is_no_event_is_refused_without_being_quoted(change):
    accepted = record_to_dict(records()[4])
    with pytest.raises(ValueError) as caught:
        record_from_dict({**accepted, **change})
    assert str(caught.value) == "not an event"


def test_more_than_all_of_a_text_cannot_be_kept():
    """`stats` draws it as a bar, of any length."""
    retained = record_to_dict(next(one for one in records() if isinstance(one.event, Retained)))
    with pytest.raises(ValueError):
        record_from_dict(retained | {"share": 1e12})


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "kind", "tokens"]), inner),
    max_leaves=8,
)


@given(st.sampled_from(records()), st.dictionaries(st.sampled_from(sorted(record_to_dict(records()[2]))), JSON))
def test_whatever_is_read_is_an_event_or_refused(record, changes):
    body = json.dumps({"events": [{**record_to_dict(record), **changes}]}).encode()
    found, num_refused = records_from_json(body)
    assert len(found) + num_refused == 1
    assert records_from_json(records_to_json(found)) == (found, 0)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"events": 1}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_list_of_events_is_refused(body):
    with pytest.raises(InvalidRequest):
        records_from_json(body)


def test_of_an_answer_s_stages_the_known_ones_are_told():
    assert timings({"total": 9.0, "first_text": 4.0, "of_the_future": 1.0}).first_text == 4.0
