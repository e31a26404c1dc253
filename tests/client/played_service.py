"""Plays `lsp-complete serve --shared` with an engine that recites: a program for tests, started by LocalService.

Writes its process id into the file `started`, and into `serving` once it is the one that serves.
"""

import asyncio
import os
import sys
from pathlib import Path

from filelock import Timeout

from lsp_complete.backend.serve import serve
from lsp_complete.config.runtime import EXIT_ALREADY_RUNNING, service_lock
from lsp_complete.config.settings import Settings
from tests.fakes import RecitingEngine


def note(path: Path) -> None:
    with path.open("a") as file:
        file.write(f"{os.getpid()}\n")


def main(folder: Path) -> None:
    note(folder / "started")
    try:
        with service_lock(folder):
            note(folder / "serving")
            asyncio.run(
                serve(
                    Settings(),
                    lambda: RecitingEngine("recited"),
                    model="reciting",
                    family_name="qwen2.5-coder",
                    runtime_folder=folder,
                )
            )
    except Timeout:
        sys.exit(EXIT_ALREADY_RUNNING)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
