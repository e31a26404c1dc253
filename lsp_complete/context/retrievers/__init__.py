"""Where a cursor's context comes from. Each retriever is a function of a question and an index to ranked snippets.

    definitions ..... what the names around the cursor mean: imported ones first, then those found anywhere
    modules ......... headers of all that the imported files define: what is not yet named, but likely next
    similar ......... lines elsewhere that share rare words with those above the cursor

Headers come without bodies: the model needs to know how a thing is called, not how it is done.
"""

from collections.abc import Callable

from lsp_complete.context.index import Index
from lsp_complete.context.snippets import Question, Snippet

Retriever = Callable[[Question, Index], list[Snippet]]
