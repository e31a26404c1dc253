"""What left the machine is recorded on it, however the request ended, and nothing that goes wrong there is felt."""

import contextlib
import json
import os
import stat
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_complete.client import audit_file
from lsp_complete.client.audit import THIS_MACHINE, Audit, audit_of, destination_of
from lsp_complete.client.audit_file import Entry, append, clear, read
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.completion import (
    CompletionChunk,
    CompletionRequest,
    Finish,
    FinishChunk,
    Snippet,
    TextChunk,
    Usage,
)
from lsp_complete.protocol.errors import Unreachable

NOW_S = 1_800_000_000.0
SNIPPET = Snippet("b.py", "def b(): ...", "definitions")
REQUEST = CompletionRequest("r1", "s1", "x = ", "\n", "a.py", "python", (SNIPPET,), num_redacted=2)
DONE = FinishChunk(Finish.STOP, "m", Usage(100, 90, 5))
URL = "https://user:pass@models.example:8443/v1"


async def chunks(*script: CompletionChunk | Exception) -> AsyncGenerator[CompletionChunk, None]:
    for item in script:
        if isinstance(item, Exception):
            raise item
        yield item


async def recorded(file: Path, *script: CompletionChunk | Exception, stop_after: int = 99, text: bool = False) -> Entry:
    audit = Audit(file, keeps_text=text, wall_clock=lambda: NOW_S)
    with contextlib.suppress(Unreachable):
        async with contextlib.aclosing(audit.recorded(chunks(*script), REQUEST, 321, URL)) as stream:
            async for _ in stream:
                stop_after -= 1
                if not stop_after:
                    break
    await audit.flush()
    return read(file)[0][-1]


async def test_a_request_is_recorded_with_where_it_went_and_what_it_carried(tmp_path: Path) -> None:
    entry = await recorded(tmp_path / "audit.jsonl", TextChunk("1"), DONE)
    assert (entry.at_s, entry.destination, entry.num_bytes) == (NOW_S, "https://models.example:8443", 321)
    assert (entry.path, entry.snippets[0].path, entry.snippets[0].num_characters) == ("a.py", "b.py", 12)
    assert (entry.outcome, entry.prompt_tokens, entry.num_redacted) == ("stop", 100, 2)


@pytest.mark.parametrize(
    ("script", "stop_after", "outcome"),
    [
        ([TextChunk("1"), TextChunk("2"), DONE], 1, "closed"),
        ([TextChunk("1"), Unreachable()], 99, "unreachable"),
        ([FinishChunk(Finish.DEADLINE)], 99, "deadline"),
    ],
)
async def test_however_it_ends_it_is_recorded(
    tmp_path: Path, script: list[CompletionChunk | Exception], stop_after: int, outcome: str
) -> None:
    assert (await recorded(tmp_path / "audit.jsonl", *script, stop_after=stop_after)).outcome == outcome


async def test_text_is_kept_on_demand_alone(tmp_path: Path) -> None:
    entry = await recorded(tmp_path / "audit.jsonl", DONE)
    assert entry.text == ""
    assert "def b" not in (tmp_path / "audit.jsonl").read_text()
    entry = await recorded(tmp_path / "audit.jsonl", DONE, text=True)
    assert json.loads(entry.text)["snippets"][0]["text"] == "def b(): ..."


async def test_what_is_off_is_not_written(tmp_path: Path) -> None:
    audit = audit_of(Settings(audit="off"))
    assert [chunk async for chunk in audit.recorded(chunks(DONE), REQUEST, 1, URL)] == [DONE]
    await audit.flush()
    assert not (tmp_path / "logs").exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
async def test_nobody_else_can_read_it_also_where_the_file_was_open_to_others(tmp_path: Path) -> None:
    file = tmp_path / "new" / "audit.jsonl"
    await recorded(file, DONE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    await recorded(file, DONE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("obstacle", ["folder", "file for a folder", "link"])
async def test_where_nothing_can_be_written_completions_go_on(tmp_path: Path, obstacle: str) -> None:
    file = tmp_path / "logs" / "audit.jsonl"
    if obstacle == "folder":
        file.mkdir(parents=True)
    elif obstacle == "link":
        file.parent.mkdir()
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.parent.write_text("")
    audit = Audit(file)
    assert [chunk async for chunk in audit.recorded(chunks(DONE), REQUEST, 1, URL)] == [DONE]
    await audit.flush()
    assert not (tmp_path / "elsewhere").exists()


NO_ENTRIES = st.sampled_from([b"\xff\x00", b"{}", b"[]", b"null", b'{"at_s": "x"}', b'{"at_s": 1, "destination": 2}'])


@given(st.lists(NO_ENTRIES | st.binary(max_size=20)))
def test_lines_that_are_none_are_passed_over(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    file = tmp_path_factory.mktemp("a") / "audit.jsonl"
    append(file, [Entry(1.0, "x")])
    file.write_bytes(file.read_bytes() + b"\n".join(lines))
    append(file, [Entry(2.0, "y")])
    assert [entry.at_s for entry in read(file)[0]] == [1.0, 2.0]


def test_the_file_stays_bounded_and_what_was_before_is_read_first(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    for number in range(100):
        append(file, [Entry(float(number), "x" * 100)], max_bytes=2_000)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 6_000
    found = [entry.at_s for entry in read(file)[0]]
    assert found == sorted(found)
    assert found[-1] == 99.0


def test_it_can_be_cleared_also_where_there_is_none(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "audit.jsonl"
    clear(file)
    assert read(file) == ([], 0)
    append(file, [Entry(1.0, "x")])
    clear(file)
    assert read(file) == ([], 0)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8765", THIS_MACHINE),
        ("http://[::1]:80/x", THIS_MACHINE),
        ("https://models.example", "https://models.example:443"),
        ("http://user:pass@10.0.0.2", "http://10.0.0.2:80"),
        ("http://[", "?"),
        ("http://x:99999", "?"),
    ],
)
def test_a_destination_has_no_password_and_the_own_machine_a_name(url: str, expected: str) -> None:
    assert destination_of(url) == expected


async def test_many_at_once_are_all_written(tmp_path: Path) -> None:
    audit = Audit(tmp_path / "audit.jsonl")
    for _ in range(50):
        assert [chunk async for chunk in audit.recorded(chunks(DONE), REQUEST, 1, URL)] == [DONE]
    await audit.flush()
    assert len(read(tmp_path / "audit.jsonl")[0]) == 50


def test_whatever_sends_is_told_to_record() -> None:
    """Health alone is asked without: it carries nothing."""
    package = Path(audit_file.__file__).parent.parent
    for path in package.rglob("*.py"):
        for line in path.read_text("utf-8").splitlines():
            if ("= HttpCompleter(" in line or "LocalService(" in line) and "class " not in line:
                assert "audit=" in line or path.name == "doctor.py", line
