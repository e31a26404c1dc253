"""What of a document and of its repository goes into a question, credentials covered: all that will leave the machine.

Pure but for the policy, which looks at the disk. Knows neither what is asked nor of whom.
"""

from dataclasses import dataclass, replace

from lsp_complete.config.settings import Settings
from lsp_complete.context.mixer import Mix
from lsp_complete.context.policy import Policy
from lsp_complete.context.secrets import redact
from lsp_complete.prompt.assemble import CHARACTERS_PER_TOKEN, Budget, Prompt, assemble
from lsp_complete.prompt.snippets import Packed
from lsp_complete.text.document import Document


@dataclass(frozen=True, slots=True)
class Outgoing:
    """`num_redacted` credentials are covered in what the prompt carries."""

    prompt: Prompt
    num_redacted: int = 0


def outgoing(
    document: Document, offset: int, mix: Mix, settings: Settings, policy: Policy, before: Prompt | None = None
) -> Outgoing:
    """`before` is the document's last prompt. What of it may no longer leave is forgotten."""
    if before is not None:
        packed = tuple(one for one in before.packed if _may_stay(one, policy))
        before = replace(before, packed=packed)
    budget = Budget(settings.prompt_tokens, settings.snippet_tokens)
    document, num_redacted = _covered(document, offset, int(settings.prompt_tokens * CHARACTERS_PER_TOKEN) + 1)
    prompt = assemble(document, offset, mix.snippets, mix.scores, budget, before)
    return Outgoing(prompt, num_redacted + sum(one.snippet.num_redacted for one in prompt.packed))


def _may_stay(one: Packed, policy: Policy) -> bool:
    return bool(one.snippet.file) and policy.allows(one.snippet.file).allowed


def _covered(document: Document, offset: int, reach: int) -> tuple[Document, int]:
    """The document, as far as a prompt reaches. Its own text is looked at, not the window: a key whose first line the
    window's border cuts off is still one."""
    text, num_redacted = redact(document.text, max(0, offset - reach), min(len(document.text), offset + reach))
    return (replace(document, text=text) if num_redacted else document), num_redacted
