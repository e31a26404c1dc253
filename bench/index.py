"""How long does it take to know a repository, and how soon is a save known?

Three trees: the standard library, 20,000 generated files in five languages, a package's sources. Each build is a fresh
process that does what the language server does: a thread builds, worker processes parse, the event loop goes on; the
interpreter's own start is not counted, the workers' is. Between the builds Universal Ctags, where it is installed, gets
the same files (`-L`), restricted to the languages that both know (Scala, TSX and text in no language are ours alone),
and writes a sorted file of tags with their kinds, scopes, signatures, base classes, first and last lines. It stores no
imports, no comments and no words of the text. Its time is the wall time of its process. Times are medians.

Save to query: a file gets one more function, the index is told, and is asked until it knows the name. Peak memory is
that of all processes of a build together, pages that they share counted once where the system tells (PSS).
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import TypeVar

import psutil

from bench._trees import generated_tree, real_tree, standard_library
from lsp_complete.context.index import Index
from lsp_complete.context.policy import Policy
from lsp_complete.context.walk import WalkReport, walk
from lsp_complete.text.languages import language_of, languages

_Answer = TypeVar("_Answer")

NUM_SAVES = 60
# Reading the memory of a process stops it for a moment.
_MEMORY_S = 0.5
_LAG_S = 0.005
# What ctags calls by another name.
_CTAGS_NAMES = {"Bash": "Sh"}
_CTAGS_FIELDS = "+nKSsei"
TREES: dict[str, Callable[[], Path | None]] = {
    "stdlib": standard_library,
    "generated": generated_tree,
    "package": real_tree,
}
# Whose numbers stand for all in the JSON line.
_MAIN_TREE = "generated"


@dataclass(frozen=True, slots=True)
class Build:
    seconds: float
    cpu_s: float
    num_files: int
    num_definitions: int
    index_mb: float
    lag_p99_ms: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class Result:
    """`ctags_ratio` is None where there is no ctags; `cpu_ratio` is that of CPU times, which load disturbs less."""

    ctags_ratio: float | None
    no_change_ratio: float
    save_to_query_p95_ms: float
    peak_rss_mb: float
    cold_build_s: float
    no_change_s: float
    ctags_s: float | None
    cold_build_cpu_s: float
    cpu_ratio: float | None
    loop_lag_p99_ms: float
    num_files: int
    num_definitions: int
    index_mb: float


def measure(root: Path, num_rounds: int) -> Result:
    """Rounds of a cold build, ctags, and a start where nothing has changed; then saves."""
    with tempfile.TemporaryDirectory() as scratch:
        listing = _listing(root, Path(scratch))
        cold, warm = [], []
        ctags: list[tuple[float, float]] = []
        for number in range(num_rounds):
            folder = Path(scratch) / str(number)
            cold.append(_in_process(_build, root, folder))
            ctags += _ctags(listing)
            warm.append(_in_process(_build, root, folder))
        saves = sorted(_in_process(_save, root, folder))
    return _result(cold, warm, ctags, saves)


def _result(cold: list[Build], warm: list[Build], ctags: list[tuple[float, float]], saves: list[float]) -> Result:
    cold_s, warm_s = (median(build.seconds for build in builds) for builds in (cold, warm))
    cpu_s = median(build.cpu_s for build in cold)
    ctags_s, ctags_cpu_s = map(median, zip(*ctags, strict=True)) if ctags else (None, None)
    return Result(
        ctags_ratio=round(cold_s / ctags_s, 2) if ctags_s else None,
        no_change_ratio=round(warm_s / cold_s, 3),
        save_to_query_p95_ms=round(1000 * saves[len(saves) * 95 // 100], 1),
        peak_rss_mb=round(max(build.peak_mb for build in cold)),
        cold_build_s=round(cold_s, 2),
        no_change_s=round(warm_s, 2),
        ctags_s=round(ctags_s, 2) if ctags_s else None,
        cold_build_cpu_s=round(cpu_s, 2),
        cpu_ratio=round(cpu_s / ctags_cpu_s, 2) if ctags_cpu_s else None,
        loop_lag_p99_ms=round(median(build.lag_p99_ms for build in cold), 1),
        num_files=cold[-1].num_files,
        num_definitions=cold[-1].num_definitions,
        index_mb=cold[-1].index_mb,
    )


def _in_process(run: Callable[[Path, Path], _Answer], root: Path, folder: Path) -> _Answer:
    """The answer of a function that runs in a fresh process."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(run, root, folder, sender))
    process.start()
    sender.close()
    answer: _Answer = receiver.recv()
    process.join()
    return answer


def _send(run: Callable[[Path, Path], object], root: Path, folder: Path, sender: Connection) -> None:
    sender.send(run(root, folder))


def _build(root: Path, folder: Path) -> Build:
    with _open(root, folder) as index, _peak_memory() as peaks:
        start, cpu_start = time.perf_counter(), _cpu_s()
        lags = asyncio.run(_building(index))
        seconds, cpu_s = time.perf_counter() - start, _cpu_s() - cpu_start
        status = index.status()
    return Build(
        seconds,
        cpu_s,
        status.num_files,
        status.num_definitions,
        round(status.num_bytes / 1e6, 1),
        _p99(lags) * 1000,
        peaks[0],
    )


async def _building(index: Index) -> list[float]:
    """Build in a thread; by how much the loop woke up late meanwhile."""
    build = asyncio.create_task(asyncio.to_thread(index.build))
    lags = []
    while not build.done():
        before = time.perf_counter()
        await asyncio.sleep(_LAG_S)
        lags.append(time.perf_counter() - before - _LAG_S)
    await build
    return lags


def _save(root: Path, folder: Path) -> list[float]:
    """Seconds from each save until the index knows what was saved."""
    with _open(root, folder) as index:
        index.build()
        files = [root / file.path for file in walk(str(root), index.policy, WalkReport())]
        python = [path for path in files if path.suffix == ".py" and path.stat().st_size < 100_000]
        step = max(1, len(python) // NUM_SAVES)
        return [_save_one(index, path, number) for number, path in enumerate(python[::step][:NUM_SAVES])]


def _save_one(index: Index, path: Path, number: int) -> float:
    name, before = f"saved_by_the_benchmark_{number}", path.read_bytes()
    start = time.perf_counter()
    try:
        path.write_bytes(before + f"\n\ndef {name}(value):\n    return value\n".encode())
        index.update_files([str(path)])
        while not index.definitions(name):
            time.sleep(0)
        return time.perf_counter() - start
    finally:
        path.write_bytes(before)


@contextmanager
def _open(root: Path, folder: Path) -> Iterator[Index]:
    with closing(Index.open(root, folder, Policy([root]))) as index:
        yield index


@contextmanager
def _peak_memory() -> Iterator[list[float]]:
    """The most that this process and its children had in memory together, in MB."""
    peaks, is_over = [0.0], threading.Event()

    def watch() -> None:
        while not is_over.wait(_MEMORY_S):
            peaks[0] = max(peaks[0], _memory())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        is_over.set()
        thread.join()


def _memory() -> float:
    this, total = psutil.Process(), 0
    for process in (this, *this.children(recursive=True)):
        try:
            memory = process.memory_full_info()
        except psutil.Error:
            continue
        total += getattr(memory, "pss", memory.rss)
    return total / 1e6


def _cpu_s() -> float:
    """Of this process and all children that have ended; only Windows counts no children."""
    return sum(os.times()[:4])


def _p99(values: list[float]) -> float:
    return sorted(values)[len(values) * 99 // 100] if values else 0.0


def _listing(root: Path, scratch: Path) -> Path:
    """A file with the paths that the index holds: what ctags gets to read."""
    listing = scratch / "files"
    paths = [f"{root}/{file.path}\n" for file in walk(str(root), Policy([root]), WalkReport())]
    listing.write_text("".join(path for path in paths if language_of(path.strip()).grammar_package), encoding="utf-8")
    return listing


def _ctags(listing: Path) -> list[tuple[float, float]]:
    """Wall and CPU time in seconds of one run; none without Universal Ctags."""
    program = shutil.which("ctags")
    if program is None or "Universal Ctags" not in _output([program, "--version"]):
        return []
    theirs = set(_output([program, "--list-languages"]).split())
    names = {_CTAGS_NAMES.get(language.name, language.name) for language in languages()} & theirs
    what = [f"--languages={','.join(sorted(names))}", f"--fields={_CTAGS_FIELDS}"]
    start, cpu_start = time.perf_counter(), _cpu_s()
    subprocess.run([program, "-L", listing, "-o", listing.with_name("tags"), *what], check=True, capture_output=True)
    return [(time.perf_counter() - start, _cpu_s() - cpu_start)]


def _output(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench index", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--tree", choices=TREES, action="append", help="only this one; may be repeated")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    results: dict[str, Result] = {}
    for name in options.tree or TREES:
        root = TREES[name]()
        if root is not None:
            results[name] = measure(root, options.rounds)
            _print(name, results[name])
    if options.json:
        print(json.dumps(_summary(results)))
    sys.exit(0 if results else 1)


def _print(name: str, result: Result) -> None:
    print(f"\n{name}")
    for label, value in asdict(result).items():
        print(f"  {label.replace('_', ' '):26} {value}", flush=True)


def _summary(results: dict[str, Result]) -> dict[str, object]:
    main = results.get(_MAIN_TREE) or next(iter(results.values()), None)
    keys = ("ctags_ratio", "no_change_ratio", "save_to_query_p95_ms", "peak_rss_mb")
    top = {key: getattr(main, key) for key in keys} if main else {}
    return {**top, "trees": {name: asdict(result) for name, result in results.items()}}
