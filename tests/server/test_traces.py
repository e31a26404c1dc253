"""What clients that cannot all be run here say, said again to the real server: suggestions come, and the outcome is
known. The traces are in tests/editors/traces/; each tells where it comes from.
"""

import json
from typing import Any

import pytest

from tests.editors import traces
from tests.editors.service import rest_of
from tests.fakes import CharacterTokenizer
from tests.server.editor import Editor, Refused, answered_once, started

pytestmark = pytest.mark.asyncio(loop_scope="session")

FILES = sorted(traces.FOLDER.glob("*.jsonl"))


async def replay(editor: Editor, lines: list[dict[str, Any]]) -> int:
    """Gives how many suggestions came that had come before."""
    ids: dict[str, str] = {}
    for line in lines:
        if "answered" in line:
            ids |= zip(line["ids"], await _suggested(editor, line["answered"]), strict=False)
        else:
            text = json.dumps(line["send"], ensure_ascii=False)
            for old, new in ids.items():
                text = text.replace(old, new)
            if "method" in line["send"] and "id" in line["send"]:
                editor.asked.append(line["send"]["id"])
            editor.send_body(text.encode())
    for uri in {line["send"]["params"]["textDocument"]["uri"] for line in lines if _opens(line)}:
        editor.notify("textDocument/didClose", {"textDocument": {"uri": uri}})  # what is in doubt is settled
    return len(ids)


async def _suggested(editor: Editor, question: str) -> list[str]:
    try:
        return traces.suggestion_ids(await editor.answer(question))
    except Refused:
        return []  # it was cancelled


def _opens(line: dict[str, Any]) -> bool:
    return bool(line.get("send", {}).get("method") == "textDocument/didOpen")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
async def test_a_client_gets_its_suggestions_and_what_became_of_them_is_known(file, service, tmp_path):
    known, lines = traces.read(file)
    assert known["origin"].startswith(("recorded by ", "written from "))
    service.engine.text = lambda job: rest_of(CharacterTokenizer().decode(list(job.prompt)))
    settings = {**service.options, **known["settings"]}
    variables = {f"LSP_COMPLETE_{name.upper()}": str(value) for name, value in settings.items()}
    async with started(tmp_path, **variables) as editor:
        assert await replay(editor, lines) == sum(len(line.get("ids", ())) for line in lines)
        records = await editor.ask("lsp-complete/explain")
        outcomes = [record["outcome"] for record in records if record["outcome"] not in ("", "shown already")]
        assert outcomes == known["outcomes"]
        assert await editor.exit() == 0
        assert answered_once(editor)
