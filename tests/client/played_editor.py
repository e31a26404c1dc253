"""An editor's end of the local service as a program of its own: prints what was recited to it."""

import asyncio
import sys
from pathlib import Path

from tests.client.playing import local_service
from tests.fakes import request


async def main(folder: Path) -> None:
    service = local_service(folder)
    await service.wait_ready()
    chunks = [chunk async for chunk in service.complete(request())]
    await service.aclose()
    print("".join(getattr(chunk, "text", "") for chunk in chunks))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
