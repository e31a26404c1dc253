"""A completion service that knows by heart what is typed, as a process: `python -m tests.editors.service PORT`.

It is the real service but for the model, so that an editor's test can kill it, and knows what it will say.
"""

import asyncio
import sys

from lsp_complete.backend.app import create_app
from lsp_complete.backend.engines.base import Job
from lsp_complete.backend.serve import listening
from lsp_complete.config.settings import Settings
from tests.fakes import CharacterTokenizer, RecitingEngine
from tests.serving import backend_over

# What a user of the tests is about to write. The service goes on with whichever of them is begun.
TEXTS = (
    "def add_numbers(first, second):\n    return first + second\n",
    "total = price + tax\n",
    "greet = 'naïve 😀' + name\n",
    "print(total, tax)\n",
)
_LEAST_BEGUN = 3
# Asked so, it says which of these words it was sent.
ASK_SEEN, SEEN = "seen =", ("indexed_first", "ignored_first")


def rest_of(before: str) -> str:
    """What is missing of the text that `before` ends with the longest beginning of."""
    begun = [
        (count, text) for text in TEXTS for count in range(_LEAST_BEGUN, len(text)) if before.endswith(text[:count])
    ]
    count, text = max(begun, default=(0, ""))
    return text[count:]


def _answer(job: Job) -> str:
    prompt = CharacterTokenizer().decode(list(job.prompt))
    return repr([word for word in SEEN if word in prompt]) + "\n" if prompt.endswith(ASK_SEEN) else rest_of(prompt)


async def _serve(port: int) -> None:
    backend = backend_over(RecitingEngine(_answer, num_slots=4), queue_length=32, max_body_bytes=1_000_000)
    async with listening(create_app(backend), Settings(), port) as url:
        print(url, flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1])))
