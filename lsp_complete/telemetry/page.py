"""Figures as one HTML file: no script, nothing loaded from anywhere, in light and in dark."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

from lsp_complete.telemetry.reports import Figures, Latency

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --dim: #62707f; --line: #dde3ea; --back: #f6f8fa; --card: #fff;
  --bar: #3b7dd8; --second: #e0a030; --track: #e9eef4 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ef; --dim: #94a1b0; --line: #2e3844; --back: #12171d;
  --card: #1a2129; --bar: #5b9bf0; --second: #e8b452; --track: #27303a } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.2rem 4rem; background: var(--back); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.15rem; margin: 2.5rem 0 .8rem }
h3 { font-size: .8rem; margin: 0 0 .7rem; color: var(--dim); font-weight: 600; letter-spacing: .04em }
.dim { color: var(--dim) }
.grid { display: grid; gap: .9rem; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)) }
.tiles { display: grid; gap: .9rem; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); margin-bottom: .9rem }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem }
.tile b { display: block; font-size: 1.6rem; line-height: 1.25; font-weight: 650 } .tile { color: var(--dim) }
.tile b { color: var(--ink) } table { border-collapse: collapse; width: 100% }
td, th { padding: .22rem 0; text-align: left; font-weight: 400 }
td.n, th.n { text-align: right; white-space: nowrap; padding-left: .7rem }
th { color: var(--dim); font-size: .85rem } td.name { padding-right: .9rem; white-space: nowrap }
td.plot { width: 50%; padding-right: .9rem }
.track { background: var(--track); border-radius: 4px; height: .75rem; overflow: hidden }
.fill { background: var(--bar); border-radius: 4px; height: 100% } .second .fill { background: var(--second) }
"""


def page(report: Mapping[str, Figures], title: str, period: str) -> str:
    """`report`: figures of each group, by its name."""
    sections = "".join(_section(name, figures) for name, figures in report.items())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f'<h1>{escape(title)}</h1><div class="dim">{escape(period)}</div>{sections}</body></html>\n'
    )


def funnel(figures: Figures) -> list[tuple[str, int]]:
    return [
        ("questions", figures.num_asked),
        ("shown", figures.num_shown),
        ("typed through", figures.num_typed_through),
        ("accepted in part", figures.num_in_part),
        ("accepted whole", figures.num_whole),
        ("undone at once", figures.num_undone),
    ]


def _section(name: str, figures: Figures) -> str:
    cards = [
        _card("WHAT BECAME OF THEM", _bars(funnel(figures))),
        _card("STILL THERE, OF WHAT WAS ACCEPTED", _bars(list(figures.retained.items()), _percent, 1.0)),
        _card("FROM THE QUESTION TO THE ANSWER", _latencies(figures.latency)),
        _card("WHERE ANSWERS CAME FROM", _bars(list(figures.rungs.items()))),
        _card("WHY THEY WERE NOT TAKEN", _bars(list(figures.rejected.items())), "second"),
        _card("WHY THERE WAS NONE", _bars([*figures.suppressed.items(), *figures.errors.items()]), "second"),
        _card("GIVEN UP ON THE WAY", _bars(list(figures.cancelled.items())), "second"),
        _card("MODEL TOKENS", _bars(_token_rows(figures))),
    ]
    heading = "" if name == "all" else f"<h2>{escape(name)}</h2>"
    return f'{heading or "<br>"}<div class="tiles">{_tiles(figures)}</div><div class="grid">{"".join(cards)}</div>'


def _tiles(figures: Figures) -> str:
    tiles = [
        (f"{figures.num_shown:,}", "suggestions shown"),
        (_percent(figures.acceptance), "accepted"),
        (_percent(figures.retained_per_accepted), "of accepted characters kept"),
        (_percent(figures.retained_per_offered), "of offered characters kept"),
        (_percent(figures.local_share), "answered without the network"),
        (_percent(figures.wasted_share), "of generated tokens wasted"),
    ]
    return "".join(f'<div class="card tile"><b>{value}</b>{label}</div>' for value, label in tiles)


def _token_rows(figures: Figures) -> list[tuple[str, int]]:
    tokens = figures.tokens
    rows = [("in prompts", tokens.prompt), ("of them cached", tokens.cached)]
    return [*rows, ("generated", tokens.generated), ("of them wasted", tokens.wasted)]


def _card(title: str, body: str, kind: str = "") -> str:
    return f'<div class="card {kind}"><h3>{title}</h3>{body}</div>' if body else ""


def _bars(rows: Sequence[tuple[str, float]], write: Callable[[float], str] | None = None, full: float = 0.0) -> str:
    """A table with a bar a row; nothing where all is 0."""
    full = full or max((value for _, value in rows), default=0.0)
    if not full or not any(value for _, value in rows):
        return ""
    write = write or _count
    return _table(
        f'<tr><td class="name">{escape(name)}</td><td class="plot"><div class="track"><div class="fill" '
        f'style="width:{100 * value / full:.1f}%"></div></div></td><td class="n">{write(value)}</td></tr>'
        for name, value in rows
    )


def _latencies(latency: Mapping[str, Latency]) -> str:
    if not latency:
        return ""
    head = "".join(f'<th class="n">{name}</th>' for name in ("p50", "p90", "p99", "answers"))
    rows = (
        f'<tr><td class="name">{name}</td>'
        + "".join(f'<td class="n">{_ms(value)}</td>' for value in (one.p50_ms, one.p90_ms, one.p99_ms))
        + f'<td class="n">{one.num:,}</td></tr>'
        for name, one in latency.items()
    )
    return _table([f"<tr><th></th>{head}</tr>", *rows])


def _table(rows: Iterable[str]) -> str:
    return f"<table>{''.join(rows)}</table>"


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _ms(value: float) -> str:
    return f"{value:,.0f} ms"
