"""One editor's session: its settings and the pipeline that serves it. Knows no LSP message and draws nothing.

Without a configured URL the completions come from the local service, which the session keeps alive.
"""

import asyncio
import logging
import os
import time
import uuid
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsp_complete.client.completer import HttpCompleter
from lsp_complete.client.service import LocalService, ServiceStatus, service_command, service_environ
from lsp_complete.completion.pipeline import Answer, Pipeline
from lsp_complete.config.logs import set_level
from lsp_complete.config.paths import index_folder, runtime_folder
from lsp_complete.config.settings import Settings, load_settings
from lsp_complete.context.workspace import Workspace
from lsp_complete.protocol.completion import Trigger
from lsp_complete.text.document import Document

_log = logging.getLogger(__name__)

# Well below the settings' `session_idle_s` of 120 s, after which the service takes a session for gone.
_KEEP_ALIVE_S = 40.0
# An editor left open over night need not hold a model in memory.
_AWAY_S = 1800.0
# Answers that can be asked about afterwards.
_NUM_EXPLAINED = 200


class Session:
    """`on_status` hears what the local service is doing, `on_problem` what is wrong with the settings, once each."""

    def __init__(self, on_status: Callable[[ServiceStatus], None], on_problem: Callable[[str], None]) -> None:
        self.id = uuid.uuid4().hex
        self._on_status, self._on_problem = on_status, on_problem
        self._told: set[str] = set()
        self._newest: dict[str, asyncio.Task[Answer]] = {}
        self._completer: HttpCompleter | LocalService | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._keeping: asyncio.Task[None] | None = None
        self._is_warm = False
        self._pipeline: Pipeline | None = None
        self._workspace: Workspace | None = None
        self._indexing: set[asyncio.Task[None]] = set()
        self._last_asked = time.monotonic()
        self.answers: deque[Answer] = deque(maxlen=_NUM_EXPLAINED)
        self.settings = Settings()

    def configure(self, overrides: Mapping[str, Any]) -> None:
        """Take settings from the editor. Bad ones are reported and left out."""
        settings, problems = load_settings(overrides)
        for problem in problems:
            self._tell(problem)
        set_level(settings.log_level)
        old, self.settings, self._pipeline = self.settings, settings, None
        if self._completer is None or _place(settings) != _place(old):
            self._replace_completer()
        if self._is_warm:
            self.warm()

    def warm(self) -> None:
        """Begin to start the local service, so that it is there when the first question comes, and keep it."""
        self._is_warm = True
        if isinstance(self._completer, LocalService) and self.settings.enabled:
            self._completer.start()
            if self._keeping is None:
                self._keeping = asyncio.create_task(self._keep_alive())

    async def suggest(self, key: str, document: Document, offset: int, trigger: Trigger) -> Answer | None:
        """What to insert. A newer call for the same `key` cancels this one, which then gives None. So does a mistake of
        ours, with a line in the log: an editor makes a pop-up of an error."""
        self._last_asked = time.monotonic()
        if older := self._newest.pop(key, None):
            older.cancel()
        if self._completer is None:
            return None
        if self._pipeline is None:
            self._pipeline = Pipeline(self._completer, self.settings, self.id, self._workspace)
        task = self._newest[key] = asyncio.create_task(self._pipeline.suggest(document, offset, trigger))
        try:
            answer = await task
            self.answers.append(answer)
            return answer
        except asyncio.CancelledError:
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

    def open_folders(self, roots: Sequence[str]) -> None:
        """These are the workspace's folders now. What is known of them is used at once, what is not yet in a while."""
        if self._workspace is not None:
            self._workspace.close()
        self._pipeline = self._workspace = None
        if self.settings.index and roots:
            self._workspace = Workspace([Path(root) for root in roots], index_folder(), self.settings.exclude)
            self._in_background(self._workspace.build())

    def files_changed(self, paths: Sequence[str]) -> None:
        """These files have changed on the disk, or have come or gone."""
        if self._workspace is not None:
            self._in_background(self._workspace.saved([Path(path) for path in paths]))

    async def aclose(self) -> None:
        for task in (*self._newest.values(), *self._indexing):
            task.cancel()
        if self._workspace is not None:
            self._workspace.close()
        if self._keeping is not None:
            self._keeping.cancel()
        await asyncio.gather(*self._closing)
        if self._completer is not None:
            await _close(self._completer, self.id)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._indexing.add(task)
        task.add_done_callback(self._indexing.discard)

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
        settings = self.settings
        if settings.url:
            return HttpCompleter(settings.url, settings.credential, ca_file=settings.ca_file or None)
        try:
            folder = runtime_folder()
        except OSError as error:
            self._tell(f"no folder for the local service: {error.strerror}")
            return None
        environ = service_environ(settings, os.environ)
        return LocalService(folder, service_command(), environ, self._on_status, session_id=self.id)

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(_KEEP_ALIVE_S)
            is_away = time.monotonic() - self._last_asked > _AWAY_S
            if isinstance(self._completer, LocalService) and self.settings.enabled and not is_away:
                await self._completer.keep_alive(self.id)


def _place(settings: Settings) -> object:
    """Where the completions come from: what a change of other settings leaves as it is."""
    if settings.url:
        return settings.url, settings.credential, settings.ca_file
    return service_environ(settings, {})


async def _close(completer: HttpCompleter | LocalService, session_id: str) -> None:
    if isinstance(completer, LocalService):
        await completer.aclose(session_id)
    else:
        await completer.aclose()
