"""Does the prompt hold what the hidden text needs? Without a model: share of names whose header, or a use with
arguments, stands in the packed prompt; beside no context, BM25 and the windows of the best-known product.

All contestants get the same document, the same share of the prompt for snippets, and the same packing. Ours asks all
retrievers, however long they take, so that a slow machine gives the same figures. Also measured: how much of a prompt
stays as it was from keystroke to keystroke, without the start of which the prefix cache is of no use.
"""

import os
import random
from collections.abc import Callable, Sequence

from lsp_complete.context.imports import resolved
from lsp_complete.context.index import Index
from lsp_complete.context.mixer import RETRIEVERS, Mix, fuse
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.context.workspace import names_near
from lsp_complete.evaluation.baselines import Bm25, LineWindow, jaccard
from lsp_complete.evaluation.holes import Hole, find_holes
from lsp_complete.evaluation.report import BUDGETS, Contestant, Report
from lsp_complete.prompt.assemble import Budget, Prompt, assemble
from lsp_complete.text.document import Document
from lsp_complete.text.languages import PLAIN, language_of
from lsp_complete.text.symbols import symbols

# That of the settings' defaults, so that what is measured is what users get.
_SNIPPET_SHARE = 0.375
# Windows of the baselines are packed in pieces of so many lines.
_PIECE_LINES = 5
# Lines that are typed to see what stays, some thirty keystrokes each.
_NUM_TYPED = 12
_LEAST_TYPED = 8


def evaluate(
    index: Index, num: int, seed: int, progress: Callable[[int, int], None] = lambda done, total: None
) -> Report:
    """Measure on up to `num` holes of each kind in the tree of a built index. `progress` gets holes done and in all."""
    texts = {path: text for path in code_paths(index) if (text := index.read(path)) is not None}
    holes = find_holes(index, sorted(texts), num, seed)
    bm25, report = Bm25(texts), Report()
    typed = {id(hole) for hole in _typed(holes, seed)}
    for done, hole in enumerate(holes, start=1):
        index.update_document(hole.document.path, hole.document.text)
        _score(report, hole, index, bm25, texts)
        if id(hole) in typed:
            report.stable += _stable_shares(hole, index)
        index.close_document(hole.document.path)
        progress(done, len(holes))
    return report


def code_paths(index: Index) -> list[str]:
    """Files of the index in a language that we know."""
    paths: list[str] = []
    for folder, _, names in os.walk(index.root):
        below = os.path.relpath(folder, index.root).replace(os.sep, "/")
        paths += [name if below == "." else f"{below}/{name}" for name in names if language_of(name) is not PLAIN]
    return [path for path in paths if path in index.existing(paths)]


def question_of(document: Document, offset: int, index: Index) -> Question:
    """As an editor asks it, with no other document open."""
    parsed = symbols(document.text, language_of(document.path))
    imported = resolved(parsed.imports, document.path, index)
    return Question(document, offset, document.path, names_near(document.text, offset), parsed, imported)


def ours(question: Question, index: Index) -> Mix:
    return fuse({name: retriever(question, index) for name, retriever in RETRIEVERS.items()})


def _score(report: Report, hole: Hole, index: Index, bm25: Bm25, texts: dict[str, str]) -> None:
    document, offset = hole.document, hole.offset
    windows: dict[Contestant, list[LineWindow]] = {
        Contestant.NONE: [],
        Contestant.BM25: bm25.windows(document, offset),
        Contestant.JACCARD: jaccard(texts, document, offset),
    }
    mixes = {name: _filled(found) for name, found in windows.items()}
    mixes[Contestant.OURS] = ours(question_of(document, offset, index), index)
    report.num[hole.kind] += 1
    for tokens in BUDGETS:
        budget = _budget(tokens)
        for contestant, one in mixes.items():
            prompt = assemble(document, offset, one.snippets, one.scores, budget)
            report.hits[contestant, hole.kind, tokens] += any(map(hole.is_told_by, _parts(prompt)))


def _budget(tokens: int) -> Budget:
    return Budget(tokens, int(tokens * _SNIPPET_SHARE))


def _filled(windows: Sequence[LineWindow]) -> Mix:
    """The best windows as snippets, in pieces, so that of a window that does not fit its first lines do. The path is
    charged once a window."""
    snippets: list[Snippet] = []
    for window in windows:
        lines = window.text.splitlines(keepends=True)
        for first in range(0, len(lines), _PIECE_LINES):
            path, text = "" if first else window.path, "".join(lines[first : first + _PIECE_LINES])
            snippets.append(Snippet(path, text, "window", "", f"{window.path}#{window.first}#{first}"))
    return Mix(tuple(snippets), {one.key: 1.0 - place / 10_000 for place, one in enumerate(snippets)})


def _parts(prompt: Prompt) -> list[str]:
    return [prompt.window.prefix, prompt.window.suffix, *(one.snippet.text for one in prompt.packed)]


def _typed(holes: list[Hole], seed: int) -> list[Hole]:
    long = [hole for hole in holes if len(hole.hidden) >= _LEAST_TYPED]
    return random.Random(seed).sample(long, min(_NUM_TYPED, len(long)))


def _stable_shares(hole: Hole, index: Index) -> list[float]:
    """The hidden text is typed. Of each prompt, how much of it stands before the first difference to the one before."""
    shares: list[float] = []
    before: Prompt | None = None
    text, last = hole.document.text, ""
    for length in range(len(hole.hidden) + 1):
        offset = hole.offset + length
        typed = text[: hole.offset] + hole.hidden[:length] + text[hole.offset :]
        document = Document(hole.document.uri, typed, hole.document.path)
        mix = ours(question_of(document, offset, index), index)
        prompt = assemble(document, offset, mix.snippets, mix.scores, _budget(BUDGETS[-1]), before)
        before, now = prompt, _in_order(prompt)
        if last:
            shares.append(_num_alike(last, now) / len(last))
        last = now
    return shares


def _num_alike(one: str, other: str) -> int:
    """Characters before the first difference."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _in_order(prompt: Prompt) -> str:
    """The prompt as the service lays it out, without markers: snippets, suffix, prefix."""
    snippets = [f"{one.snippet.path}\n{one.snippet.text}" for one in prompt.packed]
    return "\n".join([*snippets, prompt.window.suffix, prompt.window.prefix])
