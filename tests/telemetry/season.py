"""A season of believable events: played sessions in two languages, with answers from every rung at their usual pace."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lsp_complete.protocol.completion import Mode, Trigger
from lsp_complete.protocol.events import (
    Cancelled,
    Error,
    Event,
    Failure,
    Hex,
    Language,
    Reason,
    Record,
    Requested,
    Rung,
    Shown,
    Stage,
    Suppressed,
    Timings,
    Tokens,
    hashed,
)
from tests.completion.played_editor import NEOVIM_12, VS_CODE
from tests.completion.played_user import session
from tests.completion.test_properties import BRACES, PYTHON

MODELS = ("qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b")


def season(now_s: float, num_files: int = 2) -> list[Record]:
    events = [
        *_told(session(VS_CODE, [PYTHON] * num_files, seed=1)[0], Language.PYTHON, MODELS[0], "a"),
        *_told(session(NEOVIM_12, [BRACES] * num_files, seed=2)[0], Language.TYPESCRIPT, MODELS[1], "b"),
    ]
    return [Record(Hex("ab"), event, now_s - len(events) + number) for number, event in enumerate(events)]


def _told(events: list[Event], language: Language, model: str, prefix: str) -> Iterator[Event]:
    rng, num_shown = random.Random(3), 0
    for event in events:
        told = replace(event, request=Hex(prefix + event.request))
        if not isinstance(told, Shown):
            yield told
            continue
        num_shown += 1
        yield Requested(told.request, language, rng.choice(tuple(Mode)), Trigger.AUTOMATIC)
        yield replace(told, model=hashed(model), **_cost(rng, told))
        yield from _in_vain(rng, Hex(f"{prefix}f{num_shown:05x}"), language)


def _cost(rng: random.Random, shown: Shown) -> dict[str, Any]:
    if not shown.is_new or rng.random() < 0.3:
        rung = rng.choice((Rung.CACHED, Rung.FOLLOW_UP)) if shown.is_new else Rung.TYPED_THROUGH
        return {"rung": rung, "timings": Timings(total=rng.uniform(0.5, 4))}
    is_cold = rng.random() < 0.1
    total = rng.lognormvariate(6.3 if is_cold else 4.8, 0.3)
    generated = shown.num_characters // 3
    return {"timings": Timings(total=total), "tokens": Tokens(1000, 0 if is_cold else 980, generated, 0)}


def _in_vain(rng: random.Random, request: Hex, language: Language) -> Iterator[Event]:
    """Questions without a suggestion."""
    lot = rng.random()
    if lot < 0.5:
        yield Requested(request, language, Mode.LINE, Trigger.AUTOMATIC)
    if lot < 0.2:
        yield Suppressed(request, rng.choice((Reason.MID_WORD, Reason.AFTER_DELETION, Reason.BLANK)))
    elif lot < 0.48:
        yield Cancelled(request, rng.choice(tuple(Stage)), 60.0, Tokens(1000, 990, 4, 4))
    elif lot < 0.5:
        yield Error(request, Failure.UNREACHABLE, 3000.0)
