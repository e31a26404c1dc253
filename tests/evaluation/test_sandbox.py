import os
import socket
import sys
from pathlib import Path

import pytest

from lsp_complete.evaluation.sandbox import Outcome, run

# The start of an interpreter on a busy machine, and little more: programs that never end cost all of it.
_SHORT_S = 1.0

_posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits on Windows")

# Where it may not fork, there is nothing to kill.
_LEAVES_A_CHILD = """
import os, time
pipe = os.open({pipe!r}, os.O_WRONLY)
os.write(pipe, b"started")
try:
    child = os.fork()
except OSError:
    child = 1
if child == 0:
    time.sleep(20)
    os.write(pipe, b", and still alive")
"""


def check(program: str, expected: Outcome, timeout_s: float = 10.0) -> None:
    assert run(program, timeout_s) is expected


def test_a_program_that_reaches_its_end_has_passed() -> None:
    check("def f():\n    return 1\nassert f() == 1", Outcome.PASSED)


@pytest.mark.parametrize(
    "program",
    [
        "assert 1 == 2",
        "raise ValueError",
        "this is no Python",
        "\0",
        "def f(): return f()\nf()",
        "input('a number')",
    ],
)
def test_a_program_that_breaks_has_failed(program: str) -> None:
    check(program, Outcome.FAILED)


@pytest.mark.parametrize(
    "early",
    [
        "import sys\nsys.exit(0)",
        "raise SystemExit",
        "import os\nos._exit(0)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
        "import sys\nsys.stdout.write('passed')\nsys.exit()",
        "import atexit, sys\natexit.register(print, 'passed')\nsys.exit()",
        "import os\nos.write(1, b'passed')\nos._exit(0)",
    ],
)
def test_leaving_before_the_tests_is_no_success(early: str) -> None:
    check(f"{early}\nassert False", Outcome.FAILED)


@_posix
def test_a_fork_cannot_pass_for_its_parent() -> None:
    check("import os\nif os.fork():\n    os._exit(0)\n", Outcome.FAILED)


def test_writing_more_than_the_word_is_no_success() -> None:
    noise = "import os\nfor descriptor in range(3, 20):\n    try:\n        os.write(descriptor, b'x')\n"
    check(noise + "    except OSError:\n        pass\n", Outcome.FAILED)


@pytest.mark.parametrize("program", ["while True: pass", "import time\ntime.sleep(100)"])
def test_a_program_without_end_is_killed(program: str) -> None:
    check(program, Outcome.TIMED_OUT, _SHORT_S)


@_posix
@pytest.mark.parametrize("program", ["x = bytearray(10**10)", "x = [bytearray(2**24) for _ in range(10**4)]"])
def test_a_program_that_eats_memory_is_stopped(program: str) -> None:
    check(program, Outcome.FAILED)


@_posix
def test_a_program_that_writes_a_large_file_is_stopped() -> None:
    check("open('big', 'wb').write(bytes(10**7))", Outcome.FAILED)


@pytest.mark.skipif(sys.platform != "linux", reason="a pipe's end tells that the last process is gone")
def test_what_a_program_leaves_running_is_killed(tmp_path: Path) -> None:
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    check(_LEAVES_A_CHILD.format(pipe=str(pipe)), Outcome.PASSED)
    os.set_blocking(reader, True)
    with open(reader, "rb") as file:
        assert file.read() == b"started"


def test_output_is_not_kept() -> None:
    check("for _ in range(1000):\n    print('x' * 10_000)", Outcome.PASSED)


def test_the_program_sees_an_empty_folder_and_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LSP_COMPLETE_CREDENTIAL", "hush")
    names = "{'SYSTEMROOT', 'LC_CTYPE', '__CF_USER_TEXT_ENCODING'}"
    check(f"import os\nassert not set(os.environ) - {names}\nassert os.listdir() == []", Outcome.PASSED)


def test_the_program_imports_nothing_from_here() -> None:
    check("import lsp_complete", Outcome.FAILED)
    check("import pytest", Outcome.FAILED)


@pytest.mark.skipif(not hasattr(os, "unshare"), reason="needs Linux and Python 3.12")
def test_the_program_has_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        check(f"import socket\nsocket.create_connection({address!r}, 1)", Outcome.FAILED)
