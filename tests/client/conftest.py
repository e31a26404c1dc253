import asyncio
import socket
from collections.abc import AsyncIterator, Iterator

import pytest

from lsp_complete.client.freshness import Limits
from lsp_complete.client.h2_transport import H2Transport


@pytest.fixture(autouse=True)
async def _no_task_is_left() -> AsyncIterator[None]:
    """Torn down last: whatever a test has started must have ended by then."""
    before = asyncio.all_tasks()
    yield
    left = [task for task in asyncio.all_tasks() - before if task is not asyncio.current_task() and not task.done()]
    assert not left


@pytest.fixture
async def transport() -> AsyncIterator[H2Transport]:
    """Resets at once: how long a very young stream waits is tested apart."""
    transport = H2Transport(environ={}, limits=Limits(min_reset_age_s=0))
    yield transport
    await transport.aclose()


@pytest.fixture
def unused_port() -> Iterator[int]:
    """Bound and not listening, so nobody else can get it meanwhile."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]
