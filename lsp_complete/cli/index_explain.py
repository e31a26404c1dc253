"""`lsp-complete index explain FILE:LINE:COL`: what the model would see at a place, and why. Asks no model."""

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from lsp_complete.cli.configuration import loaded
from lsp_complete.cli.failure import fail, warn

if TYPE_CHECKING:
    from lsp_complete.completion.outgoing import Outgoing
    from lsp_complete.config.settings import Settings
    from lsp_complete.context.explain import Explanation
    from lsp_complete.text.document import Document


def run(
    place: Annotated[str, typer.Argument(metavar="FILE:LINE:COL", help="Where: line and column count from 1.")],
    root: Annotated[
        Path | None,
        typer.Option("--root", help="The indexed folder; else the repository.", exists=True, file_okay=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with the texts.")] = False,
) -> None:
    """What the model would see at a place. What is found by whom, what is packed, what may not leave."""
    from lsp_complete.cli.place import place_of
    from lsp_complete.completion.exclusions import exclusions_of
    from lsp_complete.context.policy import Policy

    settings = loaded()
    document, offset = place_of(place, root)
    folder = Path(document.file.removesuffix(document.path))
    policy = Policy([folder], exclusions_of(settings))
    for problem in policy.problems:
        warn(problem)
    for verdict in (policy.admits(document), policy.admits_at(document, offset)):
        if not verdict.allowed:
            _refuse(document, verdict.reason.value, as_json)
    report = _explained(document, offset, folder, settings, policy)
    print(json.dumps(report, ensure_ascii=False)) if as_json else _print_report(report)


def _refuse(document: "Document", reason: str, as_json: bool) -> NoReturn:
    """Ends the process: nothing of the file would leave."""
    if as_json:
        print(json.dumps({"path": document.path, "denied": reason}, ensure_ascii=False))
    fail(f"nothing of {document.path} would be sent: {reason}")


def _explained(document: "Document", offset: int, folder: Path, settings: "Settings", policy: Any) -> dict[str, Any]:
    from lsp_complete.completion.mode import choose_mode
    from lsp_complete.completion.outgoing import outgoing
    from lsp_complete.config.paths import index_folder
    from lsp_complete.context.explain import explain
    from lsp_complete.context.index import Index

    with closing(Index.open(folder, index_folder(), policy, may_write=False)) as index:
        state = index.status().state.value
        explanation = explain(document, offset, index, policy)
    mix = explanation.mix if settings.index and settings.snippet_tokens else type(explanation.mix)()
    out = outgoing(document, offset, mix, settings, policy)
    return {
        "path": document.path,
        "language": document.language,
        "mode": choose_mode(document, offset).value,
        "denied": "",
        "index": state if settings.index else "off",
        "retrievers": {
            name: {"took_ms": one.took_ms, "late": one.is_late, "failure": one.failure, "num_found": len(one.snippets)}
            for name, one in explanation.rankings.items()
        },
        "snippets": _snippet_rows(explanation, out),
        "prompt": _layout(out),
    }


def _snippet_rows(explanation: "Explanation", out: "Outgoing") -> list[dict[str, Any]]:
    """All that was found, best first. `rank` has the place in each retriever's list; text only of what passed."""
    passed = {one.key: one for one in explanation.mix.snippets}
    packed = {one.key: place for place, one in enumerate(out.prompt.packed, start=1)}
    rows: dict[str, dict[str, Any]] = {}
    for name, ranking in explanation.rankings.items():
        for rank, found in enumerate(ranking.snippets, start=1):
            shown = passed.get(found.key)
            row = {
                "path": found.path,
                "reason": found.reason,
                "rank": {},
                "score": round(explanation.mix.scores.get(found.key, 0.0), 5),
                "packed": packed.get(found.key, 0),
                "denied": found.key in explanation.denied,
                "num_redacted": shown.num_redacted if shown else 0,
                "num_characters": len(found.text),
                "text": shown.text if shown else "",
            }
            rows.setdefault(found.key, row)["rank"][name] = rank
    return sorted(rows.values(), key=lambda row: -row["score"])


def _layout(out: "Outgoing") -> dict[str, Any]:
    """In the order of the prompt. Tokens are estimated, as the budget is."""
    from lsp_complete.prompt.assemble import CHARACTERS_PER_TOKEN

    window, packed = out.prompt.window, out.prompt.packed
    sizes = {"snippets": sum(one.size for one in packed), "suffix": len(window.suffix), "prefix": len(window.prefix)}
    tokens = {f"{name}_tokens": round(size / CHARACTERS_PER_TOKEN) for name, size in sizes.items()}
    return {**tokens, "num_redacted": out.num_redacted, "suffix": window.suffix, "prefix": window.prefix}


def _print_report(report: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    from lsp_complete.cli.tables import printed

    table = Table(box=None, pad_edge=False)
    for name in ("packed", "score", "found by", "file", "why", "characters"):
        table.add_column(name, overflow="fold")
    for row in report["snippets"]:
        place = "denied" if row["denied"] else str(row["packed"] or "")
        found_by = ", ".join(f"{name} {rank}" for name, rank in row["rank"].items())
        size = f"{row['num_characters']:,}" + (f", {row['num_redacted']} covered" if row["num_redacted"] else "")
        table.add_row(*map(Text, (place, f"{row['score']:.4f}", found_by, row["path"], row["reason"], size)))
    printed(table, *(Text(line, style="dim") for line in _lines(report)))


def _lines(report: dict[str, Any]) -> list[str]:
    prompt = report["prompt"]
    took = [
        f"{name} {one['took_ms']} ms{' (late: dropped)' if one['late'] else ''}{one['failure'] and ' (failed)'}"
        for name, one in report["retrievers"].items()
    ]
    sizes = ", ".join(f"{name} {prompt[f'{name}_tokens']:,}" for name in ("snippets", "suffix", "prefix"))
    covered = f"; {prompt['num_redacted']} credentials covered" if prompt["num_redacted"] else ""
    hint = ["the index is empty; build it with: lsp-complete index rebuild"] if report["index"] == "empty" else []
    return [
        *hint,
        f"{report['mode']}; index: {report['index']}; {', '.join(took)}",
        f"prompt, about, in tokens: {sizes}{covered}. Open documents and edits count in an editor alone.",
    ]
