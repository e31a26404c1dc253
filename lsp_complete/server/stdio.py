"""Keeps stdin and stdout for LSP alone: whatever else in this process prints goes to stderr."""

import os
import sys
from typing import BinaryIO


def take_stdio() -> tuple[BinaryIO, BinaryIO]:
    """The streams that LSP uses from now on. File descriptors 0 and 1 become the null device and stderr, for print(),
    for libraries in C and for child processes alike. To be called before anything else is imported that could print."""
    stdin, stdout = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    if os.name == "nt":
        import msvcrt

        for descriptor in (stdin, stdout):
            msvcrt.setmode(descriptor, os.O_BINARY)  # type: ignore[attr-defined]
    sys.stdout = sys.stderr
    return os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb")
