import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lsp_complete.context import mixer
from lsp_complete.context.index import Index
from lsp_complete.context.mixer import fuse, gather
from lsp_complete.context.policy import Policy
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.text.document import Document

QUESTION = Question(Document("a.py", ""), 0, "a.py", ())


def snippet(key: str, source: str = "definitions", text: str = "") -> Snippet:
    return Snippet(f"{key}.py", text or f"def {key}()", source, "", key)


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index.open(tmp_path, tmp_path / "indexes", Policy([tmp_path], enterprise_file=tmp_path / "none.toml"))


def test_what_two_retrievers_found_comes_before_what_one_found() -> None:
    mix = fuse({"definitions": [snippet("a"), snippet("b")], "similar": [snippet("b", "similar")]})
    assert [one.key for one in mix.snippets] == ["b", "a"]
    assert mix.scores["b"] > mix.scores["a"]


def test_of_snippets_with_one_key_the_first_retrievers_is_kept() -> None:
    mix = fuse({"definitions": [snippet("a")], "similar": [snippet("a", "similar")]})
    assert [one.source for one in mix.snippets] == ["definitions"]


def test_no_line_of_a_file_comes_twice() -> None:
    first = snippet("a", text="def one(x)\ndef two(y)")
    second = Snippet("a.py", "def two(y)\ndef three(z)", "modules", "", "other")
    mix = fuse({"definitions": [first], "modules": [second]})
    assert [one.text for one in mix.snippets] == ["def one(x)\ndef two(y)", "def three(z)"]


def test_a_snippet_of_which_all_has_been_said_is_left_out() -> None:
    mix = fuse({"definitions": [snippet("a")], "modules": [Snippet("a.py", "def a()", "modules", "", "again")]})
    assert [one.key for one in mix.snippets] == ["a"]


async def test_late_retrievers_are_dropped_and_named(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def slow(question: Question, index: Index) -> list[Snippet]:
        release.wait()
        return []

    monkeypatch.setattr(mixer, "RETRIEVERS", {"definitions": lambda *_: [snippet("a")], "similar": slow})
    monkeypatch.setattr(mixer, "DEADLINE_S", 0.05)
    with ThreadPoolExecutor(2) as executor:
        asked = asyncio.create_task(gather(QUESTION, index, executor))
        mix = await asked
        release.set()
    assert mix.late == ("similar",)


async def test_a_retriever_that_fails_has_found_nothing(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(question: Question, index: Index) -> list[Snippet]:
        raise RuntimeError

    monkeypatch.setattr(mixer, "RETRIEVERS", {"definitions": lambda *_: [snippet("a")], "similar": broken})
    with ThreadPoolExecutor(2) as executor:
        mix = await gather(QUESTION, index, executor)
    assert [one.key for one in mix.snippets] == ["a"]
