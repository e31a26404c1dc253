"""Run a program that a model wrote, and tell whether it came to its end.

The program gets a process of its own: an empty environment, a temporary folder, no input, no output, and limits on
time, memory, file size and processes (time alone on Windows); on Linux with Python 3.12 no network either. That
contains accidents, which is what a code model has. It is no jail: against somebody who means harm, run the evaluation
in a container.

Success is a random word that the harness writes after the program's last line. An exit code would not do: a program
that leaves early, with `sys.exit(0)` or `os._exit(0)`, has passed nothing.
"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from enum import StrEnum
from typing import IO

# Of HumanEval's own solutions the slowest takes 0.3 s on a slow core.
TIMEOUT_S = 5.0
# An interpreter takes about 30 MB, HumanEval's solutions little more.
MEMORY_BYTES = 512 * 2**20
# More than any test writes, and far too little to fill a disk.
_FILE_BYTES = 2**20
_OPEN_FILES = 64

# Runs in the child, so it cannot import anything of ours. `report` is where the word goes; the program finds standard
# input and output closed off. Names are bound before the program can replace them, and a fork cannot report.
_HARNESS = """
import os, sys

def limit(cpu_s, memory_bytes, file_bytes, open_files):
    try:
        import resource
    except ImportError:
        return
    for name, value in (("CPU", cpu_s), ("AS", memory_bytes), ("DATA", memory_bytes), ("FSIZE", file_bytes),
                        ("NOFILE", open_files), ("NPROC", 0), ("CORE", 0)):
        try:
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
        except (AttributeError, OSError, ValueError):
            pass

def leave_network():
    try:
        os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)
    except (AttributeError, OSError):
        pass

def main(write, getpid, leave):
    word, _, program = sys.stdin.buffer.read().partition(b"\\n")
    report, nothing, process = os.dup(1), os.open(os.devnull, os.O_RDWR), getpid()
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    leave_network()
    limit(*map(int, sys.argv[1:]))
    exec(compile(program, "program.py", "exec"), {"__name__": "program"})
    if getpid() == process:
        write(report, word)
    leave(0)

main(os.write, os.getpid, os._exit)
"""


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"


def run(program: str, timeout_s: float = TIMEOUT_S, memory_bytes: int = MEMORY_BYTES) -> Outcome:
    """Run Python source to its end. PASSED: its last line was reached, without an exception. Blocks."""
    word = secrets.token_hex(16).encode()
    source = word + b"\n" + program.encode("utf-8", "replace")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, tempfile.TemporaryFile() as report:
        process = _start(folder, report, timeout_s, memory_bytes)
        try:
            process.communicate(source, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return Outcome.TIMED_OUT
        finally:
            _end(process)
        report.seek(0)
        # One byte more than the word: whatever follows it is not ours.
        return Outcome.PASSED if report.read(len(word) + 1) == word else Outcome.FAILED


def _start(folder: str, report: IO[bytes], timeout_s: float, memory_bytes: int) -> "subprocess.Popen[bytes]":
    """-I: no environment, no user's packages, no working folder on the path; -S: no other packages either."""
    limits = (int(timeout_s) + 1, memory_bytes, _FILE_BYTES, _OPEN_FILES)
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", _HARNESS, *map(str, limits)],
        stdin=subprocess.PIPE,
        stdout=report,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
        start_new_session=True,
    )


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Kill the program and whatever it started, and close what is open."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    if process.stdin:
        with suppress(OSError):
            process.stdin.close()
    process.wait()
