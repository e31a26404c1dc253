"""What all tests share: no file of the user's is touched, and the real model where it is on this machine."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from lsp_complete.config.paths import model_folder
from lsp_complete.context import mixer
from lsp_complete.models.catalogue import QWEN_0_5B
from lsp_complete.models.fetch import find

# The same examples every time, however slow the machine.
settings.register_profile("tests", deadline=None, derandomize=True)
settings.load_profile("tests")

# Where the models lie is settled before the tests move everything else away.
_MODELS = model_folder()


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("LSP_COMPLETE_")]:
        if name != "LSP_COMPLETE_EVALDATA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("LSP_COMPLETE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("LSP_COMPLETE_LOGS", str(tmp_path / "logs"))
    monkeypatch.setenv("LSP_COMPLETE_INDEXES", str(tmp_path / "index"))
    monkeypatch.setenv("LSP_COMPLETE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("LSP_COMPLETE_RUNTIME", str(tmp_path / "run"))
    monkeypatch.setenv("LSP_COMPLETE_MODELS", str(_MODELS))


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, too, every retriever is heard."""
    monkeypatch.setattr(mixer, "DEADLINE_S", 60.0)


@pytest.fixture(scope="session")
def model_path() -> Path:
    """The embedded default. Skips where it is not here; `make test` fetches it."""
    path = find(QWEN_0_5B, _MODELS)
    if path is None:
        pytest.skip(f"{QWEN_0_5B.name} is not on this machine: lsp-complete model pull {QWEN_0_5B.name}")
    return path
