"""What a client said to the server, kept to be said again (tests/server/test_traces.py): a line of what is known of it,
then its messages, and between them which of its questions had been answered by then.

`python -m tests.editors.traces WIRE CLIENT FILE...` makes one of what wire.py has written down, of all that was done
in the documents with these names. Where a client cannot be run here, its trace is written by hand, and says so.
"""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "traces"
ROOT = "file:///w"
_ABOUT_DOCUMENTS = "textDocument/"
_DROPPED = {"workspace/didChangeWatchedFiles", "window/workDoneProgress/cancel", "shutdown", "exit"}


def read(file: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What is known of the client, and the lines."""
    first, *lines = map(json.loads, file.read_text("utf-8").splitlines())
    return first, lines


def of_wire(wire: Path, client: str, documents: list[str]) -> Iterator[dict[str, Any]]:
    said = [json.loads(line) for line in wire.read_text("utf-8").splitlines()]
    yield {"client": client, "origin": "recorded by tests/editors/wire.py", "settings": {}, "outcomes": []}
    asked = set[Any]()
    for one in said:
        message = one["message"]
        if one["from"] == "client" and _is_kept(message, documents, asked):
            asked.add(message.get("id"))
            yield {"send": _named(message)}
        elif one["from"] == "server" and "method" not in message and message.get("id") in asked:
            yield {"answered": _name(message["id"]), "ids": suggestion_ids(message.get("result"))}


def suggestion_ids(result: Any) -> list[str]:
    """Those that the commands of the items have."""
    items = result.get("items", []) if isinstance(result, dict) else []
    return [item["command"]["arguments"][0] for item in items]


def _named(message: dict[str, Any]) -> dict[str, Any]:
    """Its ids as names, which no other client's are."""
    if message["method"] == "$/cancelRequest":
        return {**message, "params": {"id": _name(message["params"]["id"])}}
    return {**message, "id": _name(message["id"])} if "id" in message else message


def _name(number: Any) -> str:
    return f"r{number}"


def _is_kept(message: dict[str, Any], documents: list[str], asked: set[Any]) -> bool:
    """A client's answers are not: whoever says the trace again gives its own."""
    method, params = message.get("method", ""), message.get("params") or {}
    if method == "$/cancelRequest":
        return params.get("id") in asked
    if method.startswith(_ABOUT_DOCUMENTS):
        return params["textDocument"]["uri"].rpartition("/")[2] in documents
    return bool(method) and method not in _DROPPED


def _tidied(line: dict[str, Any], roots: list[str]) -> str:
    text = json.dumps(line, ensure_ascii=False)
    for root in roots:
        text = text.replace(f"file://{root}", ROOT).replace(root, "/w")
    return re.sub(r'"processId": \d+', '"processId": null', text)


def _root(lines: list[dict[str, Any]]) -> str:
    params = lines[1]["send"]["params"]
    folders = params.get("workspaceFolders") or [{"uri": params.get("rootUri") or ROOT}]
    return str(folders[0]["uri"]).removeprefix("file://").rstrip("/")


if __name__ == "__main__":
    wire, client, *documents = sys.argv[1:]
    made = list(of_wire(Path(wire), client, documents))
    print("\n".join(_tidied(line, [_root(made)]) for line in made))  # noqa: T201
