import hashlib
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lsp_complete.models.catalogue import Format, ModelEntry
from lsp_complete.models.errors import ModelError
from lsp_complete.models.fetch import ensure
from lsp_complete.models.hub import Hub

_BYTES = b"GGUF" + bytes(range(256)) * 100
_SHA256 = hashlib.sha256(_BYTES).hexdigest()
_ENTRY = ModelEntry(
    name="tiny",
    family="qwen2.5-coder",
    format=Format.GGUF,
    licence="Apache-2.0",
    repo="nobody/tiny",
    file_name="tiny.gguf",
    num_bytes=len(_BYTES),
    sha256=_SHA256,
)


class _HubHandler(BaseHTTPRequestHandler):
    """As much of the hub as a download needs."""

    def do_HEAD(self) -> None:
        known = self.path == "/nobody/tiny/resolve/main/tiny.gguf"
        self.send_response(200 if known else 404)
        if known:
            self.send_header("ETag", f'"{_SHA256}"')
            self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Content-Length", str(len(_BYTES)))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(_BYTES)

    def log_message(self, *_: object) -> None:
        """Not on stderr."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), _HubHandler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_the_hub_gives_the_file_and_reports_its_progress(
    endpoint: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    seen: list[tuple[str, int, int]] = []
    path = ensure(_ENTRY, tmp_path, lambda *step: seen.append(step), [Hub(endpoint)])
    assert path.read_bytes() == _BYTES
    assert ("Hugging Face hub", len(_BYTES), len(_BYTES)) in seen
    assert sorted(child.name for child in tmp_path.iterdir() if not child.name.startswith(".")) == ["tiny.gguf"]
    assert "tiny.gguf:" not in capfd.readouterr().err


def test_a_file_that_the_hub_does_not_have_is_told(endpoint: str, tmp_path: Path) -> None:
    entry = ModelEntry("gone", "qwen2.5-coder", Format.GGUF, "MIT", "nobody/gone", "gone.gguf", 10, "0" * 64)
    with pytest.raises(ModelError, match=r"Hugging Face hub: \w+Error"):
        ensure(entry, tmp_path, sources=[Hub(endpoint)])


def test_a_hub_that_is_not_there_fails_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(ModelError, match="Hugging Face hub: ConnectError"):
            ensure(_ENTRY, tmp_path, sources=[Hub(f"http://127.0.0.1:{unused.getsockname()[1]}")])


def test_the_hub_is_not_asked_when_it_is_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="switched off by HF_HUB_OFFLINE"):
        ensure(_ENTRY, tmp_path, sources=[Hub("http://127.0.0.1:1")])
