"""One ignore file, with git's meaning: asked level by level, a folder first, then what is in it.

pathspec, which the other globs use, answers for a path and all folders above it at once. Git has left an ignored folder
behind before it looks at what is inside, so with pathspec a later `!b` wins over `a` for "b/a", and `gen/**` denies the
folder itself and with it the `!gen/keep.py` below. A test compares this with git.
"""

import re

_CLASS = re.compile(r"\[([!^]?)(\]?(?:\\.|[^\]\\])*)\]")


class IgnoreFile:
    """A line that is no pattern is ignored, as git does."""

    def __init__(self, text: str) -> None:
        lines = re.split(r"\r\n|\n|\r", text)
        self._rules = [rule for line in reversed(lines) if (rule := _rule(line)) is not None]

    def says(self, path: str) -> bool | None:
        """True: ignored, False: taken in again, None: nothing. `path` is relative; a folder's ends in a slash."""
        return next((is_ignored for matches, is_ignored in self._rules if matches.fullmatch(path)), None)


def _rule(line: str) -> tuple[re.Pattern[str], bool] | None:
    line = re.sub(r"(?<!\\) +$", "", line)
    is_ignored = not line.startswith("!")
    body = line if is_ignored else line[1:]
    if not body.strip("/") or line.startswith("#"):
        return None
    try:
        return re.compile(_expression(body), re.DOTALL), is_ignored
    except re.error:
        return None


def _expression(body: str) -> str:
    """For a relative path as `IgnoreFile.says` takes it."""
    end = "/" if body.endswith("/") else "/?"
    is_anchored = "/" in body.rstrip("/")
    *folders, last = body.strip("/").split("/")
    start = "" if is_anchored else "(?:.*/)?"
    middle = "".join("(?:.*/)?" if folder == "**" else _segment(folder) + "/" for folder in folders)
    return start + middle + (".+" if last == "**" and is_anchored else "(?=[^/])" + _segment(last)) + end


def _segment(glob: str) -> str:
    """The expression of what stands between two slashes."""
    parts: list[str] = []
    index = 0
    while index < len(glob):
        char = glob[index]
        bracket = _CLASS.match(glob, index) if char == "[" else None
        if bracket is not None:
            parts.append(f"(?!/)[{'^' if bracket[1] else ''}{_class_body(bracket[2])}]")
            index = bracket.end()
            continue
        if char == "\\" and index + 1 < len(glob):
            index, char = index + 1, glob[index + 1]
            parts.append(re.escape(char))
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)))
        index += 1
    return "".join(parts)


def _class_body(body: str) -> str:
    return re.sub(r"(?<!\\)[\[\]&~|]", lambda match: "\\" + match[0], body)
