"""Linear regression: by how much one value changes with another."""

from collections.abc import Sequence

from tasks.base import Frozen
from tasks.metrics.correlation import MIN_PAIRS
from tasks.metrics.variance import are_equal

LEVEL = 0.95
"""Confidence level of the slope's interval."""


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
    if n < MIN_PAIRS:
        return RegressionLine(n=n, reason=f"fewer than {MIN_PAIRS} pairs of values")
    first, second = zip(*sorted(pairs), strict=True)
    if are_equal(first) or are_equal(second):
        return RegressionLine(n=n, reason="one of the two is the same everywhere")
    # SciPy takes a second to import, and most commands fit no line.
    from scipy.stats import linregress, t

    found = linregress(first, second)
    reach = float(t.ppf((1 + LEVEL) / 2, n - 2) * found.stderr)
    slope = float(found.slope)
    return RegressionLine(
        n=n, slope=slope, low=slope - reach, high=slope + reach, p=float(found.pvalue)
    )
