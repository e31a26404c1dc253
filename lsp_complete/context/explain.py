"""What each retriever finds at a cursor, and what becomes of it. For people; questions go through mixer.py."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lsp_complete.context import mixer
from lsp_complete.context.gate import passed
from lsp_complete.context.imports import resolved
from lsp_complete.context.index import Index
from lsp_complete.context.mixer import RETRIEVERS, Mix, fuse
from lsp_complete.context.policy import Policy
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.context.workspace import names_near
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.symbols import symbols


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one retriever found, best first. `failure` names an error of ours."""

    snippets: tuple[Snippet, ...]
    took_ms: float
    is_late: bool
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """`mix` is what goes on, credentials covered; `denied` are keys of what does not."""

    rankings: Mapping[str, Ranking]
    mix: Mix
    denied: frozenset[str]


def explain(document: Document, offset: int, index: Index, policy: Policy) -> Explanation:
    """`document.path` is relative to the index's root. Knows of no open documents and no edits."""
    parsed = symbols(document.text, language_of(document.path, document.language))
    imported = resolved(parsed.imports, document.path, index)
    question = Question(document, offset, document.path, names_near(document.text, offset), parsed, imported)
    rankings = {name: _ranking(name, question, index) for name in RETRIEVERS}
    on_time = {name: ranking.snippets for name, ranking in rankings.items() if not ranking.is_late}
    mix = fuse(on_time, tuple(name for name in rankings if name not in on_time))
    through = passed(mix.snippets, index.root, policy)
    denied = {one.key for one in mix.snippets} - {one.key for one in through}
    return Explanation(rankings, replace(mix, snippets=through), frozenset(denied))


def _ranking(name: str, question: Question, index: Index) -> Ranking:
    """Asked twice: in an editor too, what it reads has been read before."""
    found: list[Snippet] = []
    took_s, failure = 0.0, ""
    for _ in range(2):
        start = time.perf_counter()
        try:
            found = RETRIEVERS[name](question, index)
        except Exception as error:
            failure = type(error).__name__
        took_s = time.perf_counter() - start
    return Ranking(tuple(found), round(took_s * 1000, 1), took_s > mixer.DEADLINE_S, failure)
