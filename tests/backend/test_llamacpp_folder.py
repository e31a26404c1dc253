import subprocess
import sys
import tempfile

import pytest

from lsp_complete.backend.engines import llamacpp_folder
from lsp_complete.backend.engines.llamacpp_folder import PrivateFolder
from lsp_complete.config.paths import runtime_folder

_KILLED = """
import os
from lsp_complete.backend.engines.llamacpp_folder import PrivateFolder
print(PrivateFolder().path, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.fixture(autouse=True)
def _short_path(monkeypatch):
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("LSP_COMPLETE_RUNTIME", folder)
        yield


def leftovers():
    return {path.name for path in runtime_folder().glob("lsp-complete-engine-*")}


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_is_not():
    killed = subprocess.run([sys.executable, "-c", _KILLED], stdout=subprocess.PIPE, text=True, check=False)
    living = PrivateFolder()
    assert killed.stdout.strip().startswith(str(runtime_folder()))
    second = PrivateFolder()
    assert leftovers() == {living.path.name, second.path.name}
    second.remove()
    living.remove()
    assert leftovers() == set()


def test_where_the_path_is_too_long_for_a_socket_a_temporary_folder_is_used(monkeypatch):
    monkeypatch.setattr(llamacpp_folder, "_MAX_PARENT_BYTES", 1)
    folder = PrivateFolder()
    assert runtime_folder() not in folder.path.parents
    folder.remove()
    assert not folder.path.exists()
