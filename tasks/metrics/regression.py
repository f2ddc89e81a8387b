"""A straight line through pairs of values: by how much one changes with the other."""

from collections.abc import Sequence

from tasks.base import Frozen
from tasks.metrics.correlation import FEWEST
from tasks.metrics.variance import same

LEVEL = 0.95
"""Of the interval."""


class Line(Frozen):
    """The least-squares line; null with the reason where there is none."""

    n: int
    """Pairs."""
    slope: float | None = None
    """Change of the second value for each unit of the first."""
    low: float | None = None
    """Lower end of the slope's 95 % interval (Student's t)."""
    high: float | None = None
    p: float | None = None
    """Of a slope of 0, two-sided, 0-1."""
    reason: str | None = None


def line(pairs: Sequence[tuple[float, float]]) -> Line:
    """The line through the pairs, in any order. Its interval and p hold where the distances from
    the line are alike, independent and not far from normal."""
    n = len(pairs)
    if n < FEWEST:
        return Line(n=n, reason=f"fewer than {FEWEST} pairs of values")
    first, second = zip(*sorted(pairs), strict=True)
    if same(first) or same(second):
        return Line(n=n, reason="one of the two is the same everywhere")
    # Only here: it takes a second to import, and most commands draw no line.
    from scipy.stats import linregress, t

    found = linregress(first, second)
    reach = float(t.ppf((1 + LEVEL) / 2, n - 2) * found.stderr)
    slope = float(found.slope)
    return Line(n=n, slope=slope, low=slope - reach, high=slope + reach, p=float(found.pvalue))
