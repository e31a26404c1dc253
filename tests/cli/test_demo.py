"""The demonstration: its last scene is right only because of what another file says."""

from pathlib import Path

import pytest
from lsprotocol.types import InlineCompletionItem

from lsp_complete.backend.engines.llamacpp import LlamaCppEngine
from lsp_complete.backend.fim import FAMILIES
from lsp_complete.backend.metrics import Metrics
from lsp_complete.backend.service import CompletionService
from lsp_complete.cli import demo
from lsp_complete.cli.editor import Ghost
from lsp_complete.cli.screen import figures
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.config.settings import Settings
from lsp_complete.context.workspace import Workspace
from lsp_complete.prompt.assemble import Budget, assemble
from lsp_complete.protocol.completion import Trigger
from lsp_complete.text.document import Document

FILE = demo.SAMPLE / "shop/cart.py"
BODY = "return sum(line.total_cents() for line in self.lines)"


@pytest.fixture
async def workspace(tmp_path):
    workspace = Workspace([demo.SAMPLE], tmp_path)
    await workspace.build()
    yield workspace
    await workspace.aclose()


def last_scene():
    """The file as it is when the last keys are typed, and the cursor."""
    typed = BODY + "".join(scene.keys for scene in demo.SCENES[:-1]) + "not self.lines" + demo.SCENES[-1].keys
    above, anchor, below = FILE.read_text("utf-8").partition(demo.ANCHOR)
    document = Document(FILE.as_uri(), above + anchor + typed + below, "shop/cart.py", "python", 1, str(FILE))
    return document, len(above + anchor + typed)


async def test_what_the_call_needs_stands_in_another_file_alone(workspace):
    document, offset = last_scene()
    assert demo.ONLY_FROM_CONTEXT.rstrip("=") not in document.text
    mix = await workspace.snippets(document, FILE, offset)
    settings = Settings()
    budget = Budget(settings.prompt_tokens, settings.snippet_tokens)
    prompt = assemble(document, offset, mix.snippets, mix.scores, budget)
    assert any(demo.ONLY_FROM_CONTEXT.rstrip("=") in one.snippet.text for one in prompt.packed)


@pytest.mark.model
async def test_only_with_context_the_model_knows_the_arguments(workspace, model_path: Path):
    engine = LlamaCppEngine.load(model_path, model="qwen2.5-coder-0.5b", context_tokens=2048, num_slots=1, threads=0)
    service = CompletionService(engine, FAMILIES["qwen2.5-coder"], 8, Metrics())
    document, offset = last_scene()
    texts = []
    for num_tokens in (Settings().snippet_tokens, 0):
        settings = Settings().model_copy(update={"snippet_tokens": num_tokens, "deadline_ms": 0})
        answer = await Pipeline(service, settings, "s", workspace).suggest(document, offset, Trigger.INVOKED)
        texts.append(answer.insertion.text if answer.insertion else "")
    await engine.close()
    assert demo.ONLY_FROM_CONTEXT in texts[0]
    assert "least_cents=500" in texts[0]
    assert demo.ONLY_FROM_CONTEXT not in texts[1]


def test_a_new_line_is_one_key_with_its_indentation():
    assert demo.keys_of("a\n\n    b \nc") == ["a", "\n\n    ", "b", " ", "\n", "c"]
    assert demo.keys_of("") == [""]


@pytest.mark.parametrize(
    ("text", "other", "says"),
    [
        ("percent_off=20)", "20)", "Only the first"),
        ("20)", "percent_off=20)", "Only the second"),
        ("percent_off=20)", "percent_off=20)", "Both are right"),
        ("", "", "Both are wrong"),
    ],
)
def test_the_verdict_says_what_came_of_it(text, other, says):
    assert says in demo.verdict(text, other)


@pytest.mark.parametrize(
    ("usage", "says"),
    [
        ({"prompt_tokens": 50, "cached_tokens": 49}, "49 of 50 prompt tokens reused"),
        ({"prompt_tokens": 0, "cached_tokens": 0}, "without a question to the model: follow-up"),
    ],
)
def test_the_figures_tell_what_was_asked_from_what_was_known(usage, says):
    explained = {"rung": "follow-up", "usage": usage, "timing_ms": {"total": 3.0}}
    assert says in figures(Ghost(InlineCompletionItem("x"), 3.0, explained))
