"""What an editor's server has remembered of its suggestions, and waiting for that and for anything else."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_complete.protocol.events import Accepted, Event, Rejected, Requested, TypedThrough
from lsp_complete.telemetry.store import FILE, EventStore

# A busy machine takes its time; what is right comes at once on an idle one.
PATIENCE_S = 30.0
# What is not in the log by then is not on its way.
_LOG_S = 10.0
# Twice the time after which a server writes its events.
_WRITTEN_S = 0.4


def until(what: str, condition: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """What `condition` gives, once it gives something."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited in vain: {what}")


@dataclass
class Outcomes:
    """The event log of the servers that keep their state below `folder`, from the last `forget` on."""

    folder: Path
    _num_before: int = 0

    def forget(self) -> None:
        """What has happened so far. It is written a moment later."""
        time.sleep(_WRITTEN_S)
        self._num_before = len(self._events)

    @property
    def outcomes(self) -> list[tuple[object, ...]]:
        """What became of the suggestions; of those from before, something may still come in."""
        events = self._events[self._num_before :]
        asked = {event.request for event in events if isinstance(event, Requested)}
        return [told for event in events if event.request in asked and (told := _told(event))]

    def until(self, *expected: tuple[object, ...]) -> None:
        with contextlib.suppress(AssertionError):
            until("outcomes", lambda: self.outcomes == list(expected), _LOG_S)
        assert self.outcomes == list(expected), self.outcomes

    @property
    def _events(self) -> list[Event]:
        with EventStore(self.folder / "state" / FILE) as store:
            return [record.event for record in store.since(0)]


def _told(event: Event) -> tuple[object, ...]:
    """An outcome without its id. How an acceptance is known depends on what comes first."""
    match event:
        case Accepted():
            return "accepted", event.part, event.num_characters
        case TypedThrough():
            return "typed through", event.num_characters
        case Rejected():
            return "rejected", event.reason
    return ()
