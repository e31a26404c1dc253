import time

import pytest

from lsp_complete.client.retry_after import MAX_RETRY_AFTER_S, parse_retry_after

NOW_S = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("30", 30.0),
        (" 30 ", 30.0),
        ("0", 0.0),
        ("99999999", MAX_RETRY_AFTER_S),
        ("9" * 400, MAX_RETRY_AFTER_S),
        ("Fri, 15 Jan 2027 08:00:30 GMT", 30.0),
        ("Friday, 15-Jan-27 08:00:30 GMT", 30.0),
        ("Fri Jan 15 08:00:30 2027", 30.0),
        ("Fri, 15 Jan 2027 08:00:30 -0000", 30.0),
        ("Fri, 15 Jan 2027 09:00:30 +0100", 30.0),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        ("Fri, 15 Jan 2100 08:00:00 GMT", MAX_RETRY_AFTER_S),
        (None, None),
        ("", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("²", None),
        ("Fri, 99 Jan 2027 08:00:30 GMT", None),
    ],
)
def test_seconds_and_dates_become_seconds_to_wait(value: str | None, expected: float | None) -> None:
    assert parse_retry_after(value, NOW_S) == expected


def test_a_date_is_in_utc_whatever_the_zone_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        assert parse_retry_after("Fri, 15 Jan 2027 08:00:30 -0000", NOW_S) == 30.0
    finally:
        monkeypatch.undo()
        time.tzset()
