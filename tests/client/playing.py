"""A LocalService over the service that `played_service` plays, and a record of its states."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsp_complete.client.service import LocalService, ServiceState, ServiceStatus
from lsp_complete.protocol.completion import TextChunk
from tests.fakes import request

ROOT = Path(__file__).parent.parent.parent
ENVIRON = {**os.environ, "PYTHONPATH": str(ROOT)}
# Only a test that fails waits so long.
PATIENCE_S = 30.0


def played(module: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", f"tests.client.{module}", str(folder)]


def exiting(code: int) -> list[str]:
    """In place of a service: a program that ends at once."""
    return [sys.executable, "-c", f"raise SystemExit({code})"]


class Clock:
    """Stands still until it is told to go on; `step_s` is added at each look."""

    def __init__(self, step_s: float = 0.0) -> None:
        self.now, self.step_s = 1000.0, step_s

    def __call__(self) -> float:
        self.now += self.step_s
        return self.now


class Statuses:
    """What the service has told of itself, in order."""

    def __init__(self) -> None:
        self.all: list[ServiceStatus] = []
        self._changed = asyncio.Event()

    def __call__(self, status: ServiceStatus) -> None:
        self.all.append(status)
        self._changed.set()

    @property
    def states(self) -> list[ServiceState]:
        return [status.state for status in self.all]

    async def until(self, state: ServiceState) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while self.states[-1:] != [state]:
                self._changed.clear()
                await self._changed.wait()


def local_service(folder: Path, command: Sequence[str] | None = None, **options: Any) -> LocalService:
    return LocalService(folder, command or played("played_service", folder), ENVIRON, **options)


async def recited(service: LocalService) -> str:
    chunks = [chunk async for chunk in service.complete(request())]
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
