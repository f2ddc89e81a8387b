"""Correlations: do two figures put the same things in the same order, and do they rise together?"""

from collections.abc import Sequence
from math import isnan

from tasks.base import Frozen
from tasks.metrics.variance import same

FEWEST = 3
"""Pairs of values below which an order says nothing."""


class RankCorrelation(Frozen):
    """Of pairs of values. Each is -1 to 1; null with the reason where the order says nothing."""

    n: int
    spearman: float | None = None
    kendall: float | None = None
    """Tau-b, which allows for ties."""
    p: float | None = None
    """Of Kendall's tau, two-sided: exact for few pairs without ties, else approximate."""
    reason: str | None = None


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> RankCorrelation:
    """Spearman's rho and Kendall's tau-b of the pairs, in any order."""
    n = len(pairs)
    if n < FEWEST:
        return RankCorrelation(n=n, reason=f"fewer than {FEWEST} pairs of values")
    if any(isnan(value) for pair in pairs for value in pair):
        return RankCorrelation(n=n, reason="a value is no number")
    first, second = zip(*sorted(pairs), strict=True)
    if len({*first}) == 1 or len({*second}) == 1:
        return RankCorrelation(n=n, reason="one of the two is the same everywhere")
    # Only here: it takes a second to import, and most commands correlate nothing.
    from scipy.stats import kendalltau, spearmanr

    tau = kendalltau(first, second)
    return RankCorrelation(
        n=n,
        spearman=_bounded(spearmanr(first, second).statistic),
        kendall=_bounded(tau.statistic),
        p=None if isnan(tau.pvalue) else float(tau.pvalue),
    )


class Pearson(Frozen):
    """Pearson's correlation of pairs of values; null with the reason where it is not defined."""

    n: int
    """Pairs."""
    r: float | None = None
    """-1 to 1: 1 where the second value is a rising line over the first."""
    low: float | None = None
    """Lower end of its 95 % interval (Fisher); null for three pairs, where it has no bound."""
    high: float | None = None
    p: float | None = None
    """Of no correlation, two-sided, 0-1."""
    reason: str | None = None


def pearson(pairs: Sequence[tuple[float, float]]) -> Pearson:
    """Pearson's r of the pairs, in any order."""
    n = len(pairs)
    if n < FEWEST:
        return Pearson(n=n, reason=f"fewer than {FEWEST} pairs of values")
    first, second = zip(*sorted(pairs), strict=True)
    if same(first) or same(second):
        return Pearson(n=n, reason="one of the two is the same everywhere")
    # Only here: it takes a second to import, and most commands correlate nothing.
    from scipy.stats import pearsonr

    found = pearsonr(first, second)
    ends = found.confidence_interval(0.95) if n > FEWEST else (float("nan"),) * 2
    low, high = (_bounded(end) for end in ends)
    return Pearson(n=n, r=_bounded(found.statistic), low=low, high=high, p=float(found.pvalue))


def _bounded(value: float) -> float | None:
    """Without what rounding adds beyond the ends; None for what is no number."""
    return None if isnan(value) else max(-1.0, min(1.0, float(value)))
