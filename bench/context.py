"""What does context cost a keystroke, and how much of the prompt does a keystroke leave as it was?

Lines are typed key by key into one of 20 open documents of 1,000 lines, in a workspace of 20,000 generated files. Half
of the documents are modules of the standard library, half are files of the tree, and of these the lines are typed that
name most of what other files define. A keystroke is a change, retrieval and packing, as a server does them but without
a model; first with nothing else to do, then while another index of the same files is built in the background. The
loop's lag is by how much a sleeping task wakes late during that build. The share that is stable is that of a prompt's
characters, in the order snippets, suffix, prefix, before the first difference to the prompt of the next key.
"""

import argparse
import asyncio
import contextlib
import json
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

import platformdirs

from bench._trees import NUM_FILES, generated_tree, standard_library
from lsp_complete.config.settings import Settings
from lsp_complete.context.index import Index
from lsp_complete.context.indexer import Hooks
from lsp_complete.context.policy import Policy
from lsp_complete.context.workspace import Workspace
from lsp_complete.evaluation.quantiles import quantile
from lsp_complete.prompt.assemble import Budget, Prompt, assemble
from lsp_complete.server.main import SWITCH_S
from lsp_complete.text.document import Document

NUM_TABS = 20
_NUM_LINES = 1000
# Lines that are typed before the cursor goes to another document.
_IN_A_ROW = 4
_LEAST_CHARACTERS, _MOST_CHARACTERS = 20, 70
# From a change to the question: less than the pause that the server waits for, more than documents that were left take.
_PAUSE_S = 0.03
_LAG_S = 0.005
# Until open documents are parsed, and until the workers of a build are at work.
_START_S = 2.0
_NAME = re.compile(r"[A-Za-z]\w{3,}")


@dataclass(frozen=True, slots=True)
class Result:
    """`late_share` is that of keystrokes for which a retriever missed the deadline, `num_snippets` a mean."""

    p50_ms: float
    p99_ms: float
    p50_under_build_ms: float
    p99_under_build_ms: float
    loop_lag_p99_ms: float
    stable_share_median: float
    stable_share_p10: float
    num_keys: int
    num_snippets: float
    late_share: float


@dataclass(slots=True)
class Figures:
    """One value a keystroke."""

    times_ms: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    num_snippets: list[int] = field(default_factory=list)
    late: list[bool] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Line:
    """A line to be typed: it stands in the document, from `start` to `end`."""

    document: Document
    start: int
    end: int


async def measure(tree: Path, indexes: Path, num_lines: int, settings: Settings) -> Result:
    """`tree` is indexed in the folder `indexes`, where an index of it may lie already."""
    sys.setswitchinterval(SWITCH_S)  # as the server does
    workspace = Workspace([tree], indexes)
    try:
        await workspace.build(_progress)
        (index,) = workspace.indexes
        tabs = list(_tabs(tree))
        for tab in tabs:
            workspace.opened(tab)
        await asyncio.sleep(_START_S)
        lines = [*_some(tabs[::2], num_lines // 2, index), *_some(tabs[1::2], num_lines // 2, index)]
        idle, busy, lags_ms = Figures(), Figures(), list[float]()
        await _type(workspace, lines[:: num_lines // 2], settings, Figures())  # first questions read from the disk
        await _type(workspace, lines, settings, idle)
        async with _building(tree, workspace.policy), _watching_lag(lags_ms):
            await _type(workspace, lines, settings, busy)
        return _result(idle, busy, lags_ms)
    finally:
        workspace.close()


async def _type(workspace: Workspace, lines: list[Line], settings: Settings, figures: Figures) -> None:
    for line in lines:
        before: Prompt | None = None
        last = line.document
        for document, offset in _keys(line):
            started = time.perf_counter()
            workspace.changed(last, document)
            paused = time.perf_counter()
            await asyncio.sleep(_PAUSE_S)
            started += time.perf_counter() - paused
            mix = await workspace.snippets(document, Path(document.file), offset)
            budget = Budget(settings.prompt_tokens, settings.snippet_tokens)
            prompt = assemble(document, offset, mix.snippets, mix.scores, budget, before)
            figures.times_ms.append((time.perf_counter() - started) * 1000)
            figures.num_snippets.append(len(prompt.packed))
            figures.late.append(bool(mix.late))
            if before is not None:
                figures.shares.append(_stable_share(before, prompt))
            before, last = prompt, document
        workspace.changed(last, line.document)


def _keys(line: Line) -> Iterator[tuple[Document, int]]:
    """The document and the cursor after each key, from the empty line on."""
    old = line.document
    for version, offset in enumerate(range(line.start, line.end + 1)):
        text = old.text[:offset] + old.text[line.end :]
        yield Document(old.uri, text, old.path, old.language, version, old.file), offset


def _stable_share(before: Prompt, now: Prompt) -> float:
    one, other = _in_order(before), _in_order(now)
    differences = (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differences, min(len(one), len(other))) / max(1, len(one))


def _in_order(prompt: Prompt) -> str:
    """As the service lays it out, without markers."""
    snippets = [f"{one.snippet.path}\n{one.snippet.text}\n" for one in prompt.packed]
    return "".join([*snippets, prompt.window.suffix, prompt.window.prefix])


def _tabs(tree: Path) -> Iterator[Document]:
    """Modules of the standard library and files of the tree, by turns. None of them is on the disk."""
    library = standard_library()
    long = [path for path in sorted(library.glob("*.py")) if path.read_bytes().count(b"\n") > _NUM_LINES]
    own = sorted(tree.glob("py/*/*.py"))
    for number in range(NUM_TABS // 2):
        path = long[number * len(long) // (NUM_TABS // 2)]
        yield _tab(tree, f"py/library/{path.name}", path.read_text("utf-8"))
        first = number * len(own) // (NUM_TABS // 2)
        text = "".join(path.read_text("utf-8") for path in own[first : first + _NUM_LINES // 25])
        yield _tab(tree, f"{own[first].parent.relative_to(tree).as_posix()}/joined.py", text)


def _tab(tree: Path, path: str, text: str) -> Document:
    file = tree / path
    text = "".join(islice(text.splitlines(keepends=True), _NUM_LINES))
    return Document(file.as_uri(), text, path, "python", file=str(file))


def _some(tabs: list[Document], num_lines: int, index: Index) -> Iterator[Line]:
    """Lines of these documents, a few in a row, by turns and the same every time: of a dozen those that name the most
    from elsewhere."""
    rng = random.Random(7)
    for number in range(-(-num_lines // _IN_A_ROW)):
        lines = list(_lines(tabs[number % len(tabs)]))
        first = rng.randrange(len(lines) // 4, len(lines) - 12)  # behind the imports
        nums_known = [_num_known(line, index) for line in lines[first : first + 12]]
        sums = [sum(nums_known[start : start + _IN_A_ROW]) for start in range(12 - _IN_A_ROW)]
        start = first + sums.index(max(sums))
        yield from lines[start : start + _IN_A_ROW]


def _lines(tab: Document) -> Iterator[Line]:
    for number in range(tab.num_lines):
        start, end = tab.line_span(number)
        if _LEAST_CHARACTERS <= end - start <= _MOST_CHARACTERS:
            yield Line(tab, start, end)


def _num_known(line: Line, index: Index) -> int:
    names = set(_NAME.findall(line.document.text, line.start, line.end))
    return sum(any(one.path != line.document.path for one in index.definitions(name)) for name in names)


@contextlib.asynccontextmanager
async def _building(tree: Path, policy: Policy) -> AsyncGenerator[None, None]:
    """Indexes of the tree are built from nothing, one after the other."""
    over = threading.Event()
    hooks = Hooks(is_cancelled=over.is_set)
    with tempfile.TemporaryDirectory() as folder:
        index = Index.open(tree, folder, policy)

        def build() -> None:
            while not over.is_set():
                index.build(hooks, afresh=True)

        thread = asyncio.create_task(asyncio.to_thread(build))
        await asyncio.sleep(_START_S)
        try:
            yield
        finally:
            over.set()
            await thread
            index.close()


@contextlib.asynccontextmanager
async def _watching_lag(lags_ms: list[float]) -> AsyncGenerator[None, None]:
    async def watch() -> None:
        while True:
            due = time.perf_counter() + _LAG_S
            await asyncio.sleep(_LAG_S)
            lags_ms.append((time.perf_counter() - due) * 1000)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()


def _result(idle: Figures, busy: Figures, lags_ms: list[float]) -> Result:
    return Result(
        p50_ms=round(quantile(idle.times_ms, 0.5), 2),
        p99_ms=round(quantile(idle.times_ms, 0.99), 2),
        p50_under_build_ms=round(quantile(busy.times_ms, 0.5), 2),
        p99_under_build_ms=round(quantile(busy.times_ms, 0.99), 2),
        loop_lag_p99_ms=round(quantile(lags_ms, 0.99), 2),
        stable_share_median=round(quantile(idle.shares, 0.5), 4),
        stable_share_p10=round(quantile(idle.shares, 0.1), 4),
        num_keys=len(idle.times_ms),
        num_snippets=round(sum(idle.num_snippets) / len(idle.num_snippets), 1),
        late_share=round(sum(idle.late) / len(idle.late), 4),
    )


def _progress(done: int, total: int) -> None:
    if total > _NUM_LINES and done % _NUM_LINES < 50:
        print(f"index: {done} of {total} files", file=sys.stderr)


def run(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench context", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON line last")
    parser.add_argument("--files", type=int, default=NUM_FILES)
    parser.add_argument("--lines", type=int, default=24, help="lines to be typed")
    options = parser.parse_args(arguments)
    tree = generated_tree(options.files)
    indexes = platformdirs.user_cache_path("lsp-complete") / "bench" / "indexes"
    result = asyncio.run(measure(tree, indexes, options.lines, Settings()))
    for name, value in asdict(result).items():
        print(f"{name.replace('_', ' '):26} {value}")
    if options.json:
        print(json.dumps(asdict(result)))
