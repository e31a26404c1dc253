"""The connections to each service: finds one that can be trusted and has room, or makes one.

A connection is made by a task of its own, not by the request that needs it first: who types faster than a handshake
takes would otherwise never get one. Knows nothing about requests.
"""

import asyncio
import itertools
import ssl
from collections.abc import Callable

import httpx

from lsp_complete.client.dial import Route, dial
from lsp_complete.client.freshness import Clocks, Freshness, Limits, Trust
from lsp_complete.client.h2_connection import Connection


class Pool:
    """`tls_context` is asked for when the first https route is dialled; it may raise OSError."""

    def __init__(self, limits: Limits, clocks: Clocks, tls_context: Callable[[], ssl.SSLContext]) -> None:
        self._limits = limits
        self._clocks = clocks
        self._tls_context = tls_context
        self._serials = itertools.count(1)
        self._connections: dict[Route, list[Connection]] = {}
        self._dials: dict[Route, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._is_closed = False

    async def acquire(self, route: Route, timeouts: dict[str, float | None], newer_than: int = 0) -> Connection:
        """A connection that has room now: open the stream before the next await.

        `newer_than` is the serial of a connection that has failed. Raises what `dial` raises, and PoolTimeout.
        """
        while not self._is_closed:
            known = [c for c in self._open_connections(route) if c.serial > newer_than]
            for connection in known:
                if self._is_usable(connection):
                    return connection
            if any(c.trust is Trust.DOUBTFUL for c in known) or not self._may_dial(route, newer_than):
                await self._change(timeouts.get("pool"))
            else:
                await self._dial(route, timeouts.get("connect"))
        raise httpx.ConnectError("the client was closed")

    async def aclose(self) -> None:
        """Close everything, and wait until it is closed."""
        self._is_closed = True
        await asyncio.sleep(0)  # a task cancelled before its first step would cancel those who wait for it
        dials = list(self._dials.values())
        for task in dials:
            task.cancel()
        await asyncio.gather(*dials, return_exceptions=True)
        connections = list(itertools.chain(*self._connections.values()))
        for connection in connections:
            connection.close()
        await asyncio.gather(*(connection.closed.wait() for connection in connections))
        self._connections.clear()

    def _open_connections(self, route: Route) -> list[Connection]:
        """All that are not retired. The retired ones stay in the pool's sight until they are closed."""
        kept = [c for c in self._connections.get(route, []) if not c.closed.is_set()]
        self._connections[route] = kept
        for connection in kept:
            if connection.trust is Trust.STALE:
                connection.retire()
        return [c for c in kept if not c.retired]

    def _is_usable(self, connection: Connection) -> bool:
        """A doubtful connection is asked for a sign of life, and is not usable before it has given one."""
        if connection.trust is Trust.DOUBTFUL:
            connection.probe()
            return False
        return connection.has_room

    def _may_dial(self, route: Route, newer_than: int) -> bool:
        """A request that has already failed gets its fresh connection even beyond the limit."""
        return bool(newer_than) or len(self._open_connections(route)) < self._limits.max_connections

    async def _dial(self, route: Route, timeout_s: float | None) -> None:
        """Wait for the connection that is being made, by a task that goes on when nobody waits any more."""
        task = self._dials.get(route)
        if task is None:
            task = asyncio.create_task(self._connect(route, timeout_s))
            task.add_done_callback(_forget_error)
            self._dials[route] = task
        await asyncio.shield(task)

    async def _connect(self, route: Route, timeout_s: float | None) -> None:
        connection = Connection(next(self._serials), self._limits, Freshness(self._limits, self._clocks), self._pulse)
        try:
            await dial(route, connection, self._tls(route), timeout_s)
            self._connections.setdefault(route, []).append(connection)
        except asyncio.CancelledError:
            raise httpx.ConnectError("the client was closed") from None
        finally:
            del self._dials[route]
            self._pulse()

    def _tls(self, route: Route) -> ssl.SSLContext | None:
        try:
            return self._tls_context() if route.scheme == "https" else None
        except OSError as error:
            raise httpx.ConnectError(f"the certificates cannot be read: {error.strerror or error}") from error

    async def _change(self, timeout_s: float | None) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            raise httpx.PoolTimeout("all connections to the service are busy") from None

    def _pulse(self) -> None:
        """Wake all who wait; each looks again for itself."""
        self._changed.set()
        self._changed.clear()


def _forget_error(task: asyncio.Task[None]) -> None:
    """Those who waited have got the error; if nobody did, nobody needs it."""
    if not task.cancelled():
        task.exception()
