"""What a replay's answers cost, and for whom: of the simulated service by what it has served, of a real one by the
events of the server, which are then all there is."""

import re
from collections.abc import Sequence

from lsp_complete.evaluation.replay.editor import Buffer
from lsp_complete.evaluation.replay.ghost import Ghost
from lsp_complete.evaluation.replay.log import Log
from lsp_complete.evaluation.replay.oracle import Served
from lsp_complete.protocol.events import Cancelled, Shown, Suppressed

# Texts that a drawn one may come from, and how much of it has to be found there.
_NUM_RECENT, _NUM_COMPARED = 40, 16
_BEFORE, _NUM_BEFORE = 200, 60
# A prompt of which less was cached was computed, not read.
_WARM_SHARE = 0.5


def mark_used(served: Sequence[Served], buffer: Buffer, ghost: Ghost) -> None:
    """The answers that a drawn text stands in: blanks apart, since lines are indented anew."""
    before = _bare(buffer.text[max(0, buffer.cursor - _BEFORE) : buffer.cursor])[-_NUM_BEFORE:]
    shown = _bare(ghost.visible)[:_NUM_COMPARED]
    for one in served[-_NUM_RECENT:]:
        if not one.is_used and one.path == buffer.path and one.text:
            whole = _bare(one.before + one.text)
            at = whole.rfind(before)
            one.is_used = at >= 0 and whole.startswith(shown, at + len(before))


def settle(log: Log, served: Sequence[Served]) -> None:
    if not served:
        _settle_by_events(log)
    for one in served:
        log.num_prompts += not one.is_prefill
        log.num_cold += one.is_cold and not one.is_prefill
        log.prompt_tokens += one.usage.prompt_tokens
        log.cached_tokens += one.usage.cached_tokens
        log.generated_tokens += one.usage.completion_tokens
        num_lost = 0 if one.is_used else one.usage.completion_tokens
        if one.is_whole and not one.is_ahead:
            log.unshown_tokens += num_lost
        else:
            log.wasted_tokens += num_lost
            log.wasted_ahead_tokens += num_lost if one.is_ahead else 0
        if one.is_cold:
            log.cold.add(one.request_id)


def _settle_by_events(log: Log) -> None:
    for record in log.records:
        event = record.event
        if not isinstance(event, Shown | Suppressed | Cancelled) or not event.tokens.prompt:
            continue
        is_cold = event.tokens.cached < _WARM_SHARE * event.tokens.prompt
        log.num_prompts += 1
        log.num_cold += is_cold
        log.prompt_tokens += event.tokens.prompt
        log.cached_tokens += event.tokens.cached
        log.generated_tokens += event.tokens.generated
        log.wasted_tokens += event.tokens.generated if isinstance(event, Cancelled) else 0
        log.unshown_tokens += event.tokens.generated if isinstance(event, Suppressed) else 0
        if is_cold:
            log.cold.add(event.request)


def _bare(text: str) -> str:
    return re.sub(r"\s+", "", text)
