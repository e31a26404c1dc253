"""The repositories that are open in an editor: one index a root, one policy for all, and the answer to one question:
what else should the model see at this cursor?

Never raises; the worst answer is no snippet. Knows neither LSP nor what becomes of a snippet.
"""

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from lsp_complete.context import mixer
from lsp_complete.context.imports import resolved
from lsp_complete.context.index import Index
from lsp_complete.context.indexer import Hooks, Progress
from lsp_complete.context.policy import Policy, Verdict
from lsp_complete.context.secrets import redact
from lsp_complete.context.snippets import Question
from lsp_complete.context.watch import Watcher
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.symbols import Symbols, symbols

_log = logging.getLogger(__name__)

# Around the cursor names say what is being written; the rest of the file says what it is about, which is less.
_NAMES_BEFORE = 3000
_NAMES_AFTER = 600
_MAX_NAMES = 60
_NAME = re.compile(r"[^\W\d]\w{2,}")
# Parsed symbols of open documents are kept until the text has changed by so much: imports change rarely.
_STALE_CHARACTERS = 200
_MAX_PARSED = 16
_NO_MIX = mixer.Mix()


class Workspace:
    """`folder` is where the indexes lie. Made at once; `build` takes its time, in threads and processes."""

    def __init__(self, roots: Sequence[Path], folder: Path, exclusions: Sequence[str] = ()) -> None:
        self.policy = Policy(roots, exclusions)
        self._indexes = {str(root): Index.open(root, folder, self.policy, may_write=True) for root in self.policy.roots}
        self._executor = ThreadPoolExecutor(len(mixer.RETRIEVERS) + 1, thread_name_prefix="context")
        self._parsed: OrderedDict[str, tuple[int, Symbols]] = OrderedDict()
        self._watchers: dict[str, Watcher] = {}
        self._is_closed = False

    def allows(self, path: Path) -> Verdict:
        """May bytes of this file leave the machine?"""
        return self.policy.allows(path)

    async def build(self, progress: Progress = lambda done, total: None) -> None:
        """Bring the indexes up to date with the disk."""
        hooks = Hooks(progress=progress, is_cancelled=lambda: self._is_closed)
        for index in self._indexes.values():
            status = await asyncio.to_thread(index.build, hooks)
            _log.info("index: %s, %d files", status.state, status.num_files)
            await self._watch(index)

    async def _watch(self, index: Index) -> None:
        """Hear of changes that no editor tells of: another branch, a generator, another editor."""
        if self._is_closed or index.root in self._watchers:
            return
        watcher = self._watchers[index.root] = Watcher(index.root, self.policy, index.update_files)
        await asyncio.to_thread(watcher.start)
        for warning in watcher.warnings:
            _log.warning("watcher: %s", type(warning).__name__)
        if self._is_closed:
            await asyncio.to_thread(watcher.stop)

    async def saved(self, paths: Sequence[Path]) -> None:
        """These files have changed on disk, or have come or gone."""
        for root, index in self._indexes.items():
            if inside := [str(path) for path in paths if str(path).startswith(root)]:
                await asyncio.to_thread(index.update_files, inside)

    async def snippets(self, document: Document, path: Path, offset: int) -> mixer.Mix:
        """The best snippets for a cursor, secrets covered. Takes as long as the retrievers' deadline at most."""
        index = self._index_of(path)
        if index is None:
            return _NO_MIX
        relative = path.relative_to(index.root).as_posix()
        loop = asyncio.get_running_loop()
        question = await loop.run_in_executor(self._executor, self._question, document, offset, relative, index)
        mix = await mixer.gather(question, index, self._executor)
        allowed = [one for one in mix.snippets if self.policy.allows(Path(index.root) / one.path).allowed]
        return replace(mix, snippets=tuple(replace(one, text=redact(one.text)[0]) for one in allowed))

    def close(self) -> None:
        self._is_closed = True
        for watcher in self._watchers.values():
            watcher.stop()
        self._executor.shutdown(wait=False, cancel_futures=True)
        for index in self._indexes.values():
            index.close()

    def _index_of(self, path: Path) -> Index | None:
        root = self.policy.root_of(path)
        return self._indexes.get(root)

    def _question(self, document: Document, offset: int, path: str, index: Index) -> Question:
        parsed = self._symbols(document)
        imported = resolved(parsed.imports, path, index)
        return Question(document, offset, path, names_near(document.text, offset), parsed, imported)

    def _symbols(self, document: Document) -> Symbols:
        """Those of the document, or of the text that it was a few keystrokes ago."""
        length, parsed = self._parsed.get(document.uri, (-_STALE_CHARACTERS, None))
        if parsed is None or abs(len(document.text) - length) >= _STALE_CHARACTERS:
            parsed = symbols(document.text, language_of(document.path, document.language))
            self._parsed[document.uri] = (len(document.text), parsed)
        self._parsed.move_to_end(document.uri)
        if len(self._parsed) > _MAX_PARSED:
            self._parsed.popitem(last=False)
        return parsed


def names_near(text: str, offset: int) -> tuple[str, ...]:
    """Identifiers around the cursor, the nearest first, each once."""
    before = _NAME.findall(text, max(0, offset - _NAMES_BEFORE), offset)
    after = _NAME.findall(text, offset, offset + _NAMES_AFTER)
    return tuple(dict.fromkeys([*reversed(before), *after]))[:_MAX_NAMES]
