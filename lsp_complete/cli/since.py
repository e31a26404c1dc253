"""`--since`: an age or a date, as a moment."""

import re
import time
from datetime import datetime

import typer

HELP = "Not older: 30m, 2h, 7d, or 2026-01-31 (T12:00)."

_UNITS_S = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_AGE = re.compile(r"([1-9][0-9]{0,5})([mhdw])")


def since_s(text: str) -> float:
    """Seconds since the epoch, 0 for no text; a date without a zone is the user's. Raises typer.BadParameter."""
    if not text:
        return 0.0
    if match := _AGE.fullmatch(text.strip()):
        return time.time() - int(match[1]) * _UNITS_S[match[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise typer.BadParameter("not 30m, 2h, 7d or a date", param_hint="--since") from None
