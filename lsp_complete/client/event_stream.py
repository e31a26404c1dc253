"""Reads completion chunks from the bytes of a `text/event-stream` answer. Knows the events, and no HTTP.

Lines end at a newline and nowhere else: `str.splitlines`, and with it httpx's `aiter_lines`, also cuts at the line
separators of Unicode, which JSON leaves as they are.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from lsp_complete.protocol.completion import CompletionChunk
from lsp_complete.protocol.errors import BadAnswer
from lsp_complete.protocol.wire import chunk_from_event

# No chunk comes near it; a page that is not ours may have no newline at all.
_MAX_LINE_BYTES = 2**20
# The end of the stream comes with the last chunk or right after it. Leaving before it would be a cancellation.
_LINGER_S = 0.25


class ChunkReader:
    """One answer: text chunks, then one finish chunk. Raises BadAnswer and what `pieces` raises."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._line = bytearray()
        self._chunks: deque[CompletionChunk] = deque()

    async def next(self) -> CompletionChunk:
        """Not to be called after the finish chunk."""
        while not self._chunks:
            self._feed(await self._piece())
        return self._chunks.popleft()

    async def linger(self) -> None:
        """After the finish chunk: let the stream end by itself. The answer is complete, nothing matters any more."""
        try:
            async with asyncio.timeout(_LINGER_S):
                while await anext(self._pieces, None) is not None:
                    pass
        except Exception:
            return

    async def _piece(self) -> bytes:
        piece = await anext(self._pieces, None)
        if piece is None:
            raise BadAnswer("the answer ended before its last chunk")
        return piece

    def _feed(self, piece: bytes) -> None:
        *complete, rest = piece.split(b"\n")
        for line in complete:
            chunk = chunk_from_event((self._line + line).decode("utf-8", "replace"))
            self._line.clear()
            if chunk:
                self._chunks.append(chunk)
        self._line += rest
        if len(self._line) > _MAX_LINE_BYTES:
            raise BadAnswer("a line without an end")
