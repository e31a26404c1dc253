"""The loop of a replay: it leaps over waits, and over nothing else."""

import asyncio
import threading
import time

from lsp_complete.evaluation.replay.clock import VirtualLoop, run


def elapsed_s(seconds: float) -> tuple[float, float]:
    """Of a sleep: in the loop, and on the wall."""

    async def sleep() -> float:
        loop = asyncio.get_running_loop()
        before_s = loop.time()
        await asyncio.sleep(seconds)
        return loop.time() - before_s

    started_s = time.perf_counter()
    return run(sleep(), is_virtual=True), time.perf_counter() - started_s


def test_an_hour_passes_at_once() -> None:
    in_loop_s, on_wall_s = elapsed_s(3600)
    assert 3600 <= in_loop_s < 3630
    assert on_wall_s < 30


def test_timers_go_off_in_their_order() -> None:
    async def main() -> list[int]:
        order: list[int] = []

        async def later(number: int) -> None:
            await asyncio.sleep(number)
            order.append(number)

        await asyncio.gather(*(later(number) for number in (300, 100, 200)))
        return order

    assert run(main(), is_virtual=True) == [100, 200, 300]


def test_a_thread_of_an_executor_is_waited_for_and_its_time_not_leapt_over() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        may_end = threading.Event()
        job = asyncio.ensure_future(asyncio.to_thread(may_end.wait))
        timer = asyncio.ensure_future(asyncio.sleep(3600))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert loop.skipped_s == 0
        may_end.set()
        await job
        await timer
        return loop.skipped_s

    assert run(main(), is_virtual=True) > 3500


def test_what_comes_by_a_stream_is_read_before_time_leaps() -> None:
    async def main() -> tuple[bytes, float]:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readline())
            writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        async with server:
            before_s = asyncio.get_running_loop().time()
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(b"line\n")
            timeout = asyncio.get_running_loop().call_later(3600, writer.close)
            line = await reader.readline()
            took_s = asyncio.get_running_loop().time() - before_s
            timeout.cancel()
            writer.close()
        return line, took_s

    line, took_s = run(main(), is_virtual=True)
    assert line == b"line\n"
    assert took_s < 3600
