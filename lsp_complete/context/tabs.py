"""The documents that are open in the editor, as retrieval needs them: the latest text of each, which of them were not
looked into since they changed, and which files were viewed lately. Pure; files are names and nothing is read."""

from lsp_complete.context.edits import is_in

# What was viewed twenty files ago has nothing to do with what is being done.
MAX_RECENT = 20


class Tabs:
    """`current` is the file that was opened, changed or asked about last: the one with the cursor."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._dirty: dict[str, None] = {}
        self._viewed: dict[str, None] = {}

    @property
    def current(self) -> str:
        return next(reversed(self._viewed), "")

    def put(self, file: str, text: str) -> None:
        """A file is open, with this text."""
        self._texts[file] = text
        self._dirty[file] = None
        self.view(file)

    def close(self, file: str) -> None:
        self._texts.pop(file, None)
        self._dirty.pop(file, None)

    def text(self, file: str) -> str | None:
        return self._texts.get(file)

    def view(self, file: str) -> None:
        self._viewed.pop(file, None)
        self._viewed[file] = None
        if len(self._viewed) > MAX_RECENT:
            del self._viewed[next(iter(self._viewed))]

    def recent(self) -> list[str]:
        """Viewed files, the latest first; some are closed by now."""
        return list(reversed(self._viewed))

    def forget(self, path: str) -> list[str]:
        """A file, or a folder with all in it, is gone. Gives those that were open."""
        files = [file for file in self._texts if is_in(file, path)]
        for file in files:
            self.close(file)
        self._viewed = {file: None for file in self._viewed if not is_in(file, path)}
        return files

    @property
    def has_dirty(self) -> bool:
        return self._next_dirty() is not None

    def take_dirty(self) -> str | None:
        """A file to be looked into now."""
        file = self._next_dirty()
        if file is not None:
            del self._dirty[file]
        return file

    def look_again(self) -> None:
        """Nothing is known of any text."""
        self._dirty = dict.fromkeys(self._texts)

    def _next_dirty(self) -> str | None:
        """Not the current one, which changes again at once and is of no use to itself."""
        return next((file for file in self._dirty if file != self.current), None)
