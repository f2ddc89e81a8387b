"""Analysis of variance: do groups differ by more than their members do among themselves?"""

from collections.abc import Mapping, Sequence
from math import fsum

from tasks.base import Frozen
from tasks.metrics.shares import mean

ROUNDING = 1e-12
"""Values that differ by a smaller share of themselves than this are the same: what is left of
equal numbers after different sums."""


class OneWay(Frozen):
    """A one-way analysis of variance. Figures are null, with the reason, where they are not
    defined."""

    n: int
    """Values in all."""
    n_groups: int
    n_single: int
    """Groups of one value. They say nothing of the spread within groups, and all that sets theirs
    apart counts as a difference between groups: with many of them, eta squared is high by itself.
    """
    f: float | None = None
    """Mean square between groups over that within, 0 or more."""
    p: float | None = None
    """Of F, 0-1: how often groups that do not differ would seem to differ so much."""
    eta_squared: float | None = None
    """Sum of squares between groups over that in all, 0-1."""
    eta_squared_by_chance: float | None = None
    """What eta squared is on average if values are dealt out to the groups at random:
    (groups - 1) / (values - 1), 0-1. Without it eta squared cannot be read."""
    reason: str | None = None

    @property
    def df_between(self) -> int:
        """Degrees of freedom between groups."""
        return max(self.n_groups - 1, 0)

    @property
    def df_within(self) -> int:
        """Degrees of freedom within groups."""
        return self.n - self.n_groups


def one_way(groups: Mapping[str, Sequence[float]]) -> OneWay:
    """F test and eta squared over groups of values, in any order.

    Source: Wiki Live Challenge, which tests an agent's deviations over categories (eta squared is
    SSB / SST). Groups of one value are kept; empty ones are none.
    """
    valued = [sorted(groups[name]) for name in sorted(groups) if groups[name]]
    every = sorted(value for group in valued for value in group)
    found = OneWay(
        n=len(every), n_groups=len(valued), n_single=sum(len(group) == 1 for group in valued)
    )
    if found.n_groups < 2:
        return _undefined(found, "fewer than two groups have a value")
    if not found.df_within:
        return _undefined(found, "no group has two values, so none has a spread")
    if same(every):
        return _undefined(found, "all values are the same")
    eta = {"eta_squared_by_chance": found.df_between / (found.n - 1)}
    if all(same(group) for group in valued):
        reason = "the values of every group are the same: F has no bound"
        return found.model_copy(update=eta | {"eta_squared": 1.0, "reason": reason})
    # Only here: it takes a second to import, and most commands test nothing.
    from scipy.stats import f_oneway

    tested = f_oneway(*valued)
    return found.model_copy(
        update=eta
        | {"f": float(tested.statistic), "p": float(tested.pvalue),
           "eta_squared": _eta_squared(valued, every)}
    )  # fmt: skip


def corrected(p_values: Sequence[float | None]) -> list[float | None]:
    """The p-values, each as large as the share of false findings (0-1) would be if it and all
    smaller ones were taken for findings (Benjamini and Hochberg). Null stays null and is not
    counted."""
    present = [p for p in p_values if p is not None]
    if not present:
        return list(p_values)
    from scipy.stats import false_discovery_control

    raised = iter(false_discovery_control(present).tolist())
    return [None if p is None else next(raised) for p in p_values]


def same(values: Sequence[float]) -> bool:
    """Whether all values are one, but for rounding."""
    least, most = min(values), max(values)
    return most - least <= ROUNDING * max(abs(least), abs(most))


def _undefined(found: OneWay, reason: str) -> OneWay:
    return found.model_copy(update={"reason": reason})


def _eta_squared(groups: Sequence[Sequence[float]], every: Sequence[float]) -> float:
    overall = mean(every)
    between = fsum(len(group) * _squared(mean(group), overall) for group in groups)
    total = fsum(_squared(value, overall) for value in every)
    return min(1.0, between / total)


def _squared(value: float | None, other: float | None) -> float:
    assert value is not None  # the mean of a group that has values
    assert other is not None
    return (value - other) ** 2
