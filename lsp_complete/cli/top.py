"""`lsp-complete top`: a completion service at work, from its metrics, redrawn in place."""

import asyncio
import contextlib
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.failure import fail
from lsp_complete.config.extras import how_to_install

if TYPE_CHECKING:
    from rich.console import Group

    from lsp_complete.cli.rates import Look, Rates
    from lsp_complete.client.completer import HttpCompleter
    from lsp_complete.config.settings import Settings

# What "now" is: long enough for a percentile of a few users, short enough to see what has changed.
_WINDOW_S = 60.0
_NOW = ("in_flight", "waiting", "sessions", "held_tokens", "degradation_level")
_NONE = "–"


def run(
    every: Annotated[float, typer.Option(min=0.2, metavar="SECONDS", help="How often to look.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Look once, and print it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Look once, and print JSON.")] = False,
) -> None:
    """A completion service at work, redrawn in place. Reuse of prompts, first text, cancels, waste, evictions."""
    from lsp_complete.completion.answer import detail_of
    from lsp_complete.protocol.errors import CompletionError

    if find_spec("prometheus_client") is None:
        fail(f"metrics cannot be read here: {how_to_install('serve')}")
    try:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_watch(loaded(), every, once or as_json or not sys.stdout.isatty(), as_json))
    except CompletionError as error:
        fail(detail_of(error))


async def _watch(settings: "Settings", every_s: float, is_once: bool, as_json: bool) -> None:
    service = _service(settings)
    try:
        if is_once:
            _print_once(await _look(service), as_json)
        else:
            await _redraw(service, every_s)
    finally:
        await service.aclose()


def _print_once(look: "Look", as_json: bool) -> None:
    from rich.console import Console

    from lsp_complete.cli.rates import Look, rates

    total = rates(Look(look.value("start_time_seconds")), look)
    if as_json:
        print(json.dumps({**{name: look.value(name) for name in _NOW}, "since_start": asdict(total)}))
    else:
        Console(highlight=False, width=None if sys.stdout.isatty() else 100).print(_view(look, {"since start": total}))


async def _redraw(service: "HttpCompleter", every_s: float) -> None:
    """A service that is gone is looked for until it is back."""
    from rich.live import Live

    from lsp_complete.cli.rates import Look, rates
    from lsp_complete.protocol.errors import CompletionError

    looks: deque[Look] = deque([await _look(service)])
    with Live(auto_refresh=False, screen=True) as live:
        while True:
            now = looks[-1]
            columns = {f"last {_WINDOW_S:.0f} s": rates(looks[0], now)}
            columns["since start"] = rates(Look(now.value("start_time_seconds")), now)
            live.update(_view(now, columns), refresh=True)
            await asyncio.sleep(every_s)
            try:
                looks.append(await _look(service))
            except CompletionError as error:
                live.update(f"{error} — looking again", refresh=True)
            while looks[-1].at_s - looks[0].at_s > _WINDOW_S and len(looks) > 2:
                looks.popleft()


def _service(settings: "Settings") -> "HttpCompleter":
    """The one that the settings name, or this machine's own, which is not started for being looked at."""
    from lsp_complete.client.completer import HttpCompleter
    from lsp_complete.config.paths import runtime_folder
    from lsp_complete.config.runtime import read_runtime
    from lsp_complete.protocol.errors import Unavailable

    if settings.url:
        return HttpCompleter(settings.url, settings.credential, ca_file=settings.ca_file or None)
    runtime = read_runtime(runtime_folder())
    if runtime is None:
        raise Unavailable("no local service is running: open an editor, or set `url`")
    return HttpCompleter(runtime.url, runtime.credential)


async def _look(service: "HttpCompleter") -> "Look":
    from lsp_complete.cli.rates import read
    from lsp_complete.protocol.errors import BadAnswer

    try:
        return read(await service.metrics(), time.time())
    except ValueError:
        raise BadAnswer("the service's metrics cannot be read") from None


def _view(look: "Look", columns: "Mapping[str, Rates]") -> "Group":
    from rich.console import Group
    from rich.table import Table

    table = Table("", *columns, box=None, pad_edge=False)
    for name, cell in _ROWS.items():
        table.add_row(name, *map(cell, columns.values()))
    return Group("   ".join(f"{name.replace('_', ' ')} {look.value(name):,.0f}" for name in _NOW), "", table)


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1%}"


def _number(value: float | None, unit: str = "") -> str:
    return _NONE if value is None else f"{value:,.1f}{unit}"


def _ms(usual: float | None, late: float | None) -> str:
    return _NONE if usual is None or late is None else f"{usual:,.0f} ms, p95 {late:,.0f} ms"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or _NONE


_ROWS: "dict[str, Callable[[Rates], str]]" = {
    "prompt tokens reused": lambda it: _share(it.reuse_share),
    "first text, warm": lambda it: _ms(it.warm_first_text_ms, it.late_warm_first_text_ms),
    "first text, cold": lambda it: _ms(it.cold_first_text_ms, it.late_cold_first_text_ms),
    "wait for a slot, p95": lambda it: _number(it.late_queue_ms, " ms"),
    "decoding": lambda it: _number(it.decode_tokens_per_s, " tokens/s"),
    "requests": lambda it: _number(it.requests_per_s, " a second"),
    "ended": lambda it: _counts(it.outcomes),
    "cancelled at": lambda it: _counts(it.cancelled),
    "kept back": lambda it: _counts(it.filtered),
    "generated for nobody": lambda it: _share(it.wasted_share),
    "session found its prefix": lambda it: _share(it.affinity_share),
    "whole answer was known": lambda it: _share(it.response_cache_share),
    "drafts accepted": lambda it: _share(it.accepted_draft_share),
    "evictions": lambda it: _number(it.evictions_per_min, " a minute"),
    "unused before eviction": lambda it: _number(it.evicted_age_s, " s"),
}
