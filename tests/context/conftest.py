from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_complete.context.index import Index
from lsp_complete.context.policy import Policy
from tests.context.trees import NO_ENTERPRISE, Open


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Open]:
    """Opens indexes of `root`, all in one folder, and closes them."""
    opened: list[Index] = []

    def open_one(root: Path, folder: Path = tmp_path / "indexes") -> Index:
        opened.append(Index.open(root, folder, Policy([root], enterprise_file=NO_ENTERPRISE)))
        return opened[-1]

    yield open_one
    for index in opened:
        index.close()
