"""Analysis of variance: do groups differ more than the values within them?"""

from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean

from tasks.base import Frozen

ROUNDING = 1e-12
"""Relative difference below which values count as equal, to ignore rounding errors of sums."""


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
    found = OneWayAnova(
        n=len(every), n_groups=len(valued), n_single=sum(len(group) == 1 for group in valued)
    )
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
    eta["eta_squared"] = _eta_squared(valued, every)
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


def _eta_squared(groups: Sequence[Sequence[float]], every: Sequence[float]) -> float:
    overall = fmean(every)
    between = fsum(len(group) * (fmean(group) - overall) ** 2 for group in groups)
    total = fsum((value - overall) ** 2 for value in every)
    return min(1.0, between / total)
