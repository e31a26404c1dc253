"""llama.cpp's own tokenizer, asked over the private listener that it opens in this process.

The bindings do not export the tokenizer, and a second implementation would have to agree with it on every byte.
"""

import http.client
import json
import re
import socket
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from lsp_complete.backend.engines.base import EngineLost
from lsp_complete.protocol.errors import EngineFailed

# A text is encoded by pieces, of so many characters and the rest of a line: a keystroke changes the last one alone, and
# the others are remembered. All at once 430 tokens took 5 ms on a slow core, a piece takes 1.
_PIECE_CHARACTERS = 500
# Pieces that are remembered: those of sixteen long prompts.
_NUM_REMEMBERED = 1024
# Longer pieces are not kept: their tokens would take many megabytes.
_MAX_REMEMBERED_CHARACTERS = 20_000
# Behind a line end, before a line that is not blank, no token of most models goes on. Whether that holds for this one
# is tried on these: indentation that is one token with the line end before it, or a blank put before each text, shows.
_BORDER = re.compile(r"\n(?=[ \t]*\S)")
_TRIED = ("def f(x):\n", "    return x\n\n\n", "# é\n", "\tif x:\n", "        y = [\n", "            1]\n", "  \n", "z")
_TIMEOUT_S = 10.0


class LlamaCppTokenizer:
    """A `Tokenizer`."""

    def __init__(self, address: str, key: str) -> None:
        self._address = address
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        self._encode = lru_cache(_NUM_REMEMBERED)(self._ask)

    def encode(self, text: str) -> list[int]:
        tokens: list[int] = []
        for piece in self._pieces(text) if self._is_cut else [text] if text else []:
            tokens += (self._encode if len(piece) <= _MAX_REMEMBERED_CHARACTERS else self._ask)(piece, False)
        return tokens

    def _pieces(self, text: str, characters: int = _PIECE_CHARACTERS) -> Iterator[str]:
        start = 0
        while border := _BORDER.search(text, start + characters):
            yield text[start : border.end()]
            start = border.end()
        if start < len(text):
            yield text[start:]

    @cached_property
    def _is_cut(self) -> bool:
        """Whether the tokens of pieces are those of the whole."""
        whole = "".join(_TRIED)
        ends = [0, *(border.end() for border in _BORDER.finditer(whole)), len(whole)]
        pieces = [whole[start:end] for start, end in pairwise(ends)]
        return [token for piece in pieces for token in self._ask(piece, False)] == list(self._ask(whole, False))

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
