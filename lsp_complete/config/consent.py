"""Whether it is remembered what suggestions become, and whether that may leave the machine. Off anywhere wins."""

from collections.abc import Iterable, Mapping
from enum import StrEnum

# https://consoledonottrack.com
_DO_NOT_TRACK = "DO_NOT_TRACK"
_NO = ("", "0", "false")


class Consent(StrEnum):
    """The strictest first."""

    OFF = "off"
    LOCAL = "local"
    ON = "on"


def consent(given: Iterable[str | None], environ: Mapping[str, str]) -> Consent:
    """The strictest of what the layers of settings say; OFF where none says anything, or something senseless."""
    if environ.get(_DO_NOT_TRACK, "").strip().lower() not in _NO:
        return Consent.OFF
    order = list(Consent)
    said = [Consent(one) if one in order else Consent.OFF for one in given if one is not None]
    return min(said, key=order.index, default=Consent.OFF)
