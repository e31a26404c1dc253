"""Chunks out of bytes, however the bytes are cut."""

from collections.abc import AsyncIterator

import pytest

from lsp_complete.client.event_stream import ChunkReader
from lsp_complete.protocol.completion import CompletionChunk, Finish, FinishChunk, TextChunk
from lsp_complete.protocol.errors import BadAnswer
from lsp_complete.protocol.wire import chunk_to_event

END = FinishChunk(Finish.STOP)


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for piece in data:
        yield piece


async def read(*data: bytes) -> list[CompletionChunk]:
    reader = ChunkReader(pieces(*data))
    chunks = [await reader.next()]
    while isinstance(chunks[-1], TextChunk):
        chunks.append(await reader.next())
    await reader.linger()
    return chunks


async def check(*chunks: CompletionChunk) -> None:
    data = b"".join(map(chunk_to_event, chunks))
    for size in (1, 2, 3, len(data)):
        assert await read(*(data[i : i + size] for i in range(0, len(data), size))) == list(chunks)


async def test_chunks_are_read_however_the_bytes_are_cut() -> None:
    await check(TextChunk("a"), TextChunk("äöü 漢字 🙂"), END)


async def test_only_a_newline_ends_a_line() -> None:
    """Unicode knows more line ends, and JSON does not escape all of them."""
    await check(TextChunk("a\u2028b\u2029c\x85d\x1ce\x0bf\r\n"), END)


async def test_comments_blank_lines_and_carriage_returns_are_no_chunks() -> None:
    data = b': comment\r\n\r\nevent: x\r\ndata: {"text": "a"}\r\n\r\ndata: {"finish": "stop"}\r\n\r\n'
    assert await read(data) == [TextChunk("a"), END]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"data: {}\n\n",
        b"data: [DONE]\n\n",
        b'data: {"text": "a"}\n\n',
        b'data: {"finish": "stop"}',
        b'data: {"finish": "because"}\n\n',
        b"<html>",
        b"x" * (2**20 + 1),
    ],
)
async def test_what_is_no_answer_of_the_protocol_is_an_error(data: bytes) -> None:
    with pytest.raises(BadAnswer):
        await read(data)
