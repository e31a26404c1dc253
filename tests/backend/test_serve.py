"""The process: told to stop it finishes what it has begun; an engine that is lost is loaded again."""

import asyncio
import contextlib
import signal
import sys

import pytest

from lsp_complete.backend.engines.base import EngineLost, Isolation
from lsp_complete.backend.serve import serve
from lsp_complete.backend.tenants import read_tenants
from lsp_complete.client.completer import HttpCompleter
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import FinishChunk, TextChunk
from lsp_complete.protocol.errors import CompletionError, EngineFailed, ModelLoading, RateLimited, Unauthorized
from lsp_complete.protocol.wire import COMPLETE_PATH, request_to_json
from tests.backend.wire_client import wire_client
from tests.client.playing import ENVIRON
from tests.fakes import CharacterTokenizer, RecitingEngine, request

CREDENTIAL = "a-credential-for-tests"
PATIENCE_S = 120


@contextlib.asynccontextmanager
async def gated_service(drain_s):
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.backend.gated_service", CREDENTIAL, str(drain_s),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=ENVIRON,
    )  # fmt: skip
    assert process.stdout
    url = (await process.stdout.readline()).decode().strip()
    completer = HttpCompleter(url, CREDENTIAL)
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield process, completer, url
    finally:
        await completer.aclose()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


async def begun(process, completer):
    """An answer whose first word has come."""
    chunks = completer.complete(request())
    while True:
        try:
            process.stdin.write(b"x" * len("one t"))
            assert await anext(chunks) == TextChunk("one ")
            return chunks
        except ModelLoading:
            chunks = completer.complete(request())


async def until_unhealthy(completer):
    while True:
        try:
            await completer.health()
        except CompletionError:
            return


async def test_told_to_stop_it_is_unhealthy_at_once_finishes_what_it_has_begun_and_ends_well():
    async with gated_service(drain_s=30) as (process, completer, url):
        chunks = await begun(process, completer)
        process.send_signal(signal.SIGTERM)
        newcomer = HttpCompleter(url, CREDENTIAL)
        await until_unhealthy(newcomer)
        with pytest.raises(CompletionError):
            await anext(newcomer.complete(request()))
        await newcomer.aclose()
        process.stdin.write(b"x" * 20)
        rest = [chunk async for chunk in chunks]
        assert isinstance(rest[-1], FinishChunk)
        assert "".join(chunk.text for chunk in rest[:-1]) == "two three"
        assert await process.wait() == 0


async def test_told_to_stop_it_says_go_away_on_the_wire_and_the_stream_under_way_ends_well():
    async with gated_service(drain_s=30) as (process, completer, url), wire_client(url) as client:
        while not (await completer.health())["ready"]:
            pass
        stream = client.begin("POST", COMPLETE_PATH, CREDENTIAL)
        client.send(stream, request_to_json(request()))
        process.stdin.write(b"x" * 5)
        while "DataReceived" not in client.of(stream):
            await client.receive()
        process.send_signal(signal.SIGTERM)
        while not client.goaways:
            await client.receive()
        assert "StreamEnded" not in client.of(stream)
        process.stdin.write(b"x" * 20)
        while not client.is_closed:
            await client.receive()
        assert {(goaway.code, goaway.last_stream_id >= stream) for goaway in client.goaways} == {(0, True)}
        assert client.of(stream)[-1] == "StreamEnded"
        assert '"finish":"' in client.text(stream).replace(" ", "")
        assert await process.wait() == 0


async def test_what_takes_longer_than_the_limit_is_broken_off_and_the_process_ends_well():
    async with gated_service(drain_s=0) as (process, completer, _):
        chunks = await begun(process, completer)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(CompletionError):
            [chunk async for chunk in chunks]
        assert await process.wait() == 0


class LosingTokenizer(CharacterTokenizer):
    is_gone = False

    def encode(self, text):
        if self.is_gone:
            raise EngineLost("gone")
        return super().encode(text)


class LosingEngine(RecitingEngine):
    """Its tokenizer is gone when it has answered once."""

    closed = False

    def __init__(self, text):
        super().__init__(text)
        self.tokenizer = self.losing = LosingTokenizer()

    async def generate(self, job):
        async with contextlib.aclosing(super().generate(job)) as chunks:
            async for chunk in chunks:
                self.losing.is_gone = True
                yield chunk

    async def close(self):
        self.closed = True


@contextlib.asynccontextmanager
async def served(load, **settings):
    """The service in this process. Gives its address."""
    address = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(
        serve(
            Settings(credential=CREDENTIAL, port=0, **settings), load, model="m", family_name="qwen2.5-coder",
            announce=lambda url, _: address.set_result(url),
        )
    )  # fmt: skip
    await asyncio.wait([running, address], return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield address.result()
    finally:
        signal.raise_signal(signal.SIGTERM)
        await running


async def text_of(completer, **fields):
    while True:
        try:
            chunks = [chunk async for chunk in completer.complete(request(**fields))]
            return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))
        except ModelLoading:
            await asyncio.sleep(0)


async def test_an_engine_that_is_lost_is_loaded_again():
    engines: list[LosingEngine] = []

    def load():
        engines.append(LosingEngine("recited"))
        return engines[-1]

    async with served(load) as url:
        completer = HttpCompleter(url, CREDENTIAL)
        assert await text_of(completer, prefix="one") == "recited"
        with pytest.raises(EngineFailed):
            await text_of(completer, prefix="two")
        assert await text_of(completer, prefix="three") == "recited"
        await completer.aclose()
    assert [engine.closed for engine in engines] == [True, True]


async def test_an_engine_that_is_lost_while_it_is_loaded_is_loaded_again():
    attempts: list[None] = []

    def load():
        attempts.append(None)
        if len(attempts) < 3:
            raise EngineLost("gone")
        return RecitingEngine("recited")

    async with served(load) as url:
        completer = HttpCompleter(url, CREDENTIAL)
        assert await text_of(completer) == "recited"
        await completer.aclose()


async def test_each_user_has_a_credential_and_a_rate_of_their_own(tmp_path):
    file = tmp_path / "users"
    file.write_text("# who\nanne  annes-credential-1234\n\nben bens-credential-12345\n")
    engine = RecitingEngine("recited")
    async with served(lambda: engine, credentials_file=str(file), requests_per_s=0.01) as url:
        users = [HttpCompleter(url, c) for c in ("annes-credential-1234", "bens-credential-12345", "other")]
        anne, ben, other = users
        assert await text_of(anne) == "recited"
        assert await text_of(ben) == "recited"
        with pytest.raises(RateLimited) as refused:
            await text_of(anne)
        assert 90 < (refused.value.retry_after_s or 0) <= 100
        with pytest.raises(Unauthorized):
            await text_of(other)
        for user in users:
            await user.aclose()
    assert [job.tenant for job in engine.jobs] == ["anne", "ben"]


async def test_users_are_not_served_together_by_an_engine_that_keeps_them_in_common(tmp_path):
    file = tmp_path / "users"
    file.write_text("anne annes-credential-1234\n")
    engine = RecitingEngine("recited")
    engine.isolation = Isolation.NONE
    async with served(lambda: engine, credentials_file=str(file)) as url:
        completer = HttpCompleter(url, CREDENTIAL)
        with pytest.raises(EngineFailed, match="in common"):
            await text_of(completer)
        await completer.aclose()


def test_a_line_that_is_no_credential_is_named_and_not_quoted(tmp_path):
    file = tmp_path / "users"
    file.write_text("anne short\n")
    with pytest.raises(OSError, match="line 1") as refused:
        read_tenants(file)
    assert "short" not in str(refused.value)
