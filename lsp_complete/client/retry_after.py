"""The Retry-After header (RFC 9110 section 10.2.3): seconds, or a date. A pure function of a given time."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MAX_RETRY_AFTER_S = 600.0
"""Whoever is told to wait longer asks again after ten minutes: by then it is more likely a mistake than a wish."""


def parse_retry_after(value: str | None, now_s: float) -> float | None:
    """Seconds to wait from `now_s` (seconds since the epoch) on, capped; None where the header says nothing usable."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), MAX_RETRY_AFTER_S)
    date = _date(text)
    return None if date is None else min(max(0.0, date.timestamp() - now_s), MAX_RETRY_AFTER_S)


def _date(text: str) -> datetime | None:
    """A date without a zone is in UTC, like every date of HTTP, and not in the zone of this machine."""
    try:
        date = parsedate_to_datetime(text)
        return date if date.tzinfo else date.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None
