"""llama.cpp's own tokenizer, asked over the private listener that it opens in this process.

The bindings do not export the tokenizer, and a second implementation would have to agree with it on every byte.
"""

import http.client
import json
import socket
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from lsp_complete.backend.engines.base import EngineLost
from lsp_complete.protocol.errors import EngineFailed

# Texts whose tokens are remembered: the suffix and the snippets stay the same from keystroke to keystroke.
_NUM_REMEMBERED = 64
# Longer texts are not kept: their tokens would take many megabytes.
_MAX_REMEMBERED_CHARACTERS = 20_000
_TIMEOUT_S = 10.0


class LlamaCppTokenizer:
    """A `Tokenizer`. About 6 ms for 1,000 tokens on a slow core."""

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        self._encode = lru_cache(_NUM_REMEMBERED)(self._ask)

    def encode(self, text: str) -> list[int]:
        if len(text) > _MAX_REMEMBERED_CHARACTERS:
            return list(self._ask(text, False))
        return list(self._encode(text, False)) if text else []

    def marker(self, text: str) -> int | None:
        tokens = self._ask(text, True)
        is_control = len(tokens) == 1 and self._ask(text, False) != tokens
        return tokens[0] if is_control else None

    def decode(self, tokens: list[int]) -> str:
        """The text of tokens; what is no whole character becomes U+FFFD."""
        return str(self._post("/detokenize", {"tokens": tokens})["content"])

    def _ask(self, text: str, parse_special: bool) -> tuple[int, ...]:
        body = {"content": text, "parse_special": parse_special, "add_special": False}
        return tuple(self._post("/tokenize", body)["tokens"])

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        connection = self._connection()
        try:
            connection.request("POST", path, json.dumps(body), self._headers)
            return json.loads(connection.getresponse().read())
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise EngineLost("llama.cpp's private listener is gone") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise EngineFailed(f"llama.cpp's tokenizer does not answer: {type(error).__name__}") from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        if self._address.startswith("unix://"):
            return _UnixConnection(self._address.removeprefix("unix://"))
        address = urlsplit(self._address)
        return http.client.HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=_TIMEOUT_S)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
