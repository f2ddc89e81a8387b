"""Randomization test over articles: could the difference between two agents be chance?

If the agents were equally good, swapping their reports on any article would be as likely as not
(Fisher 1935; for evaluations e.g. Smucker, Allan & Carterette 2007). p is the share of all swaps,
or of a random sample of them, in which the difference is at least as large as the observed one.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tasks.metrics.cluster_sums import ClusterSums
from tasks.metrics.resampling import SEED, Array

MIN_DRAWS = 9_999
"""Number of swaps to sample if there are more in total."""
DRAWS_PER_PAIR = 200
"""More are drawn for many pairs: p cannot fall below 1 / (draws + 1), and it is corrected for the
number of pairs."""
MAX_DRAWS = 99_999
DRAWS_PER_BATCH = 10_000
"""Swaps drawn at a time."""
MAX_SIGNS_IN_MEMORY = 10_000_000
"""Signs held in memory as numbers at a time; the rest of a batch are bits."""
PAIRS_PER_BATCH = 200
TOLERANCE = 1e-9
"""Relative difference below which two differences count as equal: their terms are summed in
another order."""
ROUNDING_ERROR = 1e-12
"""The same tolerance relative to the size of the terms, as terms that cancel out rarely give
exactly 0."""

Pairs = Sequence[tuple[int, int]]
"""Pairs of agents, as indices into the sums."""


def count_draws(n_pairs: int) -> int:
    """Return how many swaps to draw for a metric with this many pairs."""
    return min(max(MIN_DRAWS, DRAWS_PER_PAIR * n_pairs - 1), MAX_DRAWS)


def randomization_p_values(
    sums: ClusterSums, pairs: Pairs, draws: int = MIN_DRAWS, seed: int = SEED
) -> list[float]:
    """Return the two-sided p of each pair's difference, 0-1, by swapping whole clusters.

    Exact with no more than `draws` possible swaps. Otherwise swaps are sampled and counted together
    with the observed one, so that p is never 0 (Phipson & Smyth 2010).

    Args:
        sums: Sums over items that all agents of `pairs` have.
    """
    linear = sums.is_linear()
    found: list[float] = []
    for start in range(0, len(pairs), PAIRS_PER_BATCH):
        some = pairs[start : start + PAIRS_PER_BATCH]
        swapped, size = (
            _sums_of_differences(sums, some) if linear else _differences_of_ratios(sums, some)
        )
        found += _p_values(swapped, size, sums.n_clusters, draws, seed)
    return found


DifferencesOfSwaps = Callable[[Array], Array]
"""Maps signs (a row per swap, a column per cluster; -1 is swapped) to differences (a column per
pair)."""


def _p_values(
    swapped: DifferencesOfSwaps, size: Array, n_clusters: int, draws: int, seed: int
) -> list[float]:
    """Return the p-values; `size` is the size of the terms of each pair's difference."""
    seen = np.abs(swapped(np.ones((1, n_clusters))))[0]
    least = seen * (1 - TOLERANCE) - size * ROUNDING_ERROR
    exact = 2**n_clusters <= draws
    signs = _all_signs(n_clusters) if exact else _drawn_signs(n_clusters, draws, seed)
    as_large = sum((np.abs(swapped(some)) >= least).sum(axis=0) for some in signs)
    n, own = (2**n_clusters, 0) if exact else (draws + 1, 1)
    return [float(count + own) / n for count in np.atleast_1d(as_large)]


def _all_signs(n_clusters: int) -> Iterator[Array]:
    numbers = np.arange(2**n_clusters)[:, None]
    yield np.where(numbers >> np.arange(n_clusters) & 1, -1.0, 1.0)


def _drawn_signs(n_clusters: int, draws: int, seed: int) -> Iterator[Array]:
    random = np.random.default_rng(seed)
    for start in range(0, draws, DRAWS_PER_BATCH):
        n = min(DRAWS_PER_BATCH, draws - start)
        octets = np.frombuffer(random.bytes(-(-n * n_clusters // 8)), dtype=np.uint8)
        bits = np.unpackbits(octets, count=n * n_clusters).reshape(n, n_clusters)
        rows = max(1, MAX_SIGNS_IN_MEMORY // n_clusters)
        for first in range(0, n, rows):
            yield np.where(bits[first : first + rows], -1.0, 1.0)


def _sums_of_differences(sums: ClusterSums, pairs: Pairs) -> tuple[DifferencesOfSwaps, Array]:
    """With equal denominators, swapping a cluster only flips the sign of its difference."""
    below = sums.denominators[:, 0, :].sum(axis=0)
    nonempty = below > 0
    shares = sums.numerators[:, :, nonempty] / below[nonempty] / nonempty.sum()
    of_cluster = shares.sum(axis=2)
    first, second = _columns(pairs)
    differences = of_cluster[:, first] - of_cluster[:, second]
    return (lambda signs: signs @ differences), np.abs(differences).sum(axis=0)


def _differences_of_ratios(sums: ClusterSums, pairs: Pairs) -> tuple[DifferencesOfSwaps, Array]:
    """With different denominators, numerators and denominators are summed again for each swap."""
    if sums.numerators.shape[2] != 1:
        raise ValueError("agents that divide by sums of their own must have one category")
    first, second = _columns(pairs)
    above, below = sums.numerators[:, :, 0], sums.denominators[:, :, 0]

    def sides(values: Array, signs: Array) -> tuple[Array, Array]:
        both = (values[:, first] + values[:, second]).sum(axis=0)
        apart = signs @ (values[:, first] - values[:, second])
        return (both + apart) / 2, (both - apart) / 2

    def swapped(signs: Array) -> Array:
        (above_1, above_2), (below_1, below_2) = sides(above, signs), sides(below, signs)
        return above_1 / below_1 - above_2 / below_2

    figures = np.abs(above).sum(axis=0) / below.sum(axis=0)
    return swapped, figures[first] + figures[second]


def _columns(pairs: Pairs) -> tuple[list[int], list[int]]:
    return [one for one, _ in pairs], [other for _, other in pairs]


def holm_correction(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, controlling the family-wise error rate. Source: Holm 1979.

    Equals statsmodels' `multipletests`, which takes 80 ms per call (it collects garbage) and two
    seconds to import: three times as long as all other computation for a metric.
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]
