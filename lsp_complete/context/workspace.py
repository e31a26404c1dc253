"""What is open in an editor: roots with an index each, documents, and one policy for all; and the answer to one
question: what else should the model see at this cursor?

Never raises; the worst answer is no snippet. Knows neither LSP nor what becomes of a snippet. Lives in an event loop,
which never waits for a build: what takes time goes to threads.
"""

import asyncio
import logging
import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from lsp_complete.context import mixer
from lsp_complete.context.answers import IndexState, Status
from lsp_complete.context.edits import EditHistory
from lsp_complete.context.exclusions import NO_EXCLUSIONS, Exclusions
from lsp_complete.context.gate import passed
from lsp_complete.context.imports import resolved
from lsp_complete.context.index import Index
from lsp_complete.context.indexer import Hooks, Progress
from lsp_complete.context.policy import Policy
from lsp_complete.context.recall import Recall
from lsp_complete.context.roots import Root, Roots
from lsp_complete.context.snippets import Question, Snippet
from lsp_complete.context.tabs import Tabs
from lsp_complete.text.document import Document
from lsp_complete.text.languages import language_of
from lsp_complete.text.symbols import Symbols, symbols

# Around the cursor names say what is being written; the rest of the file says what it is about, which is less.
_NAMES_BEFORE = 3000
_NAMES_AFTER = 600
_MAX_NAMES = 60
_NAME = re.compile(r"[^\W\d]\w{2,}")
# Parsed symbols of open documents are kept until the text has changed by so much: imports change rarely.
_STALE_CHARACTERS = 200
_MAX_PARSED = 16
# A question waits so long for documents that were left just now: a thousand lines are parsed in it.
_CATCH_UP_S = 0.02
# Each root more asks all retrievers once more. The same name means the own root's thing more often than another's.
_MAX_OTHER_ROOTS = 2
_OTHER_ROOT_SHARE = 0.5
# Names of files.
_MAX_NAMED = 512
_log = logging.getLogger(__name__)
_NO_MIX = mixer.Mix()
_OFF = "the index is off (disk full or read-only): suggestions go on, knowing less of the repository"


class Workspace:
    """`folder` is where the indexes lie. Made at once, with what was built before; `build` takes its time."""

    def __init__(
        self,
        roots: Sequence[Path],
        folder: Path,
        exclusions: Exclusions = NO_EXCLUSIONS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._exclusions = exclusions
        self._clock = clock
        self._roots = Roots(folder)
        self._roots.use(Policy(roots, exclusions))
        self._roots.open()
        # A thread for each root that is asked, one for the question behind it, and one for documents.
        self._executor = ThreadPoolExecutor(_MAX_OTHER_ROOTS + 3, thread_name_prefix="context")
        self._tabs = Tabs()
        self._edits = EditHistory()
        self._recall = Recall()
        self._names: dict[str, str] = {}
        self._parsed: dict[str, tuple[int, Symbols]] = {}
        self._located: dict[str, tuple[object, dict[str, str]]] = {}
        self._catching_up: asyncio.Task[None] | None = None
        self._is_cancelled = self._is_closed = False

    @property
    def policy(self) -> Policy:
        return self._roots.policy

    @property
    def indexes(self) -> list[Index]:
        return [root.index for root in self._roots.all()]

    # Roots and rules

    def use(self, roots: Sequence[Path], exclusions: Exclusions = NO_EXCLUSIONS, *, is_indexed: bool = True) -> None:
        """These are the roots and the rules now. What is gone or denied is used no more from this moment; `build`
        brings in what is new, and leaves alone what stays."""
        self._recall.forget()
        has_other_rules, self._exclusions = exclusions != self._exclusions, exclusions
        self._is_cancelled = False
        self._roots.use(Policy(roots, exclusions), is_indexed=is_indexed, has_other_rules=has_other_rules)
        for index in self.indexes:
            index.close_documents()
        self._tabs.look_again()

    async def build(self, progress: Progress = lambda done, total: None) -> list[str]:
        """Bring new indexes up to date with the disk. Gives what a user should know, a line each."""
        hooks = Hooks(progress=progress, is_cancelled=lambda: self._is_cancelled)
        await asyncio.to_thread(self._roots.open)
        self._tabs.look_again()
        self._catch_up()
        statuses = await asyncio.to_thread(self._roots.build, hooks)
        return [*self.policy.problems, *_problems(statuses)]

    def cancel_build(self) -> None:
        """Leave the indexes as far as they are."""
        self._is_cancelled = True

    def files_changed(self, paths: Iterable[str]) -> None:
        """These files have changed on the disk, or have come or gone. Thousands at once cost one walk."""
        if not self._is_closed:
            self._executor.submit(self._note, list(paths))

    def close(self) -> None:
        """Waits for threads: a fraction of a second."""
        self._stop()
        self._roots.close()

    async def aclose(self) -> None:
        self._stop()
        await asyncio.to_thread(self._roots.close)

    def _stop(self) -> None:
        self._is_closed = self._is_cancelled = True
        if self._catching_up is not None:
            self._catching_up.cancel()
        self._executor.shutdown(wait=False, cancel_futures=True)

    # Documents; those that are no file are of no use to others

    def opened(self, document: Document) -> None:
        if document.file:
            self._tabs.put(self._name(document.file), document.text)
            self._catch_up()

    def changed(self, before: Document, after: Document) -> None:
        """One change of an open document; several at once are told one by one."""
        if after.file:
            name = self._name(after.file)
            self._edits.changed(name, before.text, after.text, self._clock())
            self._tabs.put(name, after.text)
            self._catch_up()

    def closed(self, document: Document) -> None:
        """The file on the disk counts again."""
        self._parsed.pop(document.uri, None)
        if document.file:
            name = self._name(document.file)
            self._tabs.close(name)
            self._uncover(name)
            self.files_changed([name])

    def renamed(self, old: str, new: str) -> None:
        """A file or a folder has another path now. Documents in it are closed and opened by whoever holds them."""
        self._edits.renamed(self._name(old), self._name(new))
        self._forget(self._name(old))
        self.files_changed([old, new])

    def deleted(self, path: str) -> None:
        self._edits.forget(self._name(path))
        self._forget(self._name(path))
        self.files_changed([path])

    # Questions

    async def snippets(self, document: Document, path: Path, offset: int, patience_s: float = 0.0) -> mixer.Mix:
        """The best snippets for a cursor, secrets covered. Takes as long as the retrievers' deadline at most (or the
        patience of who asks, if that is more), and as long again where other documents have just been changed."""
        try:
            return await self._snippets(document, self._name(str(path)), offset, patience_s)
        except Exception:
            _log.exception("no snippets")
            return _NO_MIX

    async def _snippets(self, document: Document, file: str, offset: int, patience_s: float) -> mixer.Mix:
        self._tabs.view(file)
        own = self._roots.of(file)
        if own is None or self._is_closed:
            return _NO_MIX
        await self._caught_up()
        question = self._question(document, file, offset)
        now_s = self._clock()
        known = self._recall.find(question, self.indexes, now_s)
        if known is not None:
            return self._still_allowed(known)
        mixes = [self._of_root(root, question, patience_s) for root in (own, *self._others(own))]
        mix = _merged(await asyncio.gather(*mixes))
        self._recall.keep(question, mix, now_s)
        return mix

    def _still_allowed(self, mix: mixer.Mix) -> mixer.Mix:
        allowed = {file for file in {one.file for one in mix.snippets} if self.policy.allows(file).allowed}
        return replace(mix, snippets=tuple(one for one in mix.snippets if one.file in allowed))

    def _question(self, document: Document, file: str, offset: int) -> Question:
        """In canonical paths, for all roots."""
        recent, hunks = self._tabs.recent(), self._edits.hunks(self._clock())
        return Question(
            document,
            offset,
            file,
            names_near(document.text, offset),
            recent=tuple(recent),
            edits=tuple(hunks),
            together=tuple(self._edits.together(file)),
        )

    async def _of_root(self, root: Root, question: Question, patience_s: float) -> mixer.Mix:
        """What one root knows. To one that the cursor is not in, the question comes from nowhere, and its paths say
        where they are from."""
        loop = asyncio.get_running_loop()
        asked = await loop.run_in_executor(self._executor, self._asked_of, root, question)
        mix = await mixer.gather(asked, root.index, self._executor, patience_s)
        mix = _through(mix, passed(mix.snippets, root.index.root, self.policy))
        return mix if asked.path else _from_elsewhere(mix, self._roots.label(root))

    def _asked_of(self, root: Root, question: Question) -> Question:
        """The question in a root's own terms: what lies in other roots is left out, and what may not leave."""
        files = (*question.recent, *(hunk.path for hunk in question.edits), *question.together)
        paths = self._paths_in(root, tuple(file for file in files if file != question.path))
        path, parsed = self._relative(root, question.path), self._symbols(question.document)
        return replace(
            question,
            path=path,
            symbols=parsed,
            imported=resolved(parsed.imports, path, root.index),
            recent=tuple(paths[file] for file in question.recent if file in paths),
            edits=tuple(replace(hunk, path=paths[hunk.path]) for hunk in question.edits if hunk.path in paths),
            together=tuple(paths[file] for file in question.together if file in paths),
        )

    def _paths_in(self, root: Root, files: tuple[str, ...]) -> dict[str, str]:
        """Relative paths of those that lie in the root and may leave. Remembered while the files are the same ones, as
        they are while one types: what rules have changed since is seen at the gate."""
        asked = (self.policy, files)
        known, paths = self._located.get(root.index.root, (None, {}))
        if known != asked:
            inside = {file: path for file in files if (path := self._relative(root, file))}
            paths = {file: path for file, path in inside.items() if self.policy.allows(file).allowed}
            self._located[root.index.root] = asked, paths
        return paths

    def _relative(self, root: Root, file: str) -> str:
        """A canonical path in the root, with forward slashes; "" for one elsewhere."""
        if self._roots.of(file) is not root:
            return ""
        return os.path.relpath(file, root.index.root).replace(os.sep, "/")

    def _others(self, own: Root) -> list[Root]:
        """Other roots, those viewed last first."""
        viewed = [root for file in self._tabs.recent() if (root := self._roots.of(file))]
        others = [root for root in dict.fromkeys([*viewed, *self._roots.all()]) if root is not own]
        return others[:_MAX_OTHER_ROOTS]

    def _symbols(self, document: Document) -> Symbols:
        """Those of the document, or of the text that it was a few keystrokes ago."""
        length, parsed = self._parsed.pop(document.uri, (-_STALE_CHARACTERS, None))
        if parsed is None or abs(len(document.text) - length) >= _STALE_CHARACTERS:
            length, parsed = len(document.text), symbols(document.text, language_of(document.path, document.language))
        self._parsed[document.uri] = length, parsed
        if len(self._parsed) > _MAX_PARSED:
            self._parsed.pop(next(iter(self._parsed)), None)
        return parsed

    # Open documents, laid over their files

    def _catch_up(self) -> None:
        """Look into documents that changed and that the cursor has left, one after the other, in a thread: parsing one
        takes milliseconds, too long for each keystroke."""
        is_idle = self._catching_up is None or self._catching_up.done()
        if is_idle and self._tabs.has_dirty and not self._is_closed:
            self._catching_up = asyncio.get_running_loop().create_task(self._lay_over_all())

    async def _caught_up(self) -> None:
        self._catch_up()
        if self._catching_up is not None and not self._catching_up.done():
            await asyncio.wait([self._catching_up], timeout=_CATCH_UP_S)

    async def _lay_over_all(self) -> None:
        loop = asyncio.get_running_loop()
        while (name := self._tabs.take_dirty()) is not None:
            await loop.run_in_executor(self._executor, self._lay_over, name, self._tabs.text(name))
            if self._tabs.text(name) is None:  # closed meanwhile
                self._uncover(name)

    def _lay_over(self, name: str, text: str | None) -> None:
        root = self._roots.of(name)
        if root is not None and text is not None:
            root.index.update_document(name, text)

    def _uncover(self, name: str) -> None:
        root = self._roots.of(name)
        if root is not None:
            root.index.close_document(name)

    def _forget(self, name: str) -> None:
        for file in self._tabs.forget(name):
            self._uncover(file)

    def _note(self, paths: list[str]) -> None:
        for name in {canonical(path) for path in paths}:
            root = self._roots.of(name)
            if root is not None:
                root.watcher.changed(name)

    def _name(self, path: str) -> str:
        """The one name of a file. Remembered, because links are not looked up on each keystroke."""
        if path not in self._names:
            if len(self._names) >= _MAX_NAMED:
                self._names.clear()
            self._names[path] = canonical(path)
        return self._names[path]


def canonical(path: str) -> str:
    """The path without links on the way, as the disk spells it: editors compose letters, file systems may not."""
    try:
        spellings = [path, *(unicodedata.normalize(form, path) for form in ("NFC", "NFD"))]
        found = next((one for one in spellings if os.path.lexists(one)), path)
        folder, name = os.path.split(os.path.abspath(found))
        return os.path.join(os.path.realpath(folder), name)
    except (OSError, ValueError):
        return path


def names_near(text: str, offset: int) -> tuple[str, ...]:
    """Identifiers around the cursor, the nearest first, each once."""
    before = _NAME.findall(text, max(0, offset - _NAMES_BEFORE), offset)
    after = _NAME.findall(text, offset, offset + _NAMES_AFTER)
    return tuple(dict.fromkeys([*reversed(before), *after]))[:_MAX_NAMES]


def _through(mix: mixer.Mix, passed: Sequence[Snippet]) -> mixer.Mix:
    """What has passed the gate, and the names of what has not."""
    through = {one.key for one in passed}
    denied = tuple((one.path, one.source) for one in mix.snippets if one.key not in through)
    return replace(mix, snippets=tuple(passed), denied=denied)


def _from_elsewhere(mix: mixer.Mix, label: str) -> mixer.Mix:
    snippets = [replace(one, path=f"{label}/{one.path}", key=f"{label}/{one.key}") for one in mix.snippets]
    scores = {f"{label}/{key}": score * _OTHER_ROOT_SHARE for key, score in mix.scores.items()}
    denied = tuple((f"{label}/{path}", source) for path, source in mix.denied)
    return replace(mix, snippets=tuple(snippets), scores=scores, denied=denied)


def _merged(mixes: Sequence[mixer.Mix]) -> mixer.Mix:
    scores = {key: score for mix in reversed(mixes) for key, score in mix.scores.items()}
    snippets: dict[str, Snippet] = {one.key: one for mix in reversed(mixes) for one in mix.snippets}
    best = sorted(snippets.values(), key=lambda one: -scores[one.key])
    late = dict.fromkeys(name for mix in mixes for name in mix.late)
    denied = dict.fromkeys(pair for mix in mixes for pair in mix.denied)
    return mixer.Mix(tuple(best), scores, tuple(late), tuple(denied))


def _problems(statuses: Iterable[Status]) -> list[str]:
    return [_OFF] if any(status.state is IndexState.OFF for status in statuses) else []
