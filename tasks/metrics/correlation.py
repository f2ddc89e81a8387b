"""Correlations of two figures by rank (Spearman, Kendall) and by value (Pearson), and by how much
one changes with the other (linear regression)."""

from collections.abc import Sequence
from math import isnan

from tasks.base import Frozen
from tasks.metrics.variance import are_equal

MIN_PAIRS = 3
"""Fewer pairs have no meaningful order."""
LEVEL = 0.95
"""Confidence level of intervals."""


class RankCorrelation(Frozen):
    """Rank correlations of pairs of values, each -1 to 1; null, with the reason, where the order
    says nothing."""

    n: int
    spearman: float | None = None
    kendall: float | None = None
    """Tau-b, which allows for ties."""
    p: float | None = None
    """Two-sided p of Kendall's tau: exact for few pairs without ties, else approximate."""
    reason: str | None = None


def rank_correlation(pairs: Sequence[tuple[float, float]]) -> RankCorrelation:
    """Return Spearman's rho and Kendall's tau-b of the pairs, in any order."""
    n = len(pairs)
    if n < MIN_PAIRS:
        return RankCorrelation(n=n, reason=f"fewer than {MIN_PAIRS} pairs of values")
    if any(isnan(value) for pair in pairs for value in pair):
        return RankCorrelation(n=n, reason="a value is no number")
    first, second = zip(*sorted(pairs), strict=True)
    if len({*first}) == 1 or len({*second}) == 1:
        return RankCorrelation(n=n, reason="one of the two is the same everywhere")
    # SciPy takes a second to import, and most commands correlate nothing.
    from scipy.stats import kendalltau, spearmanr

    tau = kendalltau(first, second)
    return RankCorrelation(
        n=n,
        spearman=_clamp(spearmanr(first, second).statistic),
        kendall=_clamp(tau.statistic),
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
    """Two-sided p of no correlation, 0-1."""
    reason: str | None = None


def pearson(pairs: Sequence[tuple[float, float]]) -> Pearson:
    """Return Pearson's r of the pairs, in any order."""
    n = len(pairs)
    if reason := _explain_undefined(pairs):
        return Pearson(n=n, reason=reason)
    first, second = zip(*sorted(pairs), strict=True)
    # SciPy takes a second to import, and most commands correlate nothing.
    from scipy.stats import pearsonr

    found = pearsonr(first, second)
    ends = found.confidence_interval(LEVEL) if n > MIN_PAIRS else (float("nan"),) * 2
    low, high = (_clamp(end) for end in ends)
    return Pearson(n=n, r=_clamp(found.statistic), low=low, high=high, p=float(found.pvalue))


class RegressionLine(Frozen):
    """The least-squares line; null, with the reason, where there is none."""

    n: int
    """Pairs."""
    slope: float | None = None
    """Change of the second value per unit of the first."""
    low: float | None = None
    """Lower end of the slope's 95 % interval (Student's t)."""
    high: float | None = None
    p: float | None = None
    """Two-sided p of a slope of 0, 0-1."""
    reason: str | None = None


def fit_line(pairs: Sequence[tuple[float, float]]) -> RegressionLine:
    """Fit a line to the pairs, in any order. Its interval and p hold where the residuals are
    homoscedastic, independent and nearly normal."""
    n = len(pairs)
    if reason := _explain_undefined(pairs):
        return RegressionLine(n=n, reason=reason)
    first, second = zip(*sorted(pairs), strict=True)
    # SciPy takes a second to import, and most commands fit no line.
    from scipy.stats import linregress, t

    found = linregress(first, second)
    reach = float(t.ppf((1 + LEVEL) / 2, n - 2) * found.stderr)
    slope = float(found.slope)
    return RegressionLine(
        n=n, slope=slope, low=slope - reach, high=slope + reach, p=float(found.pvalue)
    )


def _explain_undefined(pairs: Sequence[tuple[float, float]]) -> str | None:
    """Explain why pairs have no correlation by value and no line; None if they have."""
    if len(pairs) < MIN_PAIRS:
        return f"fewer than {MIN_PAIRS} pairs of values"
    if any(are_equal(values) for values in zip(*sorted(pairs), strict=True)):
        return "one of the two is the same everywhere"
    return None


def _clamp(value: float) -> float | None:
    """Clamp to -1..1, which rounding may exceed; None for NaN."""
    return None if isnan(value) else max(-1.0, min(1.0, float(value)))
