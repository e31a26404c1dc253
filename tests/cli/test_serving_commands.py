"""`doctor --upstream` and `blocklist build`: what they print and how they end."""

import asyncio
import json

from typer.testing import CliRunner

from lsp_complete.backend.engines.upstream import Server
from lsp_complete.backend.winnowing import Blocklist
from lsp_complete.cli.main import app
from tests.backend.upstreams import upstream
from tests.fakes import RecitingEngine


def invoked(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


async def test_doctor_says_what_server_answers():
    async with upstream(Server.VLLM, RecitingEngine("x")) as (url, _):
        result = await asyncio.to_thread(invoked, "doctor", "--upstream", url)
    assert result.exit_code == 0
    assert "vllm, model Qwen/Qwen2.5-Coder-1.5B, prompts of qwen2.5-coder, context of 2048 tokens" in result.output
    assert "salted for each tenant" in result.output


def test_doctor_says_what_to_mend_where_none_answers():
    result = invoked("doctor", "--json", "--upstream", "http://127.0.0.1:9")
    assert result.exit_code == 1
    finding = json.loads(result.output)[0]
    assert "no answer" in finding["found"]
    assert "upstream_url" in finding["mend"]


def test_a_blocklist_is_built_from_files_and_folders_without_binaries(tmp_path):
    folder = tmp_path / "public"
    folder.mkdir()
    (folder / "a.py").write_text("\n".join(f"value_{i} = {i}" for i in range(40)))
    (folder / "b.bin").write_bytes(b"\0" * 100)
    result = invoked("blocklist", "build", tmp_path / "list.bin", folder)
    assert result.exit_code == 0
    found = Blocklist(tmp_path / "list.bin")
    assert len(found) > 5
    found.close()
    assert invoked("blocklist", "build", tmp_path / "list.bin", tmp_path / "nowhere").exit_code == 1
