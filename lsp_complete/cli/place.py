"""`FILE:LINE:COL` on the command line: a document and an offset in it."""

import re
from pathlib import Path

import typer

from lsp_complete.context.files import decode
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.positions import offset_at

_COUNT = re.compile(r"[1-9][0-9]{0,8}")


def place_of(text: str, root: Path | None = None) -> tuple[Document, int]:
    """The document's path is relative to `root`, or else to its repository. A column past the end of the line is its
    end. Raises BadParameter."""
    name, line, column = [*text.rsplit(":", 2), "", ""][:3]
    if not (_COUNT.fullmatch(line) and _COUNT.fullmatch(column)):
        raise typer.BadParameter("not FILE:LINE:COL, with line and column from 1")
    document = _document(name, root)
    num_lines = document.num_lines
    if int(line) > num_lines:
        raise typer.BadParameter(f"{name} has {num_lines} lines")
    return document, offset_at(document, int(line) - 1, int(column) - 1, "utf-32")


def root_of(file: Path) -> Path:
    """The repository that holds the file, or else its folder."""
    return next((folder for folder in file.parents if (folder / ".git").exists()), file.parent)


def _document(name: str, root: Path | None) -> Document:
    path = Path(name)
    try:
        text = decode(path.read_bytes())
        file = path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise typer.BadParameter(f"{name}: {getattr(error, 'strerror', None) or error}") from None
    if text is None:
        raise typer.BadParameter(f"{name} is binary")
    root = root.resolve() if root else root_of(file)
    if not file.is_relative_to(root):
        raise typer.BadParameter(f"{name} does not lie in {root}")
    language = next(iter(language_of(path.name).language_ids), "")
    return Document(file.as_uri(), text, file.relative_to(root).as_posix(), language, file=str(file))
