"""What may follow a dot: members of the receiver's class and its bases, or of the module that stands before the dot."""

from lsp_complete.context.affinity import ranked, words_near
from lsp_complete.context.index import Index
from lsp_complete.context.lookup import Lookup
from lsp_complete.context.queries import FoundDefinition
from lsp_complete.context.retrievers.headers import snippets_of
from lsp_complete.context.scope import place_at, receivers_near
from lsp_complete.context.snippets import Question, Snippet

# Of the receiver at the cursor so many members, of others in the lines above it fewer: they may be wanted next.
_MAX_MEMBERS, _MAX_NEAR = 24, 6
_MAX_RECEIVERS = 4


def members(question: Question, index: Index) -> list[Snippet]:
    lookup, text, offset = Lookup(question, index), question.document.text, question.offset
    near = words_near(text, offset)
    at_cursor = place_at(text, offset).receiver
    found = _best(lookup, index, at_cursor, near, _MAX_MEMBERS) if at_cursor else []
    for receiver in [one for one in receivers_near(text, offset) if one != at_cursor][:_MAX_RECEIVERS]:
        found += _best(lookup, index, receiver, near, _MAX_NEAR)
    return snippets_of(found, "members", "behind a dot")


def _best(lookup: Lookup, index: Index, receiver: str, near: dict[str, float], num: int) -> list[FoundDefinition]:
    targets = lookup.targets(receiver)[:2]
    every = [one for target in targets for one in lookup.members(target)]
    found = [one for one in every if not one.definition.name.startswith("__")]
    popular = index.popularity(one.definition.name for one in found)
    return ranked(found, lambda one: one.definition.name, near, popular)[:num]
