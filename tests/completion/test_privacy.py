"""B31, B33 and over-broad secret patterns: what leaves the machine, seen where it leaves, through every source."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_complete.client.audit import Audit
from lsp_complete.completion.answer import NoSuggestion
from lsp_complete.completion.exclusions import exclusions_of
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.config.settings import Settings
from lsp_complete.context.workspace import Workspace
from lsp_complete.protocol.completion import CompletionChunk, CompletionRequest, Finish, FinishChunk, TextChunk, Trigger
from lsp_complete.protocol.wire import request_to_json
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from tests.context.trees import write_tree

# Put together here so that no scanner takes this file for a leak.
KEY = "sk-test" + "-000"
HIDDEN = f'API_KEY = "{KEY}"\ndef hidden_helper(amount_cents, hidden_rate): ...\n'
KEY_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2
KEY_BLOCK = "-----BEGIN " + f"PRIVATE KEY-----\n{KEY_LINE}\n-----END PRIVATE KEY-----\n"
TREE = {
    ".gitignore": "local_settings.py\n/gen2/*\n!/gen2/keep.py\n",
    ".lspcompleteignore": "tool_hidden.py\n",
    "nested/.gitignore": "inner.py\n",
    "local_settings.py": HIDDEN,
    "tool_hidden.py": HIDDEN,
    "nested/inner.py": HIDDEN,
    "gen/x.py": HIDDEN,
    "gen2/drop.py": HIDDEN,
    "gen2/keep.py": "def kept_helper(amount_cents, kept_rate): ...\n",
    ".env": f"API_KEY={KEY}\nhidden_helper=1\n",
    ".env.local": f"API_KEY={KEY}\nhidden_helper=1\n",
    "certs/server.key": KEY_BLOCK + "hidden_helper = 1\n",
    "tests/fixture.py": f'FIXTURE = """{KEY_BLOCK}"""\ndef fixture_helper(amount_cents): ...\n',
    "helpers.py": "def open_helper(amount_cents, open_rate): ...\n",
}
APP = """\
from gen.x import hidden_helper
from gen2.keep import kept_helper
from helpers import open_helper
from local_settings import API_KEY, hidden_helper
from nested.inner import hidden_helper
from tests.fixture import fixture_helper
from tool_hidden import hidden_helper


def run(amount_cents):
    open_helper(1); kept_helper(1); fixture_helper(1); hidden_helper(1)
    return █
"""
VISIBLE = {".gitignore", ".lspcompleteignore", "nested/.gitignore", "gen2/keep.py", "tests/fixture.py", "helpers.py"}
DONE = FinishChunk(Finish.STOP)


class Recording:
    """A service that notes the bodies it is sent; the client's audit stands before it."""

    def __init__(self, audit: Audit, answer: str = "1") -> None:
        self.bodies: list[str] = []
        self._audit, self._answer = audit, answer

    def complete(self, request: CompletionRequest) -> AsyncGenerator[CompletionChunk, None]:
        self.bodies.append(request_to_json(request).decode())
        return self._audit.recorded(self._chunks(), request, 1, "https://models.example")

    async def _chunks(self) -> AsyncGenerator[CompletionChunk, None]:
        yield TextChunk(self._answer)
        yield DONE


class Desk:
    """A repository in an editor: its documents, and the questions that are asked in them."""

    def __init__(self, root: Path, folder: Path, settings: Settings) -> None:
        self.root, self.audit = root, Audit(folder / "audit.jsonl")
        self.service = Recording(self.audit)
        self.workspace = Workspace([root], folder / "index", exclusions_of(settings))
        self._use(settings)

    def reconfigure(self, settings: Settings) -> None:
        self.workspace.use([self.root], exclusions_of(settings))
        self._use(settings)

    def document(self, name: str, text: str) -> Document:
        file = self.root / name
        return Document(file.as_uri(), text, name, next(iter(language_of(name).language_ids), ""), file=str(file))

    def open_all(self) -> None:
        """Open each file, look at it, and change it."""
        for name in TREE:
            document = self.document(name, (self.root / name).read_text())
            edit = "open_edit(2)" if name in VISIBLE else "hidden_edit(2)"
            self.workspace.opened(document)
            self.workspace.changed(document, replace(document, text=f"{document.text}{edit}\n", version=1))

    async def ask(self, name: str = "app.py", marked: str = APP) -> NoSuggestion | None:
        document = self.document(name, marked.replace("█", ""))
        self._pipeline.forget(document.uri)  # what was answered is not asked again
        return (await self._pipeline.suggest(document, marked.index("█"), Trigger.INVOKED)).reason

    async def ask_until_sent(self, *words: str) -> None:
        """On a busy machine a retriever may be late now and then."""
        for _ in range(100):
            assert await self.ask() is None
            if all(word in "".join(self.service.bodies) for word in words):
                return
        raise AssertionError(words)

    async def sent(self) -> str:
        """All bodies, with what the audit keeps of them."""
        await self.audit.flush()
        audit = self.root.parent / "audit.jsonl"
        return "\n".join([*self.service.bodies, audit.read_text() if audit.exists() else ""])

    def _use(self, settings: Settings) -> None:
        self._pipeline = Pipeline(self.service, settings, "s1", self.workspace)


Open = Callable[..., Desk]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Open]:
    desks: list[Desk] = []

    def make(**settings: object) -> Desk:
        root = write_tree(tmp_path / "w", TREE)
        desks.append(Desk(root, tmp_path, Settings(**settings)))
        return desks[-1]

    yield make
    for one in desks:
        await one.workspace.aclose()


@pytest.mark.parametrize("is_open", [False, True])
async def test_no_line_of_a_hidden_file_leaves_by_any_source(desk: Open, is_open: bool) -> None:
    """B33: index and imports; with documents open also tabs, recent views and edits. The clipboard is never read."""
    here = desk(exclude=("**/gen/**",), snippet_tokens=2000, prompt_tokens=4000)
    await here.workspace.build()
    if is_open:
        here.open_all()
    await here.ask_until_sent("open_rate", "kept_rate", *(["open_edit"] if is_open else []))
    sent = await here.sent()
    for secret in (KEY, "hidden_rate", "hidden_edit", "MIIEvQ"):
        assert secret not in sent


@pytest.mark.parametrize("globs", [(), ("**/gen/**",), ("{root}/gen/**",), ("gen\\**",)])
async def test_user_patterns_add_to_the_secret_names(desk: Open, tmp_path: Path, globs: tuple[str, ...]) -> None:
    """B31: none of these gets as far as a question, and none is in another's prompt."""
    here = desk(exclude=tuple(glob.format(root=tmp_path / "w") for glob in globs), snippet_tokens=2000)
    await here.workspace.build()
    here.open_all()
    denied = [".env", ".env.local", "certs/server.key", "local_settings.py", *(["gen/x.py"] if globs else [])]
    for name in denied:
        assert await here.ask(name, "x = █\n") is NoSuggestion.EXCLUDED
    assert here.service.bodies == []
    assert await here.ask() is None
    assert KEY not in await here.sent() or not globs


async def test_other_settings_count_at_once(desk: Open) -> None:
    here = desk(snippet_tokens=2000, prompt_tokens=4000)
    await here.workspace.build()
    await here.ask_until_sent("open_rate")
    here.reconfigure(Settings(snippet_tokens=2000, prompt_tokens=4000, exclude=("helpers.py",)))
    assert await here.ask() is None
    assert "open_rate" not in here.service.bodies[-1]
    here.reconfigure(Settings(snippet_tokens=2000, prompt_tokens=4000, disabled_languages=("python",)))
    assert await here.ask() is NoSuggestion.LANGUAGE_OFF


async def test_a_later_edit_of_an_ignore_file_counts_for_snippets_of_earlier_prompts_too(desk: Open) -> None:
    here = desk(snippet_tokens=2000, prompt_tokens=4000)
    await here.workspace.build()
    await here.ask_until_sent("open_rate")
    (here.root / ".lspcompleteignore").write_text("helpers.py\n")
    while "open_rate" in here.service.bodies[-1]:  # an edit counts after a fifth of a second
        assert await here.ask() is None


async def test_a_hidden_file_is_hidden_without_an_index_and_without_a_folder(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "w", TREE)
    service = Recording(Audit(None))
    pipeline = Pipeline(service, Settings(index=False, exclude=("gen/",)), "s1")
    for name in (".env", "certs/server.key", "gen/x.py", "local_settings.py"):
        document = Document((root / name).as_uri(), "x = \n", name, "python", file=str(root / name))
        assert (await pipeline.suggest(document, 4, Trigger.INVOKED)).reason is NoSuggestion.EXCLUDED
    assert service.bodies == []


@pytest.mark.parametrize("name", ["tokenizer.py", "token.go", "credentials_view.tsx", "secrets.py", "environment.ts"])
async def test_ordinary_sources_are_indexed_and_completed(desk: Open, name: str) -> None:
    here = desk(snippet_tokens=2000)
    write_tree(here.root, {name: "function ordinary_name(seldom_word) {}\n"})
    await here.workspace.build()
    assert await here.ask(name, "x = █\n") is None
    assert name in here.workspace.indexes[0].starting_with(name)


async def test_a_body_says_nothing_of_where_the_repository_lies(desk: Open, tmp_path: Path) -> None:
    here = desk(snippet_tokens=2000)
    await here.workspace.build()
    here.open_all()
    assert await here.ask() is None
    assert str(tmp_path) not in await here.sent()
    body = json.loads(here.service.bodies[-1])
    assert body["path"] == "app.py"
    assert not any(Path(snippet["path"]).is_absolute() for snippet in body["snippets"])


@pytest.mark.parametrize("answer", [f'"{KEY_BLOCK}"', '"AKIA' + 'IOSFODNN7RQ2MPLE"', '"9f8a7b6c' + '5d4e3f2a"'])
async def test_a_credential_that_the_model_writes_is_not_shown(answer: str) -> None:
    pipeline = Pipeline(Recording(Audit(None), answer), Settings(), "s1")
    text = "api_key = \n"
    outcome = await pipeline.suggest(Document("untitled:1", text, "a.py", "python"), len(text) - 1, Trigger.INVOKED)
    assert (outcome.reason, outcome.detail) == (NoSuggestion.WITHHELD, "credential")
