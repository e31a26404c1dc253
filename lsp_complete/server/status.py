"""How a session is, in one word and a line for people: what an editor's status bar shows. Pure.

What is nearer to the user comes first: off, then snoozed, then what the service is doing, then what its last answers
said.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lsp_complete.client.guarded import Trouble
from lsp_complete.client.service import ServiceState, ServiceStatus
from lsp_complete.completion.answer import NoSuggestion, detail_of, reason_of


class State(StrEnum):
    READY = "ready"
    LOADING = "loading"
    OFFLINE = "offline"
    RATE_LIMITED = "rate-limited"
    UNAUTHORIZED = "unauthorized"
    SNOOZED = "snoozed"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """`state` is `none` without a folder, `off`, or what the index says of itself. How far it is, is no other state."""

    state: str = "none"
    num_done: int = field(default=0, compare=False)
    num_files: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Status:
    """`until_s` (seconds since the epoch) is when it is over by itself, 0 for nobody knows. `is_notable`: the user
    should hear of it, once. `service` is what the one of this machine is doing."""

    state: State
    detail: str = ""
    until_s: float = 0.0
    is_notable: bool = False
    service: ServiceStatus | None = None
    index: IndexProgress = field(default_factory=IndexProgress)


_BUSY = {ServiceState.STARTING, ServiceState.LOADING}
_TROUBLES = {
    NoSuggestion.RATE_LIMITED: State.RATE_LIMITED,
    NoSuggestion.UNAUTHORIZED: State.UNAUTHORIZED,
    NoSuggestion.LOADING: State.LOADING,
}
# What a user can do about it.
_ADVICE = {
    State.UNAUTHORIZED: "suggestions stop until it is set",
    State.OFFLINE: "suggestions come back by themselves; `lsp-complete doctor` looks into it",
    State.RATE_LIMITED: "suggestions come back by themselves",
}


def status_of(
    enabled: bool, snoozed_until_s: float, service: ServiceStatus | None, trouble: Trouble | None, index: IndexProgress
) -> Status:
    """`snoozed_until_s` is 0 where nobody snoozes."""
    if not enabled:
        return Status(State.OFF, "switched off", service=service, index=index)
    if snoozed_until_s:
        return Status(State.SNOOZED, f"until {_clock(snoozed_until_s)}", snoozed_until_s, service=service, index=index)
    if service is not None and service.state is not ServiceState.READY:
        return _of_service(service, index)
    if trouble is not None:
        return _of_trouble(trouble, service, index)
    return Status(State.READY, service=service, index=index)


def notice(status: Status) -> str:
    """What to tell the user of a trouble, in one message."""
    is_local = status.service is not None and status.service.state is not ServiceState.READY
    return status.detail if is_local else f"{status.detail}; {_ADVICE[status.state]}"


def payload(status: Status, off_here: str = "") -> dict[str, Any]:
    """As editors are told. `off_here` is why nothing is suggested in the document that they asked for."""
    state, detail = (State.OFF, f"off here: {off_here}") if off_here else (status.state, status.detail)
    index: Mapping[str, Any] = {
        "state": status.index.state,
        "done": status.index.num_done,
        "total": status.index.num_files,
    }
    until = None if off_here or not status.until_s else status.until_s
    service = status.service.state.value if status.service else None
    return {"state": state.value, "detail": detail, "until": until, "service": service, "index": index}


def _of_service(service: ServiceStatus, index: IndexProgress) -> Status:
    is_loading = service.state in _BUSY or service == ServiceStatus(ServiceState.STOPPED)
    is_gone = service.state is ServiceState.STOPPED
    state = State.LOADING if is_loading else State.OFFLINE
    detail = service.detail or "the local service has not started yet"
    return Status(state, detail, is_notable=not is_loading and not is_gone, service=service, index=index)


def _of_trouble(trouble: Trouble, service: ServiceStatus | None, index: IndexProgress) -> Status:
    state = _TROUBLES.get(reason_of(trouble.cause), State.OFFLINE)
    until = f"; not asked until {_clock(trouble.until_s)}" if trouble.until_s else ""
    return Status(state, detail_of(trouble.cause) + until, trouble.until_s, trouble.is_notable, service, index)


def _clock(at_s: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at_s))
