"""The log: a rotating file and stderr. What users write must not be in it, so nothing but our own words gets through.

Our modules log templates with numbers and fixed words. A record of any other library is cut to its template, and a
traceback to the places it names: both could quote a document.
"""

import logging
import sys
import traceback
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

_MAX_BYTES = 1_000_000
_NUM_OLD = 3
_FORMAT = "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"


def configure_logging(name: str, level: str, folder: Path | None, stderr_level: str = "debug") -> None:
    """Log to `folder/name.log` and, from `stderr_level` on, to stderr. A folder that cannot be written costs the file,
    not the process."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    handlers[0].setLevel(stderr_level.upper())
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handlers.append(
                RotatingFileHandler(folder / f"{name}.log", maxBytes=_MAX_BYTES, backupCount=_NUM_OLD, encoding="utf-8")
            )
        except OSError as error:
            print(f"lsp-complete: no log file: {error}", file=sys.stderr)  # noqa: T201
    for handler in handlers:
        handler.setFormatter(OwnWords(_FORMAT))
    logging.basicConfig(level=logging.WARNING, handlers=handlers, force=True)
    set_level(level)
    logging.raiseExceptions = False  # a full disk is not a reason to write to stderr with every line


def set_level(level: str) -> None:
    """Of our own records; those of others are logged from `warning` on."""
    logging.getLogger("lsp_complete").setLevel(level.upper())


class OwnWords(logging.Formatter):
    """Formats our own records whole, those of others as their template's first line (asyncio puts what it knows of a
    task, its exception too, below it), and tracebacks without their messages."""

    def format(self, record: logging.LogRecord) -> str:
        if not record.name.startswith("lsp_complete"):
            record = logging.makeLogRecord({**record.__dict__, "args": None, "exc_text": None})
            record.msg = record.msg.partition("\n")[0] if isinstance(record.msg, str) else type(record.msg).__name__
        return super().format(record)

    def formatException(self, ei: Any) -> str:
        kind, _, trace = ei
        places = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(trace)]
        return "\n".join([f"{getattr(kind, '__name__', kind)} at", *places])
