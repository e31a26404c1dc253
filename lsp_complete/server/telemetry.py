"""What becomes of a session's suggestions: heard from the handlers, followed, and recorded where that is allowed.

Sits between the messages of the editor and completion/outcomes.py, with the clock and the recorder. A mistake in it
costs figures, never a suggestion.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from lsp_complete.client.h2_transport import H2Transport
from lsp_complete.client.recorder import Endpoint, Recorder, Sender
from lsp_complete.completion.outcomes import Outcomes
from lsp_complete.completion.postprocess import Insertion
from lsp_complete.completion.reuse import suggestion_at
from lsp_complete.config.consent import Consent
from lsp_complete.config.settings import Settings
from lsp_complete.protocol.events import Event, Hex, How, Shown, Sink
from lsp_complete.text.document import Document

_log = logging.getLogger(__name__)

# An acceptance is known a second after it, and what is left is looked at 15 s after it at the earliest.
_TICK_S = 1.0


class Telemetry:
    """`outcomes` follow suggestions with or without consent, as when to ask depends on them too. With it, events go to
    `endpoint`. `hear` is told of what became of suggestions, consent or not."""

    def __init__(
        self,
        session_id: str,
        file: Path,
        clock: Callable[[], float] | None = None,
        hear: Sink = lambda event: None,
    ) -> None:
        self.outcomes = Outcomes()
        self._recorder, self._file, self._hear = Recorder(file, Hex(session_id)), file, hear
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._consent, self.endpoint = Consent.OFF, Endpoint("")
        self._sending: asyncio.Task[None] | None = None
        self._ticking: asyncio.Task[None] | None = None

    def configure(self, settings: Settings) -> None:
        self._consent = Consent(settings.telemetry)
        self._recorder.configure(self._consent)
        is_ours = _origin(settings.telemetry_url) == _origin(settings.url)  # nobody else is given the credential
        credential = settings.telemetry_credential or (settings.credential if is_ours else "")
        endpoint = Endpoint(settings.telemetry_url, credential)
        if endpoint != self.endpoint and self._sending is not None:
            self._sending.cancel()
            self._sending = None
        self.endpoint = endpoint

    def start(self, ca_file: str) -> None:
        """Look at the clock from now on, and send where that is allowed."""
        if self._ticking is None:
            self._ticking = asyncio.create_task(self._tick())
        if self._sending is None and self._consent is Consent.ON and self.endpoint.url:
            self._sending = asyncio.create_task(self._send(ca_file))

    def tell(self, event: Event) -> None:
        """What the pipeline has to tell: requested, suppressed, cancelled, error."""
        self._recorder.record(event)

    def shown(self, document: Document, span: tuple[int, int], text: str, told: Shown, num_chosen: int = 0) -> None:
        """The editor is given `text` in the place of `span`, offsets of the document as it has it now. Its first
        `num_chosen` characters are what is chosen in the pop-up."""
        start, end = span
        suggestion = suggestion_at(document, start, Insertion(text, end - start), told.request)
        self._record(lambda now_s: self.outcomes.shown(document, suggestion, told, now_s, num_chosen))

    def asked(self, document: Document, offset: int, chosen: tuple[int, str] | None = None) -> None:
        """`chosen` is an item of the editor's pop-up, and where that begins."""
        self._record(lambda now_s: self.outcomes.asked(document, offset, now_s, chosen))

    def changed(self, before: Document, after: Document, inserted: Sequence[str] = ()) -> None:
        """One message. `inserted`: the texts of its changes, where there are several and each has a range."""
        self._record(lambda now_s: self.outcomes.changed(before, after, now_s, tuple(inserted)))

    def accepted(self, request: Hex, how: How = How.COMMAND) -> None:
        self._record(lambda now_s: self.outcomes.confirmed(request, how, now_s))

    def dismissed(self, request: Hex) -> None:
        self._record(lambda now_s: self.outcomes.dismissed(request, now_s))

    def saved(self, document: Document) -> None:
        self._record(lambda now_s: self.outcomes.saved(document, now_s))

    def closed(self, document: Document) -> None:
        self._record(lambda now_s: self.outcomes.closed(document, now_s))

    async def aclose(self) -> None:
        for document in self.outcomes.documents:
            self.closed(document)  # not every editor does it before it goes
        running = [task for task in (self._sending, self._ticking) if task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await asyncio.to_thread(self._recorder.close)

    async def _send(self, ca_file: str) -> None:
        transport = H2Transport(ca_file=ca_file or None)
        try:
            await Sender(self._file, self.endpoint, transport, lambda: self._consent is Consent.ON).run()
        finally:
            await transport.aclose()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            self._record(self.outcomes.tick)

    def _record(self, follow: Callable[[float], list[Event]]) -> None:
        try:
            for event in follow(self._clock()):
                self._hear(event)
                self._recorder.record(event)
        except Exception as error:
            _log.error("an outcome was lost: %s", type(error).__name__)


def _origin(url: str) -> tuple[str, str]:
    try:
        return urlsplit(url)[:2]
    except ValueError:
        return "", url
