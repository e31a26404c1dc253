"""What a user gets wrong is answered with a line, and never with a traceback."""

import gzip
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lsp_complete.cli.main import app

TOO_LONG = "x" * 300


def fails(*arguments: str, exit_code: int = 1, **environment: str) -> str:
    result = CliRunner().invoke(app, arguments, env=environment)
    assert result.exit_code == exit_code, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert not result.stdout
    assert exit_code == 2 or result.stderr.splitlines()[-1].startswith("lsp-complete: ")
    return result.stderr


@pytest.mark.parametrize("place", ["x", "host:", "host:x", "host:65536", "host:²", "host:" + "9" * 5000])
def test_a_place_to_listen_that_is_none(place: str) -> None:
    assert "not HOST:PORT" in fails("lsp", "--tcp", place, exit_code=2)


def test_a_place_where_one_cannot_listen(tmp_path: Path) -> None:
    assert "cannot listen on 192.0.2.1:1" in fails("lsp", "--tcp", "192.0.2.1:1")
    assert "cannot listen on" in fails("lsp", "--tcp", f"{TOO_LONG}:1")


@pytest.mark.parametrize("command", [("list",), ("path", "auto"), ("pull",)])
def test_a_folder_of_models_that_cannot_be_read(tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = str(tmp_path / TOO_LONG)
    assert folder in fails("model", *command, LSP_COMPLETE_MODELS=folder)


def test_an_engine_that_needs_an_address_and_has_none() -> None:
    assert "`upstream_url`" in fails("serve", "--engine", "openai", exit_code=2)


def test_a_folder_for_the_local_service_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "run")
    assert "no folder for the local service" in fails("serve", "--shared", LSP_COMPLETE_RUNTIME=folder)


@pytest.mark.parametrize("kind", ["no gzip", "damaged", "cut off", "deep"])
def test_data_that_cannot_be_read(tmp_path: Path, kind: str) -> None:
    good = gzip.compress(b'{"task_id": "a"}\n' * 1000)
    data = {
        "no gzip": b"xx",
        "damaged": good[:20] + bytes(byte ^ 255 for byte in good[20:40]) + good[40:],
        "cut off": good[:-9],
        "deep": gzip.compress(b"[" * 100_000),
    }
    file = tmp_path / "data.jsonl.gz"
    file.write_bytes(data[kind])
    assert str(file) in fails("eval", "infilling", str(file))


@pytest.mark.parametrize("command", [(), ("lsp",), ("model",), ("model", "pull"), ("index", "explain"), ("audit",)])
def test_help_has_a_short_name(command: tuple[str, ...]) -> None:
    assert CliRunner().invoke(app, [*command, "-h"]).exit_code == 0


@pytest.mark.parametrize(("model", "exit_code"), [("no model", 3), ("auto", 4)])
def test_an_engine_or_a_model_that_is_not_here(monkeypatch: pytest.MonkeyPatch, model: str, exit_code: int) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    message = fails("serve", "--engine", "transformers", "--model", model, exit_code=exit_code)
    assert "qwen2.5-coder-1.5b-base" in message if exit_code == 3 else "extra `gpu`" in message


def test_where_a_command_cannot_write(tmp_path: Path) -> None:
    place = str(tmp_path / "none" / "out")
    (tmp_path / "a.py").write_text("x = 1\n" * 50)
    assert place in fails("blocklist", "build", place, str(tmp_path / "a.py"))


@pytest.mark.parametrize("command", [("replay",), ("eval", "retrieval")])
def test_a_tree_that_nobody_knows(command: tuple[str, ...]) -> None:
    assert "neither a folder nor one of" in fails(*command, "nowhere")


@pytest.mark.parametrize("command", [("demo",), ("top",), ("complete", "FILE:1:1")])
def test_a_service_elsewhere_that_does_not_answer(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    arguments = [word.replace("FILE", str(tmp_path / "a.py")) for word in command]
    assert "Connect" in fails(*arguments, LSP_COMPLETE_URL="http://127.0.0.1:9")


def test_an_index_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = fails("index", "rebuild", str(tmp_path), LSP_COMPLETE_INDEXES=str(tmp_path / "file" / "x"))
    assert "cannot be written" in said
