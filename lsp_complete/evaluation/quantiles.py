"""Quantiles of what was measured: always one of the values, by its place in their order."""

from collections.abc import Iterable


def quantile(values: Iterable[float], share: float) -> float:
    """0 where there are none."""
    ordered = sorted(values)
    return ordered[round(share * (len(ordered) - 1))] if ordered else 0.0
