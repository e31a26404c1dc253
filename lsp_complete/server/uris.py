"""Spellings of one URI, and the path of a document as the model may see it. Pure functions; touches no file."""

import os
import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote

_DRIVE = re.compile(r"^/([A-Za-z]):")
# Schemes whose documents the editor holds in full: files, and buffers that are no file yet.
SERVED_SCHEMES = frozenset({"file", "untitled"})


def key(uri: str) -> str:
    """The same for every spelling of a URI: percent-escapes, the case of the drive letter, composed letters."""
    return unicodedata.normalize("NFC", _unquoted(uri))


def is_served(uri: str) -> bool:
    scheme, _, rest = uri.partition(":")
    return scheme.lower() in SERVED_SCHEMES and bool(rest.strip("/"))


def is_in(document: str, folder: str) -> bool:
    """Whether a key is that of a document, or of a folder that holds it."""
    return f"{document}/".startswith(folder.rstrip("/") + "/")


def relative_path(uri: str, roots: Iterable[str]) -> str:
    """The document's path below the longest of the root URIs that holds it, else its bare name; with `/` throughout.
    Of roots one inside the other, the inner one counts. A buffer that is no file has no path."""
    document = key(uri)
    if not document.startswith("file:"):
        return ""
    holding = [root for root in (key(r).rstrip("/") + "/" for r in roots) if document.startswith(root)]
    path = document[len(max(holding, key=len)) :] if holding else document.rpartition("/")[2]
    return path.encode("utf-8", "replace").decode()


def file_path(uri: str) -> str:
    """The path on the disk that a file URI names, in this system's spelling and the client's letters; empty for any
    other URI."""
    name = _unquoted(uri)
    if not name.startswith("file:"):
        return ""
    path = name.removeprefix("file:").encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return path.removeprefix("/").replace("/", "\\") if os.name == "nt" else path


def _unquoted(uri: str) -> str:
    scheme, _, rest = uri.partition(":")
    rest = unquote(rest, errors="surrogateescape")
    path = _DRIVE.sub(_lower_drive, rest.removeprefix("//") if rest.startswith("///") else rest)
    return f"{scheme.lower()}:{path}"


def _lower_drive(match: re.Match[str]) -> str:
    return f"/{match.group(1).lower()}:"
