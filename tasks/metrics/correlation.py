"""Correlations of two figures by rank (Spearman, Kendall) and by value (Pearson), by how much one
changes with the other (linear regression), and analysis of variance: do groups differ more than the
values within them?"""

from collections.abc import Mapping, Sequence
from math import fsum, isnan
from statistics import fmean

from tasks.base import Frozen

MIN_PAIRS = 3
"""Fewer pairs have no meaningful order."""
LEVEL = 0.95
"""Confidence level of intervals."""
ROUNDING = 1e-12
"""Relative difference below which values count as equal, to ignore rounding errors of sums."""


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


class OneWayAnova(Frozen):
    """A one-way analysis of variance. Undefined figures are null, with the reason."""

    n: int
    """Number of values."""
    n_groups: int
    n_single: int
    """Groups of one value. They add nothing to the variance within groups and all of their
    deviation to the variance between groups: with many of them eta squared is high by itself."""
    f: float | None = None
    """Mean square between groups over mean square within groups, 0 or more."""
    p: float | None = None
    """p of F, 0-1: how often groups that do not differ would seem to differ this much."""
    eta_squared: float | None = None
    """Sum of squares between groups over the total sum of squares, 0-1."""
    eta_squared_by_chance: float | None = None
    """Mean eta squared if values were assigned to groups at random: (groups - 1) / (values - 1),
    0-1. The baseline for reading eta squared."""
    reason: str | None = None

    @property
    def df_between(self) -> int:
        """Degrees of freedom between groups."""
        return max(self.n_groups - 1, 0)

    @property
    def df_within(self) -> int:
        """Degrees of freedom within groups."""
        return self.n - self.n_groups


def one_way_anova(groups: Mapping[str, Sequence[float]]) -> OneWayAnova:
    """Run an F test and compute eta squared (SSB / SST) over groups of values, in any order.

    Source: Wiki Live Challenge, which tests an agent's deviations over categories. Groups of one
    value are kept, empty groups ignored.
    """
    valued = [sorted(groups[name]) for name in sorted(groups) if groups[name]]
    every = sorted(value for group in valued for value in group)
    n_single = sum(len(group) == 1 for group in valued)
    found = OneWayAnova(n=len(every), n_groups=len(valued), n_single=n_single)
    if found.n_groups < 2:
        return _with_reason(found, "fewer than two groups have a value")
    if not found.df_within:
        return _with_reason(found, "no group has two values, so none has a spread")
    if are_equal(every):
        return _with_reason(found, "all values are the same")
    eta = {"eta_squared_by_chance": found.df_between / (found.n - 1)}
    if all(are_equal(group) for group in valued):
        reason = "the values of every group are the same: F has no bound"
        return found.model_copy(update=eta | {"eta_squared": 1.0, "reason": reason})
    # SciPy takes a second to import, and most commands test nothing.
    from scipy.stats import f_oneway

    tested = f_oneway(*valued)
    f, p = float(tested.statistic), float(tested.pvalue)
    if f < 0:  # equal means: SciPy's difference of two sums may end just below 0, with p NaN
        f, p = 0.0, 1.0
    overall = fmean(every)
    between = fsum(len(group) * (fmean(group) - overall) ** 2 for group in valued)
    total = fsum((value - overall) ** 2 for value in every)
    eta["eta_squared"] = min(1.0, between / total)
    return found.model_copy(update=eta | {"f": f, "p": p})


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for the false discovery rate (Benjamini and Hochberg). Null stays null and
    is not counted."""
    present = [p for p in p_values if p is not None]
    if not present:
        return list(p_values)
    from scipy.stats import false_discovery_control

    raised = iter(false_discovery_control(present).tolist())
    return [None if p is None else next(raised) for p in p_values]


def are_equal(values: Sequence[float]) -> bool:
    """Whether all values are equal, except for rounding errors."""
    least, most = min(values), max(values)
    return most - least <= ROUNDING * max(abs(least), abs(most))


def _with_reason(found: OneWayAnova, reason: str) -> OneWayAnova:
    return found.model_copy(update={"reason": reason})
