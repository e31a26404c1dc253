"""What README.md tells users of an editor to put into its configuration, so that the tests try just that."""

import re
from pathlib import Path

README = Path(__file__).parent.parent.parent / "README.md"


def lines_for(editor: str) -> str:
    found = re.search(rf"^\*\*{editor}(?:[^\n]+\n)+\n((?:    [^\n]*\n)+)", README.read_text("utf-8"), re.M)
    assert found, editor
    return re.sub("^    ", "", found[1], flags=re.M)
