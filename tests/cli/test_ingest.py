"""`lsp-complete ingest`: what other machines send is there for `stats`, and nobody is served without a credential."""

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from lsp_complete.cli.main import app
from lsp_complete.protocol.events_wire import EVENTS_PATH, records_to_json
from tests.telemetry.samples import EVENTS, records

COMMAND = (sys.executable, "-P", "-m", "lsp_complete", "ingest")


@contextlib.contextmanager
def ingesting(file: Path) -> Iterator[tuple[str, str]]:
    """Its address and the credential that it has made up."""
    with subprocess.Popen([*COMMAND, file, "--port", "0"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            lines = [process.stderr.readline() for _ in range(2)]
            found = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\ncredential: (\S{32,})\n", "".join(lines))
            assert found, lines
            yield found[1], found[2]
        finally:
            process.terminate()
            process.communicate()
    assert process.returncode == 0


def stats(*arguments: object) -> str:
    return CliRunner().invoke(app, ["stats", *map(str, arguments)]).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there a program is ended without being told")
def test_what_is_taken_in_can_be_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "taken.sqlite"
    with ingesting(file) as (url, credential):
        body = records_to_json(records(at_s=time.time()))
        assert httpx.post(url + EVENTS_PATH, content=body, trust_env=False).status_code == 401
        headers = {"authorization": f"Bearer {credential}"}
        answer = httpx.post(url + EVENTS_PATH, content=body, headers=headers, trust_env=False)
        assert answer.json() == {"new": len(EVENTS), "known": 0, "refused": 0}
    assert "suggestions accepted" in stats("--store", file)
    assert "Nothing is recorded" in stats()


def test_a_place_that_is_none_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["ingest", str(tmp_path / "x"), "--host", "192.0.2.1", "--port", "1"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "192.0.2.1 without TLS" in result.stderr
    assert "cannot listen on 192.0.2.1:1" in result.stderr
