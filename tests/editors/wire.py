"""Between an editor and the language server, to write down what they say: `python -m tests.editors.wire FILE`.

Starts the server, and hands on both ways. FILE gets an object a line: `{"from": "client" | "server", "message": …}`.
Tests of editors that look for `lsp-complete` on the PATH write such files where LSP_COMPLETE_WIRE names a folder.
"""

import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tests.server.editor import SERVER

_CHECKOUT = Path(__file__).parent.parent.parent


def search_path(folder: Path) -> str:
    """A PATH on which `lsp-complete` is this environment's, or one that is listened to."""
    places = [str(Path(sys.executable).parent), os.environ["PATH"]]
    if wires := os.environ.get("LSP_COMPLETE_WIRE"):
        script = folder / "bin" / "lsp-complete"
        script.parent.mkdir(parents=True)
        command = shlex.join([sys.executable, "-m", "tests.editors.wire", str(Path(wires) / f"{folder.name}.jsonl")])
        script.write_text(f"#!/bin/sh\nPYTHONPATH={shlex.quote(str(_CHECKOUT))} exec {command}\n")
        script.chmod(0o755)
        places.insert(0, str(script.parent))
    return os.pathsep.join(places)


def _messages(stream: BinaryIO) -> Iterator[bytes]:
    """The bodies, until the stream ends."""
    length = 0
    while line := stream.readline():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        elif not line.strip():
            yield stream.read(length)


def _hand_on(who: str, source: BinaryIO, target: BinaryIO, file: Path, lock: threading.Lock) -> None:
    for body in _messages(source):
        with lock, file.open("a", encoding="utf-8") as log:
            log.write(json.dumps({"from": who, "message": json.loads(body)}, ensure_ascii=False) + "\n")
        target.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        target.flush()
    target.close()


def main(file: Path) -> int:
    server = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    lock = threading.Lock()
    ways = ("client", sys.stdin.buffer, server.stdin), ("server", server.stdout, sys.stdout.buffer)
    for way in ways:
        threading.Thread(target=_hand_on, args=(*way, file, lock), daemon=True).start()
    return server.wait()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
