"""The index of one root, as retrievers see it: the database, with open documents laid over it.

No method raises; what cannot be answered is an empty list. Paths are relative to the root, with forward slashes. Any
thread may ask while another builds. Every file has passed the policy when it was indexed; who sends text away asks the
policy again, because ignore files change.
"""

import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lsp_complete.context import queries
from lsp_complete.context.answers import FoundChunk, FoundReference, IndexState, Status, occurrences
from lsp_complete.context.files import FileText, read_file
from lsp_complete.context.heir import Heir
from lsp_complete.context.indexer import Hooks, clear, update, update_files
from lsp_complete.context.keeper import Keeper
from lsp_complete.context.overlay import Overlay, open_file
from lsp_complete.context.parse import words_of
from lsp_complete.context.policy import GIT_IGNORE, TOOL_IGNORE, Policy
from lsp_complete.context.queries import Chunk, FoundDefinition
from lsp_complete.context.remembered import Lines, Outline, Remembered, lines_of
from lsp_complete.context.search import rank
from lsp_complete.context.store import Store, database_file
from lsp_complete.text.symbols import Definition, Import

# Common names have thousands of definitions; nobody looks at more than a few.
_MAX_DEFINITIONS = 50
# Files that are read to find where in them a name stands, about 0.1 ms each, and chunks that are asked for them.
_MAX_REFERENCE_FILES = 6
_MAX_REFERENCE_CHUNKS = 40
# More changes at once than this are a branch switch: one walk is cheaper than asking about each file.
_MAX_SINGLE_FILES = 200
# Names whose popularity is looked up at once, 30 µs each.
_MAX_POPULAR = 200
_NO_FILES: tuple[int, dict[str, int]] = (0, {})


class Index:
    """Made by `Index.open`. `build` and `update_files` take their time and belong in a thread; all else answers at
    once."""

    def __init__(self, root: str, keeper: Keeper, policy: Policy) -> None:
        self.root = root
        self.policy = policy
        self._keeper = keeper
        self._overlay = Overlay()
        self._opening = threading.Lock()
        self._shown: dict[str, bool] = {}
        self._common: set[str] = set()
        self._remembered = Remembered()
        self._popular: dict[str, int] = {}
        self._updating = threading.RLock()
        self._is_closed = False
        self._heir = Heir(self._take_over)

    @classmethod
    def open(cls, root: str | Path, folder: str | Path, policy: Policy, *, may_write: bool = True) -> "Index":
        """The index of a root, kept in a file of `folder`. What was built before can be asked at once. One that may not
        write is for a look at what another process keeps."""
        canonical = os.path.realpath(root)
        keeper = Keeper(Store(database_file(Path(folder), canonical), may_write=may_write))
        keeper.connect()
        return cls(canonical, keeper, policy)

    def build(self, hooks: Hooks | None = None, *, afresh: bool = False) -> Status:
        """Bring the index up to date with the tree, or make it; `afresh` forgets what was there. Does nothing where
        another process does, and takes over when that is gone."""
        with self._updating:
            if not self._is_closed:
                self._build(self._until_closed(hooks or Hooks()), afresh)
        return self.status()

    def update_files(self, paths: Iterable[str]) -> None:
        """Bring the index up to date with some files that changed, came or went; folders and ignore files too."""
        with self._updating:
            if not self._is_closed:
                self._update_files({name for path in paths if (name := self._relative(path))})

    def update_document(self, path: str, text: str) -> None:
        """An open document has this text. Parses it, which takes milliseconds for a long one."""
        name = self._relative(path)
        if not (name and self.policy.allows(self._absolute(name)).allowed):
            self.close_document(path)
            return
        parsed = open_file(name, text)
        with self._opening:
            self._overlay = self._overlay.with_file(name, parsed)

    def close_document(self, path: str) -> None:
        with self._opening:
            self._overlay = self._overlay.without_file(self._relative(path))

    def close_documents(self) -> None:
        with self._opening:
            self._overlay = Overlay()

    def use_policy(self, policy: Policy) -> None:
        """New settings apply at once: what they deny is hidden now, and removed by the next build."""
        self.policy = policy
        self._ask_policy_again()

    def definitions(self, name: str, limit: int = _MAX_DEFINITIONS) -> list[FoundDefinition]:
        """Definitions of a name, those in open documents first."""
        overlay = self._overlay
        stored = self._remembered.get(
            ("definitions", name, limit),
            self._keeper.ask(queries.version),
            lambda: self._keeper.ask(lambda connection: queries.definitions(connection, name, limit)) or [],
        )
        return [*overlay.definitions(name), *(one for one in stored if self._is_current(overlay, one.path))][:limit]

    def is_defined(self, name: str) -> bool:
        """Whether a name has a definition anywhere. Not remembered: it may be half a word, asked for once."""
        stored = self._keeper.ask(lambda connection: queries.definitions(connection, name, 1))
        return bool(stored or self._overlay.definitions(name))

    def definitions_in(self, path: str) -> list[Definition]:
        """Definitions of a file in the order of the text."""
        overlay = self._overlay
        if path in overlay.files:
            return overlay.definitions_in(path)
        return self._keeper.ask(lambda conn: queries.definitions_in(conn, path)) or [] if self._may_show(path) else []

    def outline(self, path: str) -> Outline:
        """The same, sorted and remembered."""

        def outlined() -> Outline:
            return Outline([FoundDefinition(path, "", one) for one in self.definitions_in(path)])

        return self._remembered.get(("outline", path), self._stamp(path), outlined)

    def lines(self, path: str, first: int, end: int) -> Lines:
        """Some lines of a file with their words, remembered."""
        return self._remembered.get(
            (path, first, end), self._stamp(path), lambda: lines_of(path, self.read(path) or "", first, end)
        )

    def popularity(self, names: Iterable[str]) -> dict[str, int]:
        """Roughly in how many chunks of lines each name stands, up to a limit. New names are looked up, some at a
        time, and then remembered for good: what is popular stays so."""
        asked = set(names)
        fresh = [name for name in asked if name not in self._popular][:_MAX_POPULAR]
        self._popular |= self._keeper.ask(lambda connection: queries.num_chunks_with(connection, fresh)) or {}
        return {name: self._popular.get(name, 0) for name in asked}

    def has_file(self, path: str) -> bool:
        """Whether a file is open or in the index."""
        return bool(self.existing([path]))

    def existing(self, paths: Sequence[str]) -> set[str]:
        """Those of the files that are open or in the index."""
        stored = self._keeper.ask(lambda connection: queries.existing(connection, paths)) or set()
        return {path for path in paths if path in self._overlay.files or (path in stored and self._may_show(path))}

    def starting_with(self, prefix: str) -> list[str]:
        """Some files of the index whose paths begin so."""
        stored = self._keeper.ask(lambda connection: queries.starting_with(connection, prefix)) or []
        return [path for path in stored if self._may_show(path)]

    def imports_of(self, path: str) -> list[Import]:
        overlay = self._overlay
        if path in overlay.files:
            return overlay.imports_of(path)
        return self._keeper.ask(lambda conn: queries.imports_of(conn, path)) or [] if self._may_show(path) else []

    def references(self, name: str, limit: int = 20) -> list[FoundReference]:
        """Where a name stands, definitions included. Looked up in the files as they are now."""
        found: list[FoundReference] = []
        for path in self._paths_with(name.lower())[:_MAX_REFERENCE_FILES]:
            if len(found) < limit and (text := self.read(path)) is not None:
                found += occurrences(name, path, text, limit - len(found))
        return found

    def search(self, identifiers: list[str], limit: int = 20, exclude: Collection[str] = ()) -> list[FoundChunk]:
        """The chunks of lines that share the rarest words with some identifiers, without those of `exclude`d paths."""
        words = words_of(identifiers)
        at_most = limit * (1 + len(exclude))
        ranked = self._keeper.ask(lambda connection: self._ranked(connection, words, at_most)) or []
        chosen = [(chunk, score) for chunk, score in ranked if chunk.path not in exclude][:limit]
        return [FoundChunk(chunk.path, chunk.first_line, chunk.end_line, score) for chunk, score in chosen]

    def read(self, path: str) -> str | None:
        """The text of an open document, else of the file; None where there is none, or the policy denies it."""
        if (file := self._overlay.files.get(path)) is not None:
            return file.text
        if not self._is_indexed(path):
            return None
        try:
            read = read_file(self._absolute(path))
        except OSError:
            return None
        return read.text if isinstance(read, FileText) else None

    def status(self) -> Status:
        """Counts files, so not for each keystroke."""
        last = self._keeper.last.walk
        num_files, by_reason = self._keeper.ask(queries.num_files) or _NO_FILES
        skipped = Counter({str(reason): count for reason, count in last.skipped.items()}) + Counter(by_reason)
        unreadable = {path: os.strerror(number) for path, number in last.unreadable.items()}
        return Status(
            root=self.root,
            state=self._keeper.state,
            database=str(self._keeper.store.file),
            num_files=num_files,
            num_definitions=self._keeper.ask(queries.num_definitions) or 0,
            num_bytes=self._keeper.store.num_bytes,
            skipped=dict(skipped),
            unreadable=unreadable,
            warnings=(
                *self._keeper.warnings,
                *self.policy.problems,
                *(f"not read: {path}: {reason}" for path, reason in unreadable.items()),
            ),
        )

    def cancel(self) -> None:
        """End an update that is under way, and begin no other one."""
        self._is_closed = True

    def close(self) -> None:
        """Waits for an update to end: a fraction of a second."""
        self.cancel()
        self._heir.stop()
        with self._updating:
            self._keeper.close()
        self.close_documents()

    def _build(self, hooks: Hooks, afresh: bool) -> None:
        if afresh:
            self._keeper.write(clear)
        is_done = self._keeper.write(lambda connection: update(connection, self.root, self.policy, hooks))
        self._common = set()
        self._ask_policy_again()
        if is_done and not self._keeper.last.walk.unreadable:  # each file has just passed the policy
            self._shown = dict.fromkeys(self._keeper.ask(queries.paths) or (), True)
        if self._keeper.state is IndexState.FOLLOWING:
            self._heir.wait()

    def _take_over(self) -> bool:
        """Where the process that kept the index is gone, keep it from now on: it may have left it half done."""
        with self._updating:
            self._keeper.connect()
            if self._keeper.state is IndexState.FOLLOWING and not self._is_closed:
                return False
            if not self._is_closed:
                self._build(self._until_closed(Hooks()), afresh=False)
            return True

    def _update_files(self, names: set[str]) -> None:
        if len(names) > _MAX_SINGLE_FILES or any(map(self._needs_walk, names)):
            self._build(self._until_closed(Hooks()), afresh=False)
            return
        changed = [name for name in names if os.path.isfile(self._absolute(name)) and self._is_indexed(name)]
        gone = [name for name in names if name not in changed]
        report = self._keeper.last.walk
        self._keeper.write(lambda connection: update_files(connection, self.root, changed, gone, report))

    def _until_closed(self, hooks: Hooks) -> Hooks:
        return replace(hooks, is_cancelled=lambda: self._is_closed or hooks.is_cancelled())

    def _ranked(self, connection: sqlite3.Connection, words: dict[str, None], limit: int) -> list[tuple[Chunk, float]]:
        overlay = self._overlay

        def postings(word: str, at_most: int) -> list[int | Chunk]:
            return [*overlay.chunks(word), *queries.chunk_numbers(connection, word, at_most)]

        ranked = rank(words, postings, queries.num_chunks(connection), limit * 2, self._common)
        stored = queries.chunks_of(connection, [key for key, _ in ranked if isinstance(key, int)])
        current = {number: chunk for number, chunk in stored.items() if self._is_current(overlay, chunk.path)}
        chunks = ((key if isinstance(key, Chunk) else current.get(key), score) for key, score in ranked)
        return [(chunk, score) for chunk, score in chunks if chunk is not None]

    def _stamp(self, path: str) -> object:
        """Changes with what is known of a file."""
        return self._overlay.files.get(path) or self._keeper.ask(lambda connection: queries.hash_of(connection, path))

    def _paths_with(self, word: str) -> list[str]:
        """Files that hold a word, open documents first."""
        overlay = self._overlay

        def stored(connection: sqlite3.Connection) -> list[Chunk]:
            numbers = queries.chunk_numbers(connection, word, _MAX_REFERENCE_CHUNKS)
            return list(queries.chunks_of(connection, numbers).values())

        paths = [chunk.path for chunk in self._keeper.ask(stored) or () if self._is_current(overlay, chunk.path)]
        return list(dict.fromkeys([*(chunk.path for chunk in overlay.chunks(word)), *paths]))

    def _is_current(self, overlay: Overlay, path: str) -> bool:
        """Whether what the database has of a file counts: no open document is newer, no rule denies it."""
        return path not in overlay.files and self._may_show(path)

    def _may_show(self, path: str) -> bool:
        """The policy's answer for a file in the database, which may be of other settings or another process. Remembered
        until the next build."""
        known = self._shown.get(path)
        if known is None:
            known = self._shown[path] = self._is_ours(self._absolute(path))
        return known

    def _is_ours(self, absolute: str) -> bool:
        """Whether the policy lets a file be indexed, and no other root inside this one has it."""
        is_here = self.policy.root_of(absolute) == self.policy.root_of(self._absolute("_"))
        return is_here and self.policy.indexes(absolute).allowed

    def _ask_policy_again(self) -> None:
        self._shown = {}
        for path in self._overlay.files:
            if not self.policy.allows(self._absolute(path)).allowed:
                self.close_document(path)

    def _is_indexed(self, path: str) -> bool:
        """Whether a file lies in the root, without the help of links, and the policy lets it be indexed."""
        return bool(path) and self._relative(path) == path and self._is_ours(self._absolute(path))

    def _needs_walk(self, name: str) -> bool:
        is_rule = os.path.basename(name) in (GIT_IGNORE, TOOL_IGNORE)
        return is_rule or os.path.isdir(self._absolute(name)) or self._was_folder(name)

    def _was_folder(self, name: str) -> bool:
        return self._keeper.ask(lambda connection: queries.holds_files(connection, name)) or False

    def _absolute(self, path: str) -> str:
        return os.path.join(self.root, path)

    def _relative(self, path: str) -> str:
        """A path in the root by its canonical relative name; "" for one outside."""
        absolute = os.path.join(self.root, path)
        try:
            folder = os.path.realpath(os.path.dirname(absolute))
        except ValueError:
            return ""
        relative = os.path.relpath(os.path.join(folder, os.path.basename(absolute)), self.root)
        return "" if relative.split(os.sep)[0] == ".." else relative.replace(os.sep, "/")
