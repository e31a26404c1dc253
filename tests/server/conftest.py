"""One real service and one real language server for all tests of this folder; a test leaves both as they were."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from lsp_complete.backend.app import Backend
from tests.fakes import RecitingEngine
from tests.server.editor import PATIENCE_S, Editor, answered_once, started
from tests.serving import CREDENTIAL, backend_over, serving


class WatchedEngine(RecitingEngine):
    """Tells when a job begins and when it ends."""

    def __init__(self) -> None:
        self._num_open = 0
        self.changed = asyncio.Event()
        super().__init__()

    @property
    def num_open(self) -> int:
        return self._num_open

    @num_open.setter
    def num_open(self, number: int) -> None:
        self._num_open = number
        self.changed.set()


@dataclass
class Service:
    """The completion service, in this process. `options` is what an editor has to know of it."""

    engine: WatchedEngine
    backend: Backend
    url: str

    @property
    def options(self) -> dict[str, Any]:
        """Nothing is asked ahead, which would be counted by the test that comes next."""
        return {"url": self.url, "credential": CREDENTIAL, "debounce_ms": 0, "warm_ahead": False}

    @property
    def prompt(self) -> str:
        """The newest prompt: suffix marker, suffix, middle marker, prefix."""
        return self.engine.tokenizer.decode(list(self.engine.jobs[-1].prompt))

    async def until(self, condition: Any) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self.engine.changed.clear()
                await self.engine.changed.wait()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def running_service() -> AsyncIterator[Service]:
    engine = WatchedEngine()
    backend = backend_over(engine)
    async with serving(backend) as url:
        yield Service(engine, backend, url)


@pytest.fixture
def service(running_service: Service) -> Iterator[Service]:
    engine = running_service.engine
    engine.text, engine.gate = "", None
    engine.jobs.clear()
    yield running_service
    engine.gate = None


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def running_editor(running_service: Service, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    async with started(tmp_path_factory.mktemp("editor")) as editor:
        await editor.initialize(running_service.options)
        yield editor
        assert await editor.exit() == 0
        assert answered_once(editor)


@pytest.fixture
def unused_port() -> Iterator[int]:
    """Bound and not listening, so nobody else can get it meanwhile."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@pytest.fixture
def editor(running_editor: Editor) -> Iterator[Editor]:
    running_editor.notices.clear()
    yield running_editor
    running_editor.configure()
