"""No suggestion writes a credential: whether it was made up or learned by heart, it is not the user's."""

from lsp_complete.context.secrets import spans
from lsp_complete.text.document import Document

# A key that is being typed begins at most so far above.
_NUM_CHARACTERS = 4_000


def brings_credential(document: Document, offset: int, text: str, num_replaced: int = 0) -> bool:
    """Whether the text at `offset` holds a credential, or completes one that stands half on the cursor's line."""
    before = document.text[max(0, offset - _NUM_CHARACTERS) : offset]
    after = document.after_on_line(offset)[num_replaced:]
    return bool(spans(before + text + after, len(before), len(before) + len(text)))
