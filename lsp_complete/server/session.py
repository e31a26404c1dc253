"""One editor's session: its settings and the pipeline that serves it. Knows no LSP message and draws nothing."""

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lsp_complete.client.guarded import Guarded
from lsp_complete.client.moment import PAST, now
from lsp_complete.completion.answer import Answer, NoSuggestion
from lsp_complete.completion.exclusions import exclusions_of
from lsp_complete.completion.pipeline import Pipeline
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.trigger import Skip
from lsp_complete.config.logs import set_level
from lsp_complete.config.paths import index_folder, state_folder
from lsp_complete.config.settings import Settings, load_settings
from lsp_complete.context.answers import IndexState
from lsp_complete.context.indexer import Progress
from lsp_complete.context.policy import Reason as Denial
from lsp_complete.context.workspace import Workspace
from lsp_complete.protocol.completion import Completer, Mode, Trigger
from lsp_complete.protocol.errors import Paused, Unavailable
from lsp_complete.protocol.events import Hex, Language, Reason, Requested, Shown, Suppressed, hashed, timings, tokens
from lsp_complete.server import records, uris
from lsp_complete.server.connection import Connection
from lsp_complete.server.records import Records
from lsp_complete.server.status import IndexProgress, State, Status, notice, status_of
from lsp_complete.server.switches import Switches
from lsp_complete.server.telemetry import Telemetry
from lsp_complete.telemetry.store import FILE
from lsp_complete.text.document import Document

_log = logging.getLogger(__name__)

# Who wants silence for longer switches suggestions off.
MAX_SNOOZE_MINUTES = 24 * 60.0

# Behind these another model may answer; a limit of rate, or a snooze, leaves it as it was.
_AWAY = {State.LOADING, State.OFFLINE}

ShowBuild = Callable[[Callable[[], None]], AbstractContextManager[Progress]]
"""Takes what cancels the build, gives what is told of its progress, from a thread."""


def _shows_nothing(cancel: Callable[[], None]) -> AbstractContextManager[Progress]:
    return contextlib.nullcontext(lambda done, total: None)


class Session:
    """`on_status` hears how the session is whenever that changes, `on_problem` what a user should know, once each;
    `show_build` shows how far the index is, for as long as the context that it gives."""

    def __init__(
        self,
        on_status: Callable[[Status], None],
        on_problem: Callable[[str], None],
        show_build: ShowBuild = _shows_nothing,
    ) -> None:
        self.id = uuid.uuid4().hex
        self._on_status, self._on_problem, self._show_build = on_status, on_problem, show_build
        self._told: set[str] = set()
        self._told_of: set[State] = set()
        self._last_status: Status | None = None
        self._newest: dict[str, asyncio.Task[Answer]] = {}
        self._connection = Connection(self.id, self._changed)
        self._is_warm = False
        self._pipeline: Pipeline | None = None
        self.workspace = Workspace((), index_folder())
        self._roots: list[Path] = []
        self._indexing: set[asyncio.Task[None]] = set()
        self._index = IndexProgress()
        self._snoozed_until = PAST
        self._waking: asyncio.TimerHandle | None = None
        self._configured, self._switches = Settings(), Switches()
        self.settings = Settings()
        self.records = Records(state_folder() / records.FILE, self.id)
        self.telemetry = Telemetry(self.id, state_folder() / FILE, hear=self.records.heard)

    # Settings and switches

    def configure(self, overrides: Mapping[str, Any]) -> None:
        """Take settings from the editor. Bad ones are reported and left out."""
        settings, problems = load_settings(overrides)
        for problem in problems:
            self._tell(problem)
        set_level(settings.log_level)
        self._switches = self._switches.kept(self._configured, settings)
        self._configured = settings
        self._use(self._switches.over(settings))

    def toggle(self) -> None:
        """Suggestions off, or on again, whatever the settings say."""
        self._switches = self._switches.toggled()
        self._use(self._switches.over(self._configured))

    def toggle_language(self, language: str) -> None:
        self._switches = self._switches.language_toggled(language)
        self._use(self._switches.over(self._configured))

    def snooze(self, minutes: float) -> None:
        """No question but those asked by hand for so long; 0 ends it."""
        minutes = min(minutes, MAX_SNOOZE_MINUTES) if minutes > 0 else 0.0
        self._snoozed_until = now().after(minutes * 60) if minutes else PAST
        if self._waking is not None:
            self._waking.cancel()
        if minutes:
            self._waking = asyncio.get_running_loop().call_later(minutes * 60, self._changed)
            self._give_up_all()
        self._changed()

    def answer_from(self, completer: Completer) -> None:
        """Whatever the settings say. For tests and replays."""
        self._drop_pipeline()
        self._connection.answer_from(completer)

    def warm(self) -> None:
        """Begin to start the local service, so that it is there when the first question comes, and keep it."""
        self._is_warm = True
        self.telemetry.start(self.settings.ca_file)
        self._connection.warm()
        self._changed()

    # How it is

    @property
    def status(self) -> Status:
        snoozed_until_s = self._snoozed_until.wall_s if self._is_snoozed else 0.0
        service, trouble = self._connection.service, self._connection.trouble
        return status_of(self.settings.enabled, snoozed_until_s, service, trouble, self._index)

    async def off_here(self, document: Document, offset: int | None = None) -> str:
        """Why there are no suggestions in a document, or at a place of it, if that is so."""
        policy = self.workspace.policy
        verdict = policy.admits(document)
        if verdict.allowed and policy.scopes and offset is not None:
            verdict = await asyncio.to_thread(policy.admits_at, document, offset)
        if verdict.reason is Denial.LANGUAGE and document.language in self._switches.languages:
            return "in a language that was switched off"
        return verdict.reason.value

    # Questions

    async def suggest(
        self, key: str, document: Document, offset: int, trigger: Trigger, skip: Skip | None = None
    ) -> Answer | None:
        """What to insert; `skip` as the pipeline has it. A newer call for the same `key` cancels this one, which then
        gives None. So does a mistake of ours, with a line in the log: an editor makes a pop-up of an error."""
        self._connection.asked()
        self._changed()  # a moment that was waited for may have passed while the machine slept
        if self._is_snoozed and trigger is Trigger.AUTOMATIC:
            return self._recorded(self._silent(document), document, offset, trigger)
        if self._connection.completer is None:
            return self._recorded(self._unanswered(), document, offset, trigger)
        task = asyncio.create_task(self._pipe(self._connection.completer).suggest(document, offset, trigger, skip))
        self._give_up(key)  # afterwards, so that the new one may wait for what the older one has asked
        self._newest[key] = task
        try:
            return self._recorded(await task, document, offset, trigger)
        except asyncio.CancelledError:
            if task.done() and not task.cancelled() and task.exception() is None:
                self.came_too_late(self._recorded(task.result(), document, offset, trigger))
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

    def kept(self, document: Document, offset: int, chosen: Insertion) -> Answer | None:
        """As the pipeline has it."""
        answer = self._pipeline.kept(document, offset, chosen) if self._pipeline and not self._is_snoozed else None
        return self._recorded(answer, document, offset, Trigger.AUTOMATIC) if answer else None

    def changed(self, before: Document, after: Document, inserted: Sequence[str]) -> None:
        """One message has made one document of the other. `inserted`: the texts of its changes, where it lists
        several."""
        self.telemetry.changed(before, after, inserted)
        if self._connection.completer is not None:
            self._pipe(self._connection.completer).changed(before, after, inserted)

    def arrived(self, document: Document, offset: int | None = None) -> None:
        """The user has come to a document; `offset` is the cursor, where the editor says so."""
        if self._connection.completer is not None and not self._is_snoozed:
            self._pipe(self._connection.completer).arrived(document, offset)

    def came_too_late(self, answer: Answer) -> None:
        """The document has changed, or the question was cancelled, while the answer was on its way."""
        if answer.insertion is not None:
            self.records.came_too_late(answer.request_id)
            spent = timings(answer.timing_ms), tokens(answer.usage, is_wasted=True)
            self.telemetry.tell(Suppressed(Hex(answer.request_id), Reason.SUPERSEDED, *spent))

    def shown(self, document: Document, span: tuple[int, int], text: str, answer: Answer, num_chosen: int = 0) -> None:
        """The editor is given `text` for the place `span` of a document; its first `num_chosen` characters are what is
        chosen in the pop-up."""
        spent = timings(answer.timing_ms), tokens(answer.usage)
        num_lines, model = text.count("\n") + 1, hashed(answer.model)
        told = Shown(Hex(answer.request_id), answer.rung, len(text), num_lines, model, *spent)
        self.telemetry.shown(document, span, text, told, num_chosen)

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

    async def aclose(self) -> None:
        asked = list(self._newest.values())
        self._drop_pipeline()
        await asyncio.gather(*asked, return_exceptions=True)  # they have something to tell
        for task in self._indexing:
            task.cancel()
        if self._waking is not None:
            self._waking.cancel()
        await asyncio.gather(
            self.workspace.aclose(), self.telemetry.aclose(), self._connection.aclose(), self.records.aclose()
        )

    def _use(self, settings: Settings) -> None:
        old, self.settings = self.settings, settings
        if settings != old:
            self._drop_pipeline()
        if self._connection.leads_elsewhere(settings):
            self._told_of.clear()  # trouble there is news
        self.records.is_kept = settings.audit != "off"
        self.telemetry.configure(settings)
        if (exclusions_of(settings), settings.index) != (exclusions_of(old), old.index):
            self._use_folders()
        self._connection.configure(settings)
        if self._is_warm:
            self.warm()

    def _use_folders(self) -> None:
        self._drop_pipeline()  # what its prompts carry may not be used any more
        self.workspace.use(self._roots, exclusions_of(self.settings), is_indexed=self.settings.index)
        task = asyncio.ensure_future(self._build())
        self._indexing.add(task)
        task.add_done_callback(self._indexing.discard)

    async def _build(self) -> None:
        self._set_index(IndexProgress(IndexState.BUILDING.value if self._has_index else "none"))
        with self._show_build(self.workspace.cancel_build) as show:
            problems = await self.workspace.build(partial(self._built, show))
        for problem in problems:
            self._tell(problem)
        states = await asyncio.to_thread(lambda: [index.status().state for index in self.workspace.indexes])
        self._set_index(replace(self._index, state=_worst(states) if self._has_index else "none"))

    def _built(self, show: Progress, done: int, total: int) -> None:
        """Called by a thread."""
        self._index = IndexProgress(IndexState.BUILDING.value, done, total)
        show(done, total)

    @property
    def _has_index(self) -> bool:
        return bool(self._roots) and self.settings.index

    def _set_index(self, index: IndexProgress) -> None:
        self._index = index
        self._changed()

    @property
    def _is_snoozed(self) -> bool:
        return not self._snoozed_until.is_past(now())

    def _silent(self, document: Document) -> Answer:
        """The answer to a question that comes while the user wants silence."""
        answer = Answer(uuid.uuid4().hex, Mode.LINE, reason=NoSuggestion.SNOOZED)
        language, request = Language.of(document.language), Hex(answer.request_id)
        self.telemetry.tell(Requested(request, language, answer.mode, Trigger.AUTOMATIC))
        self.telemetry.tell(Suppressed(request, Reason.SNOOZED))
        return answer

    def _unanswered(self) -> Answer:
        """Where there is nobody to ask."""
        service = self._connection.service
        detail = service.detail if service else ""
        return Answer(uuid.uuid4().hex, Mode.LINE, reason=NoSuggestion.SERVICE, detail=detail)

    def _recorded(self, answer: Answer, document: Document, offset: int, trigger: Trigger) -> Answer:
        self.records.add(answer, document, offset, trigger)
        return answer

    def _pipe(self, completer: Guarded) -> Pipeline:
        if self._pipeline is None:
            seen, tell, admit = self.telemetry.outcomes, self.telemetry.tell, partial(self._admit, completer)
            self._pipeline = Pipeline(
                completer, self.settings, self.id, self.workspace, seen, tell, admit=admit, given_up=self._recorded
            )
        return self._pipeline

    def _admit(self, completer: Guarded, trigger: Trigger, mode: Mode) -> Mode:
        """While the user wants silence nothing is asked ahead either."""
        if self._is_snoozed and trigger is Trigger.AUTOMATIC:
            raise Paused(Unavailable("snoozed"))
        return completer.admit(trigger, mode)

    def _give_up(self, key: str) -> None:
        """Whoever waits for a suggestion for this document gets none."""
        if older := self._newest.pop(key, None):
            older.cancel()

    def _give_up_all(self) -> None:
        for key in list(self._newest):
            self._give_up(key)

    def _drop_pipeline(self) -> None:
        self._give_up_all()
        if self._pipeline is not None:
            self._pipeline.close()
        self._pipeline = None

    def _changed(self) -> None:
        """Something that the status is made of may be another one. Until the editor is ready it is told nothing."""
        status = self.status
        if status.state is State.READY and self._connection.is_answering:
            self._told_of.clear()
        if not self._is_warm or status == self._last_status:
            return
        before = self._last_status.state if self._last_status else None
        self._last_status = status
        self._on_status(status)
        if status.state is State.READY and before is not State.READY and self._pipeline is not None:
            self._pipeline.ready(was_away=before in _AWAY)
        elif status.is_notable and status.state not in self._told_of:
            self._told_of.add(status.state)
            self._on_problem(notice(status))

    def _tell(self, problem: str) -> None:
        if problem not in self._told:
            self._told.add(problem)
            _log.warning("setting: %s", problem)
            self._on_problem(problem)


def _worst(states: Sequence[IndexState]) -> str:
    order = [IndexState.OFF, IndexState.BUILDING, IndexState.EMPTY, IndexState.FOLLOWING, IndexState.READY]
    return min(states, key=order.index, default=IndexState.EMPTY).value
