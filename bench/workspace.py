"""Does a large workspace make the first suggestion wait?

The real language server over stdio, with an empty index, opens a folder of one file and one of 20,000 in turns, and is
asked for a suggestion as soon as it has been told of the folder, while the index is being built; the service is real,
its model recites. Then it is asked something that costs nothing, every few milliseconds for as long as the build goes
on, which shows how long the event loop is held; in the small folder the same is done without a build. Only the ratios
mean something on a busy machine.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench._trees import generated_tree
from tests.fakes import RecitingEngine
from tests.server.editor import Buffer, started
from tests.serving import CREDENTIAL, backend_over, serving

_PAUSE_S = 0.003
_CODE = "import os\n\n\ndef path_of(name):\n    return █\n"


@dataclass(slots=True)
class Figures:
    """Milliseconds: of first suggestions, and of questions that cost nothing."""

    first: list[float] = field(default_factory=list)
    pings: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Result:
    first_small_ms: float
    first_large_ms: float
    ping_p99_small_ms: float
    ping_p99_large_ms: float


def run(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench workspace", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the build is watched in each round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    result = asyncio.run(_measure(generated_tree(), options.rounds, options.seconds))
    for name, value in asdict(result).items():
        print(f"{name.replace('_', ' '):<20} {value:8.1f}", file=sys.stderr if options.json else sys.stdout)
    if options.json:
        print(json.dumps(asdict(result)))


async def _measure(large: Path, num_rounds: int, seconds: float) -> Result:
    figures = {"small": Figures(), "large": Figures()}
    async with serving(backend_over(RecitingEngine("name"))) as url:
        for _ in range(num_rounds):
            with tempfile.TemporaryDirectory() as folder:
                small, own, other = _folders(Path(folder))
                await _open(small, url, own, seconds, figures["small"])
                await _open(large, url, other, seconds, figures["large"])
    one, many = figures["small"], figures["large"]
    return Result(statistics.median(one.first), statistics.median(many.first), _p99(one.pings), _p99(many.pings))


def _folders(top: Path) -> list[Path]:
    """A workspace of one file, and a folder for each server."""
    folders = [top / name for name in ("small", "own", "other")]
    for folder in folders:
        folder.mkdir()
    (folders[0] / "one.py").write_text("def one(): ...\n")
    return folders


async def _open(root: Path, url: str, folder: Path, seconds: float, figures: Figures) -> None:
    async with started(folder) as editor:
        options = {"url": url, "credential": CREDENTIAL, "debounce_ms": 0}
        await editor.initialize(options, rootUri=root.as_uri())
        start = time.perf_counter()
        await Buffer(editor, _CODE, uri=(root / "new_file.py").as_uri()).complete()
        figures.first.append((time.perf_counter() - start) * 1000)
        end = time.perf_counter() + seconds
        while (asked := time.perf_counter()) < end:
            await editor.ask("lsp-complete/explain", {"last": 1})
            figures.pings.append((time.perf_counter() - asked) * 1000)
            await asyncio.sleep(_PAUSE_S)
        await editor.exit()


def _p99(values: list[float]) -> float:
    return statistics.quantiles(values, n=100)[-1]
