"""95 % bootstrap intervals: how much a figure would vary with other articles.

Whole clusters (articles) are resampled, with all that belongs to them. The interval is the
bias-corrected and accelerated bootstrap (Efron 1987), slightly widened because a sample of n
articles varies less than its population (Hesterberg 2015, "What Teachers Should Know About the
Bootstrap", section 4.3).

SciPy's `bootstrap` draws anew for each figure, and counts n x n clusters to leave each one out.
Here an edition's articles are drawn once for all figures, whoever lacks some of them, and sums
without a cluster are all sums minus its own. Where nothing is missing, the intervals are SciPy's.

The draws depend only on the seed and on how many articles the edition has, never on who has reports
of them: no agent's interval hangs on another agent. An article that an agent lacks weighs nothing
in its figures.

How often they hold the true figure in simulated editions: docs/explanation/validity.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Octets = npt.NDArray[np.uint8]

SEED = 20_250_311
"""Seed of every draw; stored with the figures."""
RESAMPLES = 5_000
SWAPS = 9_999
"""Number of swaps to draw if there are more in total."""
MAX_WEIGHTS_IN_MEMORY = 4_000_000
"""Weights of clusters, or sums by them, held as floating-point numbers at a time. No figure depends
on it."""


@dataclass(frozen=True)
class Draws:
    """Resamples of so many clusters, and swaps of two agents within them.

    Kept as octets and bits: 6 kB a cluster, less than an article's scores take.
    """

    n_clusters: int
    seed: int = SEED
    resamples: int = RESAMPLES
    swaps: int = SWAPS

    @cached_property
    def _counts(self) -> Octets:
        """How often each cluster was drawn, a row per resample: at most 255 times, as only more
        clusters than that could be drawn more often, and then none is."""
        random = np.random.default_rng(self.seed)
        found = np.empty((self.resamples, self.n_clusters), np.uint8)
        for rows in self._blocks(self.resamples, self.n_clusters):
            drawn = random.integers(0, self.n_clusters, found[rows].shape)
            places = drawn + self.n_clusters * np.arange(len(drawn))[:, None]
            counted = np.bincount(places.ravel(), minlength=drawn.size)
            found[rows] = counted.reshape(drawn.shape)
        return found

    @cached_property
    def _swapped(self) -> Octets:
        """Whether the agents are swapped within each cluster, a row per swap, as bits."""
        n_octets = -(-self.n_clusters // 8)
        drawn = np.random.default_rng(self.seed).bytes(self.swaps * n_octets)
        return np.frombuffer(drawn, np.uint8).reshape(self.swaps, n_octets)

    def count_blocks(self, clusters: Mask, n_sums: int = 1) -> Iterator[Array]:
        """Yield how often these clusters were drawn: a row per resample, a column per cluster.

        n_sums: Sums that a resample is used for; they are held, too.
        """
        for rows in self._blocks(self.resamples, max(int(clusters.sum()), n_sums)):
            yield _select(self._counts[rows], clusters)

    def swap_blocks(self, clusters: Mask, n_sums: int = 1) -> Iterator[Array]:
        """Yield in which of these clusters the agents are swapped (1) or not (0), a row per swap:
        every way if `is_exact`, else drawn ones. n_sums: as for `count_blocks`."""
        n = int(clusters.sum())
        if self.is_exact(n):
            yield (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)
            return
        for rows in self._blocks(self.swaps, max(n, n_sums)):
            bits = np.unpackbits(self._swapped[rows], axis=1, count=self.n_clusters)
            yield _select(bits, clusters)

    def is_exact(self, n_clusters: int) -> bool:
        """Whether there are no more ways to swap so many clusters than would be drawn."""
        return 1 << n_clusters <= self.swaps

    @staticmethod
    def _blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
        size = max(1, MAX_WEIGHTS_IN_MEMORY // max(1, n_columns))
        for start in range(0, n_rows, size):
            yield slice(start, min(start + size, n_rows))


def _select(octets: Octets, clusters: Mask) -> Array:
    return (octets if clusters.all() else octets[:, clusters]).astype(np.float64)


@lru_cache(maxsize=1)
def draw_clusters(n_clusters: int) -> Draws:
    """Return the draws of so many clusters; the last ones are kept for the next metric."""
    return Draws(n_clusters)


FigureFunction = Callable[[Array], Array]
"""Maps sums over clusters (a row per draw, a column per sum) to figures (a row per figure, a column
per draw); NaN where a figure is not defined."""

LEVEL = 0.95
MIN_CLUSTERS = 5
"""With fewer clusters, resampling says nothing."""
MAX_UNDEFINED_SHARE = 0.05
"""Largest share of resamples in which a figure may be undefined."""
MAX_LEFT_OUT_IN_MEMORY = 4_000_000
"""Sums without one cluster held at a time. No interval depends on it."""
DIGITS = 12
"""Figures and interval ends are rounded to this many digits, so that rounding errors of sums do not
tell equal ones apart."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval in the figure's unit, or the reason why there is none."""

    low: float | None
    high: float | None
    reason: str | None = None
    """Why there is no interval, or why it does not contain the figure."""


def bootstrap_intervals(
    sums: Array,
    figures: FigureFunction,
    draws: Draws,
    rests_on: Mask | None = None,
    unit: str = "articles",
) -> list[Interval]:
    """Return an interval for each of the figures, all from the same draws.

    Args:
        sums: A row per cluster, a column per sum.
        figures: Computes the figures from sums over clusters.
        draws: Of the same clusters; those that a figure does not rest on weigh nothing in it, and
            draws that leave it without any are left out.
        rests_on: The clusters that each figure rests on, a row per cluster, a column per figure;
            all if not given.
        unit: What the clusters are called in reasons.
    """
    points = np.round(figures(sums.sum(axis=0)[None])[:, 0], DIGITS)
    if rests_on is None:
        rests_on = np.ones((len(sums), len(points)), dtype=np.bool_)
    n_clusters = rests_on.sum(axis=0)
    if not (n_clusters >= MIN_CLUSTERS).any():
        return [Interval(None, None, f"fewer than {MIN_CLUSTERS} {unit}")] * len(points)
    there: Mask = np.asarray(rests_on.any(axis=1))
    with np.errstate(all="ignore"):
        blocks = draws.count_blocks(there, sums.shape[1])
        drawn = np.hstack([figures(each @ sums[there]) for each in blocks])
        skewness = _measure_skewness(sums[there], figures, rests_on[there])
        return [
            _find_interval(float(point), np.round(row, DIGITS), float(skew), int(n), unit)
            for point, row, skew, n in zip(points, drawn, skewness, n_clusters, strict=True)
        ]


def widened_level(n_clusters: int) -> float:
    """Return the level, 0-1, at which to take a 95 % interval: Student's t instead of the normal
    distribution, and n-1 instead of n."""
    # SciPy takes a while to import, and most commands resample nothing.
    from scipy.special import ndtr, stdtrit

    n = n_clusters
    return float(1 - 2 * ndtr(-np.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + LEVEL) / 2)))


def _measure_skewness(sums: Array, figures: FigureFunction, rests_on: Mask) -> Array:
    """Return the acceleration of each figure, from the figures without one cluster each (Efron
    1987, equation 6.6); their sums are all sums minus the cluster's own."""
    parts = np.array_split(sums, -(-sums.size // MAX_LEFT_OUT_IN_MEMORY))
    left_out = np.hstack([np.round(figures(sums.sum(axis=0) - some), DIGITS) for some in parts])
    own = rests_on.T
    mean = np.where(own, left_out, 0.0).sum(axis=1) / own.sum(axis=1)
    apart = np.where(own, mean[:, None] - left_out, 0.0)
    skewness: Array = (apart**3).sum(axis=1) / (6 * (apart**2).sum(axis=1) ** 1.5)
    return skewness


def _find_interval(
    point: float, drawn: Array, skewness: float, n_clusters: int, unit: str
) -> Interval:
    defined = drawn[~np.isnan(drawn)]
    if n_clusters < MIN_CLUSTERS:
        return Interval(None, None, f"fewer than {MIN_CLUSTERS} {unit}")
    if np.isnan(point) or len(defined) < (1 - MAX_UNDEFINED_SHARE) * len(drawn):
        return Interval(None, None, "not defined for many of the resamples")
    if np.ptp(defined) <= 10.0**-DIGITS * max(1.0, abs(point)):
        return Interval(None, None, f"every resample of the {unit} gives the same figure")
    low, high = np.round(_find_ends(point, defined, skewness, n_clusters), DIGITS).tolist()
    slack = 10.0**-DIGITS
    if not low - slack <= point <= high + slack:
        return Interval(low, high, f"the figure hangs on few {unit}: most resamples are beside it")
    return Interval(low, high)


def _find_ends(point: float, drawn: Array, skewness: float, n_clusters: int) -> Array:
    """Return the ends of the interval: BCa, or percentiles where BCa is not defined."""
    from scipy.special import ndtr, ndtri

    level = widened_level(n_clusters)
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    bias = ndtri(((drawn < point).mean() + (drawn <= point).mean()) / 2)
    moved = bias + ndtri(tails)
    shares = ndtr(bias + moved / (1 - skewness * moved))
    ends: Array = np.quantile(drawn, tails if np.isnan(shares).any() else shares)
    return ends
