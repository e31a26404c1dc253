"""One editor's session: its settings and the pipeline that serves it. Knows no LSP message and draws nothing.

Without a configured URL the completions come from the local service, which the session keeps alive.
"""

import asyncio
import contextlib
import logging
import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from lsp_complete.client.audit import audit_of
from lsp_complete.client.completer import HttpCompleter
from lsp_complete.client.service import LocalService, ServiceStatus, service_command, service_environ
from lsp_complete.completion.answer import Answer
from lsp_complete.completion.exclusions import exclusions_of
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.config.logs import set_level
from lsp_complete.config.paths import index_folder, runtime_folder, state_folder
from lsp_complete.config.settings import Settings, load_settings
from lsp_complete.context.indexer import Progress
from lsp_complete.context.workspace import Workspace
from lsp_complete.protocol.completion import Trigger
from lsp_complete.protocol.events import Hex, Reason, Shown, Suppressed, hashed, timings, tokens
from lsp_complete.server import uris
from lsp_complete.server.telemetry import Telemetry
from lsp_complete.telemetry.store import FILE
from lsp_complete.text.document import Document

_log = logging.getLogger(__name__)

# Well below the settings' `session_idle_s` of 120 s, after which the service takes a session for gone.
_KEEP_ALIVE_S = 40.0
# An editor left open over night need not hold a model in memory.
_AWAY_S = 1800.0
# Answers that can be asked about afterwards.
_NUM_EXPLAINED = 200

ShowBuild = Callable[[Callable[[], None]], AbstractContextManager[Progress]]
"""Takes what cancels the build, gives what is told of its progress, from a thread."""


def _shows_nothing(cancel: Callable[[], None]) -> AbstractContextManager[Progress]:
    return contextlib.nullcontext(lambda done, total: None)


class Session:
    """`on_status` hears what the local service is doing, `on_problem` what a user should know, once each; `show_build`
    shows how far the index is, for as long as the context that it gives."""

    def __init__(
        self,
        on_status: Callable[[ServiceStatus], None],
        on_problem: Callable[[str], None],
        show_build: ShowBuild = _shows_nothing,
    ) -> None:
        self.id = uuid.uuid4().hex
        self._on_status, self._on_problem, self._show_build = on_status, on_problem, show_build
        self._told: set[str] = set()
        self._newest: dict[str, asyncio.Task[Answer]] = {}
        self._completer: HttpCompleter | LocalService | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._keeping: asyncio.Task[None] | None = None
        self._is_warm = False
        self._pipeline: Pipeline | None = None
        self.workspace = Workspace((), index_folder())
        self._roots: list[Path] = []
        self._indexing: set[asyncio.Task[None]] = set()
        self._last_asked = time.monotonic()
        self.answers: deque[Answer] = deque(maxlen=_NUM_EXPLAINED)
        self.settings = Settings()
        self.telemetry = Telemetry(self.id, state_folder() / FILE)

    def configure(self, overrides: Mapping[str, Any]) -> None:
        """Take settings from the editor. Bad ones are reported and left out."""
        settings, problems = load_settings(overrides)
        for problem in problems:
            self._tell(problem)
        set_level(settings.log_level)
        old, self.settings = self.settings, settings
        if settings != old:
            self._drop_pipeline()
        self.telemetry.configure(settings)
        if (exclusions_of(settings), settings.index) != (exclusions_of(old), old.index):
            self._use_folders()
        if self._completer is None or _place(settings) != _place(old):
            self._replace_completer()
        if self._is_warm:
            self.warm()

    def warm(self) -> None:
        """Begin to start the local service, so that it is there when the first question comes, and keep it."""
        self._is_warm = True
        self.telemetry.start(self.settings.ca_file)
        if isinstance(self._completer, LocalService) and self.settings.enabled:
            self._completer.start()
            if self._keeping is None:
                self._keeping = asyncio.create_task(self._keep_alive())

    async def suggest(self, key: str, document: Document, offset: int, trigger: Trigger) -> Answer | None:
        """What to insert. A newer call for the same `key` cancels this one, which then gives None. So does a mistake of
        ours, with a line in the log: an editor makes a pop-up of an error."""
        self._last_asked = time.monotonic()
        if self._completer is None:
            return None
        task = asyncio.create_task(self._pipe(self._completer).suggest(document, offset, trigger))
        self._give_up(key)  # afterwards, so that the new one may wait for what the older one has asked
        self._newest[key] = task
        try:
            answer = await task
            self.answers.append(answer)
            return answer
        except asyncio.CancelledError:
            if task.done() and not task.cancelled() and task.exception() is None:
                self.came_too_late(task.result())
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            return None
        except Exception:
            _log.exception("no suggestion")
            return None
        finally:
            if self._newest.get(key) is task:
                del self._newest[key]

    def changed(self, before: Document, after: Document, inserted: Sequence[str]) -> None:
        """One message has made one document of the other. `inserted`: the texts of its changes, where it lists
        several."""
        self.telemetry.changed(before, after, inserted)
        if self._completer is not None:
            self._pipe(self._completer).changed(before, after, inserted)

    def came_too_late(self, answer: Answer) -> None:
        """The document has changed, or the question was cancelled, while the answer was on its way."""
        if answer.insertion is not None:
            spent = timings(answer.timing_ms), tokens(answer.usage, is_wasted=True)
            self.telemetry.tell(Suppressed(Hex(answer.request_id), Reason.SUPERSEDED, *spent))

    def shown(self, document: Document, span: tuple[int, int], text: str, answer: Answer) -> None:
        """The editor is given `text` for the place `span` of a document."""
        spent = timings(answer.timing_ms), tokens(answer.usage)
        num_lines, model = text.count("\n") + 1, hashed(answer.model)
        told = Shown(Hex(answer.request_id), answer.rung, len(text), num_lines, model, *spent)
        self.telemetry.shown(document, span, text, told)

    def forget(self, document: Document) -> None:
        """The document is closed, or has another name."""
        self._give_up(uris.key(document.uri))
        self.telemetry.closed(document)
        if self._pipeline is not None:
            self._pipeline.forget(document.uri)

    def open_folders(self, roots: Sequence[str]) -> None:
        """These are the workspace's folders now. What is known of them is used at once, what is not yet in a while."""
        self._roots = [Path(root) for root in roots]
        self._use_folders()

    def _use_folders(self) -> None:
        self._drop_pipeline()  # what its prompts carry may not be used any more
        self.workspace.use(self._roots, exclusions_of(self.settings), is_indexed=self.settings.index)
        task = asyncio.ensure_future(self._build())
        self._indexing.add(task)
        task.add_done_callback(self._indexing.discard)

    async def _build(self) -> None:
        with self._show_build(self.workspace.cancel_build) as progress:
            problems = await self.workspace.build(progress)
        for problem in problems:
            self._tell(problem)

    def _pipe(self, completer: HttpCompleter | LocalService) -> Pipeline:
        if self._pipeline is None:
            seen = self.telemetry.outcomes
            self._pipeline = Pipeline(completer, self.settings, self.id, self.workspace, seen, self.telemetry.tell)
        return self._pipeline

    def _give_up(self, key: str) -> None:
        """Whoever waits for a suggestion for this document gets none."""
        if older := self._newest.pop(key, None):
            older.cancel()

    def _drop_pipeline(self) -> None:
        for key in list(self._newest):
            self._give_up(key)
        if self._pipeline is not None:
            self._pipeline.close()
        self._pipeline = None

    async def aclose(self) -> None:
        asked = list(self._newest.values())
        self._drop_pipeline()
        await asyncio.gather(*asked, return_exceptions=True)  # they have something to tell
        for task in self._indexing:
            task.cancel()
        if self._keeping is not None:
            self._keeping.cancel()
        ending = [_close(self._completer, self.id)] if self._completer is not None else []
        await asyncio.gather(self.workspace.aclose(), self.telemetry.aclose(), *self._closing, *ending)

    def _tell(self, problem: str) -> None:
        if problem not in self._told:
            self._told.add(problem)
            self._on_problem(problem)

    def _replace_completer(self) -> None:
        old, self._completer = self._completer, self._new_completer()
        if old is not None:
            stays = isinstance(self._completer, LocalService)  # most likely with the very service that it had
            task = asyncio.ensure_future(_close(old, "" if stays else self.id))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _new_completer(self) -> HttpCompleter | LocalService | None:
        settings, audit = self.settings, audit_of(self.settings)
        if settings.url:
            return HttpCompleter(settings.url, settings.credential, ca_file=settings.ca_file or None, audit=audit)
        try:
            folder = runtime_folder()
        except OSError as error:
            self._tell(f"no folder for the local service: {error.strerror}")
            return None
        environ = service_environ(settings, os.environ)
        return LocalService(folder, service_command(), environ, self._on_status, session_id=self.id, audit=audit)

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(_KEEP_ALIVE_S)
            is_away = time.monotonic() - self._last_asked > _AWAY_S
            if isinstance(self._completer, LocalService) and self.settings.enabled and not is_away:
                await self._completer.keep_alive(self.id)


def _place(settings: Settings) -> object:
    """Where the completions come from, and what is kept of them: what a change of other settings leaves as it is."""
    if settings.url:
        return settings.url, settings.credential, settings.ca_file, settings.audit
    return service_environ(settings, {}), settings.audit


async def _close(completer: HttpCompleter | LocalService, session_id: str) -> None:
    if isinstance(completer, LocalService):
        await completer.aclose(session_id)
    else:
        await completer.aclose()
