"""What the imported files offer and is not yet named here: headers, those made of the words around the cursor first."""

from lsp_complete.context.affinity import ranked, words_near
from lsp_complete.context.index import Index
from lsp_complete.context.retrievers.headers import snippets_of
from lsp_complete.context.snippets import Question, Snippet

_MAX_MODULES = 8
_MAX_HEADERS = 24


def modules(question: Question, index: Index) -> list[Snippet]:
    near = words_near(question.document.text, question.offset)
    paths = dict.fromkeys(path for _, path in question.imported)
    found = [
        one
        for path in list(paths)[:_MAX_MODULES]
        for one in index.outline(path).top
        if not one.definition.name.startswith("_")
    ]
    popular = index.popularity(one.definition.name for one in found)
    best = ranked(found, lambda one: one.definition.name, near, popular)[:_MAX_HEADERS]
    return snippets_of(best, "modules", "imported")
