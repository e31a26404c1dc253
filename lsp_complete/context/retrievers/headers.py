"""A definition as a snippet shows it: its header, without the body, and its doc line as a comment."""

from collections.abc import Iterable, Iterator
from itertools import islice

from lsp_complete.text.symbols import Definition

# Headers of one file or class: its public face, not its inventory.
MAX_HEADERS = 40


def members(owner: Definition, found: Iterable[Definition]) -> Iterator[str]:
    name = f"{owner.parent}.{owner.name}" if owner.parent else owner.name
    members = (one for one in found if one.parent == name and owner.start <= one.start < owner.end)
    return islice((f"    {header(one)}" for one in members if not _is_private(one.name)), MAX_HEADERS)


def _is_private(name: str) -> bool:
    return name.startswith("_") and name != "__init__"


def header(definition: Definition) -> str:
    return f"{definition.signature}  # {definition.doc}" if definition.doc else definition.signature
