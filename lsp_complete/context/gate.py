"""The way out for snippets: nothing that a retriever finds goes on without having passed here."""

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from lsp_complete.context.policy import Policy
from lsp_complete.context.secrets import redact
from lsp_complete.context.snippets import Snippet

# Those of the last keystrokes, which find nearly the same.
_MAX_REMEMBERED = 512


def passed(snippets: Iterable[Snippet], root: str, policy: Policy) -> tuple[Snippet, ...]:
    """Those of the snippets of a root whose files may leave, credentials covered."""
    snippets = list(snippets)
    files = {one.path: os.path.join(root, one.path) for one in snippets}
    allowed = {path for path, file in files.items() if policy.allows(file).allowed}
    return tuple(_covered(one, files[one.path]) for one in snippets if one.path in allowed)


def _covered(snippet: Snippet, file: str) -> Snippet:
    text, num_redacted = _redacted(snippet.text)
    return replace(snippet, text=text, file=file, num_redacted=num_redacted)


@lru_cache(_MAX_REMEMBERED)
def _redacted(text: str) -> tuple[str, int]:
    return redact(text)
