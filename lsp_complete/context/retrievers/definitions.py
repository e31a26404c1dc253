"""What the names around the cursor mean, and what the file imports and does not call yet: headers, likeliest first."""

from lsp_complete.context.affinity import ranked, words_near
from lsp_complete.context.index import Index
from lsp_complete.context.lookup import Lookup
from lsp_complete.context.queries import FoundDefinition
from lsp_complete.context.retrievers.headers import snippets_of
from lsp_complete.context.scope import CLASSES, place_at
from lsp_complete.context.snippets import Question, Snippet

_MAX_NAMES = 32
_INITIALIZERS = ("__init__", "constructor")


def definitions(question: Question, index: Index) -> list[Snippet]:
    lookup = Lookup(question, index)
    text, offset = question.document.text, question.offset
    callees = [name.rpartition(".")[2] for name in place_at(text, offset).callees]
    names = dict.fromkeys([*callees, *_uncalled(lookup, text, offset), *question.names])
    found: list[FoundDefinition] = []
    for name in list(names)[:_MAX_NAMES]:
        for one in lookup.named(name)[:2]:
            found += [one, *_initializer(one, index)]
    return snippets_of(found, "definitions", "named here", documented=callees[0] if callees else "")


def _uncalled(lookup: Lookup, text: str, offset: int) -> list[str]:
    """Imported names that are nowhere used with arguments: nothing in the file says how."""
    names = [name for name, (_, original) in lookup.bound.items() if original]
    fresh = [name for name in names if not _is_called(name, text)]
    counts = {name: text.count(name) for name in fresh}
    near = ranked(fresh, lambda name: name, words_near(text, offset))
    return sorted(near, key=lambda name: counts[name] > 1)


def _is_called(name: str, text: str) -> bool:
    """As a word of its own and not behind a dot. A pattern would look at each character of the text for each name."""
    place = text.find(f"{name}(")
    while place > 0 and (text[place - 1].isalnum() or text[place - 1] in "_."):
        place = text.find(f"{name}(", place + 1)
    return place >= 0


def _initializer(found: FoundDefinition, index: Index) -> list[FoundDefinition]:
    """How a class is made."""
    if found.definition.kind not in CLASSES:
        return []
    own = index.outline(found.path).by_parent.get(found.definition.name, ())
    return [one for one in own if one.definition.name in _INITIALIZERS][:1]
