"""The tokenizer of a model that transformers has loaded: markers apart from text, tokens to text as they come."""

import json
from typing import Any


class HubTokenizer:
    """A `Tokenizer` over one of the library `tokenizers`."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = _with_markers_apart(tokenizer)
        self._added = {added.content: token for token, added in tokenizer.get_added_tokens_decoder().items()}

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def marker(self, text: str) -> int | None:
        return self._added.get(text)

    def reader(self) -> "Reader":
        return Reader(self._tokenizer)


class Reader:
    """The text of tokens that come one by one. Markers have none."""

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers.decoders import DecodeStream

        self._tokenizer = tokenizer
        self._stream = DecodeStream(skip_special_tokens=True)

    def read(self, token: int) -> str:
        """Empty until the character that the token is a part of is whole."""
        return self._stream.step(self._tokenizer, token) or ""


def _with_markers_apart(tokenizer: Any) -> Any:
    """A copy that takes a marker within a text for text. Models declare most of their FIM markers as ordinary added
    tokens, which a tokenizer finds in any text; what it declares special it leaves alone when told to. Added tokens
    without a letter are runs of blanks, and stay."""
    from tokenizers import Tokenizer

    description = json.loads(tokenizer.to_str())
    for added in description.get("added_tokens", []):
        added["special"] = added["special"] or any(char.isalpha() for char in added["content"])
    apart = Tokenizer.from_str(json.dumps(description))
    apart.encode_special_tokens = True
    apart.no_truncation()
    apart.no_padding()
    return apart
