"""Where a cursor's context comes from. Each retriever is a function of a question and an index to ranked snippets.

    definitions ..... what the names around the cursor mean; first those that the file imports and does not call yet
    members ......... what may follow the dot: members of the receiver's class and its bases, functions of a module
    modules ......... what else the imported files define, first what is made of the words around the cursor
    similar ......... a few lines elsewhere that share rare words with those above the cursor
    edits ........... what was changed in other files just now, as plain code
    siblings ........ the test of this file, the file of this test, header and source, files changed in turns with it

Headers come without bodies: the model needs to know how a thing is called, not how it is done.
"""

from collections.abc import Callable

from lsp_complete.context.index import Index
from lsp_complete.context.snippets import Question, Snippet

Retriever = Callable[[Question, Index], list[Snippet]]
