"""Does the service stay what it was? A process of its own under random load, and what it holds at the end of it.

Sessions ask, cancel, and hang up, each about words of its own; now and then the engine is taken away, and has to be
loaded again. Counted: growth of the process's memory after a warm-up, streams that nobody waits for any more, answers
with another session's words.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

import psutil

from bench._models import embedded_path
from bench._serve_scene import Answered, ask, code, question
from lsp_complete.client.completer import HttpCompleter
from lsp_complete.config.paths import model_folder
from lsp_complete.protocol.errors import CompletionError

MINUTES = 20.0
_NUM_SESSIONS = 6
_CREDENTIAL = "bench-credential-of-a-soak"
_SAMPLE_S = 1.0
# What a process takes until its caches are full, of the whole time; growth is judged by as much at the end.
_WARM_UP, _END = 0.25, 0.25
_NUM_LOSSES = 9
_FREE_WITHIN_S = 60.0


@dataclass(slots=True)
class Soak:
    growth_share: float = 0.0
    leaked: int = 0
    foreign: int = 0
    memory_mib: tuple[int, int] = (0, 0)
    num_lost: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)

    def count(self, outcome: str) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1


@dataclass(slots=True)
class _Service:
    url: str
    process: psutil.Process
    runtime: Path

    def lose_engine(self) -> None:
        """llama.cpp's private socket cannot be opened a second time."""
        for listener in self.runtime.glob("**/s.sock"):
            listener.unlink(missing_ok=True)


async def soak(minutes: float = MINUTES, seed: int = 7) -> Soak:
    found, ends = Soak(), time.monotonic() + minutes * 60
    async with _service() as service:
        samples: list[tuple[float, int]] = []
        jobs = [_session(service, number, random.Random(seed + number), ends, found) for number in range(_NUM_SESSIONS)]
        await asyncio.gather(*jobs, _sampled(service, ends, samples), _losses(service, ends, found))
        found.leaked = await _num_leaked(service)
    _note_growth(found, samples)
    return found


@contextlib.asynccontextmanager
async def _service() -> AsyncGenerator[_Service, None]:
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        names = {"CONFIG": "config.toml", "LOGS": "logs", "STATE": "state", "RUNTIME": "run"}
        environ = {f"LSP_COMPLETE_{name}": str(Path(folder) / file) for name, file in names.items()}
        environ |= {"LSP_COMPLETE_MODELS": str(model_folder()), "LSP_COMPLETE_CREDENTIAL": _CREDENTIAL}
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = int(probe.getsockname()[1])
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "lsp_complete", "serve", "--port", str(port), "--model", str(embedded_path()),
            env={**os.environ, **environ}, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            await _until_ready(url)
            yield _Service(url, psutil.Process(process.pid), Path(folder))
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def _until_ready(url: str) -> None:
    completer, given_up = HttpCompleter(url, _CREDENTIAL), time.monotonic() + _FREE_WITHIN_S
    while time.monotonic() < given_up:
        with contextlib.suppress(CompletionError):
            if (await completer.health())["ready"]:
                break
        await asyncio.sleep(_SAMPLE_S)
    else:
        sys.exit("the service has not started")
    await completer.aclose()


async def _session(service: _Service, number: int, rng: random.Random, ends: float, found: Soak) -> None:
    completer = HttpCompleter(service.url, _CREDENTIAL)
    while time.monotonic() < ends:
        words = " value" * rng.randrange(20)
        asked = question(
            code(f"word{number}", 4) + f"x ={words}\ndef ", max_tokens=16, session=f"s{number}", deadline_ms=20_000
        )
        asking = asyncio.create_task(ask(completer, asked))
        deed = rng.choice(("take", "take", "cancel", "hang up"))
        if deed == "take":
            found.count(_outcome(answer := await asking))
            found.foreign += _is_foreign(answer, number)
        else:
            await asyncio.wait([asking], timeout=rng.uniform(0, 0.5))
            asking.cancel()
            await asyncio.wait([asking])
            found.count(deed)
        if deed == "hang up":
            await completer.aclose()
            completer = HttpCompleter(service.url, _CREDENTIAL)
        await asyncio.sleep(rng.uniform(0, 0.2))
    await completer.aclose()


def _outcome(answer: Answered) -> str:
    return answer.error or (answer.finish.finish.value if answer.finish else "no end")


def _is_foreign(answer: Answered, number: int) -> bool:
    return any(f"word{other}" in answer.text for other in range(_NUM_SESSIONS) if other != number)


async def _sampled(service: _Service, ends: float, samples: list[tuple[float, int]]) -> None:
    while time.monotonic() < ends:
        samples.append((time.monotonic(), service.process.memory_info().rss))
        await asyncio.sleep(_SAMPLE_S)


async def _losses(service: _Service, ends: float, found: Soak) -> None:
    every_s = (ends - time.monotonic()) / (_NUM_LOSSES + 1)
    for _ in range(_NUM_LOSSES):
        await asyncio.sleep(every_s)
        service.lose_engine()
        found.num_lost += 1


async def _num_leaked(service: _Service) -> int:
    """Requests that the service still answers, or lets wait, when nobody has asked for a while."""
    completer, given_up = HttpCompleter(service.url, _CREDENTIAL), time.monotonic() + _FREE_WITHIN_S
    try:
        while (num := _num_open(await completer.metrics())) and time.monotonic() < given_up:  # noqa: ASYNC110
            await asyncio.sleep(_SAMPLE_S)
        return num
    finally:
        await completer.aclose()


def _num_open(metrics: str) -> int:
    names = ("lsp_complete_in_flight ", "lsp_complete_waiting ")
    return sum(int(float(line.split()[1])) for line in metrics.splitlines() if line.startswith(names))


def _note_growth(found: Soak, samples: list[tuple[float, int]]) -> None:
    used = [memory for _, memory in samples[int(len(samples) * _WARM_UP) :]]
    part = max(1, int(len(samples) * _END))
    before, after = median(used[:part]), median(used[-part:])
    found.growth_share = round(max(0.0, after / before - 1), 4)
    found.memory_mib = int(before) >> 20, int(after) >> 20


def run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench soak", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    options = parser.parse_args(arguments)
    found = asyncio.run(soak(options.minutes))
    for name, value in asdict(found).items():
        print(f"{name.replace('_', ' '):16} {value}")
    if options.json:
        print(json.dumps(asdict(found)))
    sys.exit(0 if not found.leaked and not found.foreign else 1)
