"""What an evaluation of retrieval found, in numbers, in lines for people and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from lsp_complete.evaluation.holes import Kind
from lsp_complete.evaluation.quantiles import quantile

# Model tokens of a prompt.
BUDGETS = (1024, 2048)
BOTH = tuple(Kind)


class Contestant(StrEnum):
    NONE = "none"
    BM25 = "bm25"
    JACCARD = "jaccard"
    OURS = "ours"


_COLUMNS = "{:10} {:>6} {:>10} {:>5}  " + "{:>8}" * len(Contestant) + "  {:>7}"
HEAD = _COLUMNS.format("tree", "tokens", "kind", "holes", *Contestant, "factor")


@dataclass(slots=True)
class Report:
    """`num` holes a kind; `hits` by contestant, kind and budget; `stable` has a share for each keystroke."""

    num: Counter[Kind] = field(default_factory=Counter)
    hits: Counter[tuple[Contestant, Kind, int]] = field(default_factory=Counter)
    stable: list[float] = field(default_factory=list)

    def share(self, contestant: Contestant, tokens: int = BUDGETS[-1], kinds: Sequence[Kind] = BOTH) -> float:
        total = sum(self.num[kind] for kind in kinds)
        return sum(self.hits[contestant, kind, tokens] for kind in kinds) / total if total else 0.0

    def factor(self, tokens: int = BUDGETS[-1], kinds: Sequence[Kind] = BOTH) -> float:
        """Ours against the better baseline; infinite where that one found nothing."""
        baseline = max(self.share(one, tokens, kinds) for one in Contestant if one is not Contestant.OURS)
        return self.share(Contestant.OURS, tokens, kinds) / baseline if baseline else float("inf")

    def stable_share(self, share: float) -> float:
        return quantile(self.stable, share) if self.stable else 1.0


def lines(name: str, report: Report) -> Iterator[str]:
    """Rows below `HEAD`, and one for the stability."""
    if not report.num.total():
        yield f"{name}: no line's end here needs what another file defines"
        return
    for tokens in BUDGETS:
        for kinds in (*((kind,) for kind in Kind), BOTH):
            shares = [f"{report.share(one, tokens, kinds):.3f}" for one in Contestant]
            num = sum(report.num[kind] for kind in kinds)
            kind = "both" if kinds == BOTH else kinds[0]
            yield _COLUMNS.format(name, tokens, kind, num, *shares, f"{report.factor(tokens, kinds):.2f}")
    yield f"{name:10} from key to key stays: median {report.stable_share(0.5):.1%}, p10 {report.stable_share(0.1):.1%}"


def as_json(reports: dict[str, Report]) -> dict[str, Any]:
    together = Report(stable=[share for report in reports.values() for share in report.stable])
    return {
        "trees": {name: _row(report) for name, report in reports.items()},
        "stable_share_median": round(together.stable_share(0.5), 4),
        "stable_share_p10": round(together.stable_share(0.1), 4),
    }


def _row(report: Report) -> dict[str, Any]:
    """Both kinds at the larger budget, then each for itself."""
    row: dict[str, Any] = {**_shares(report, BUDGETS[-1], BOTH), "num": {str(kind): report.num[kind] for kind in Kind}}
    return row | {f"{kind}_{tokens}": _shares(report, tokens, (kind,)) for tokens in BUDGETS for kind in Kind}


def _shares(report: Report, tokens: int, kinds: Sequence[Kind]) -> dict[str, float]:
    return {str(one): round(report.share(one, tokens, kinds), 4) for one in Contestant}
