"""A program for tests: the service with an engine that writes a character for each byte on its stdin.

Prints its address. Arguments: the credential, and for how many seconds it finishes answers when told to stop.
"""

import asyncio
import logging
import os
import sys

from lsp_complete.backend.serve import serve
from lsp_complete.config.settings import Settings
from tests.fakes import RecitingEngine


class GatedEngine(RecitingEngine):
    async def _step(self) -> None:
        assert self.gate is not None
        await super()._step()


async def main(credential: str, drain_s: int) -> None:
    engine = GatedEngine("one two three")
    engine.gate = gate = asyncio.Semaphore(0)

    def read() -> None:
        for _ in os.read(0, 100):
            gate.release()

    asyncio.get_running_loop().add_reader(0, read)
    settings = Settings(credential=credential, port=0, drain_s=drain_s)
    await serve(
        settings, lambda: engine, model="gated", family_name="qwen2.5-coder",
        announce=lambda url, _: print(url, flush=True),  # noqa: T201
    )  # fmt: skip


logging.disable()
asyncio.run(main(sys.argv[1], int(sys.argv[2])))
