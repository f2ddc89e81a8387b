"""Could the difference between two agents be chance? A randomisation test over articles.

If the agents were alike, it would not matter which report of an article is whose: swapping the two
within any article would be as likely as not (Fisher 1935; for evaluations e.g. Smucker, Allan &
Carterette 2007). p is the share of all swaps, or of a fixed number of drawn ones, in which the
difference is at least as large as the one seen.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tasks.metrics.clustered import Sums
from tasks.metrics.resampling import SEED, Array

DRAWS = 9_999
"""Swaps that are drawn where there are more in all."""
DRAWS_PER_PAIR = 200
"""With many pairs more are drawn: p cannot fall below 1 / (draws + 1), and it is corrected for the
number of pairs."""
MOST_DRAWS = 99_999
AT_ONCE = 10_000
"""Draws that are made together."""
SIGNS_AT_ONCE = 10_000_000
"""Of them, so many are in memory as numbers; the rest are bits."""
PAIRS_AT_ONCE = 200
SLACK = 1e-9
"""Differences that differ by less of their size are as large as each other: they are sums in
another order."""
ROUNDING = 1e-12
"""And so are those that differ by less of the size of what they are sums of: what cancels out is
seldom exactly 0."""

Pairs = Sequence[tuple[int, int]]
"""Each two agents, by their place in the sums."""


def n_draws(n_pairs: int) -> int:
    """How many swaps are drawn where a metric has this many pairs."""
    return min(max(DRAWS, DRAWS_PER_PAIR * n_pairs - 1), MOST_DRAWS)


def swap_tests(sums: Sums, pairs: Pairs, draws: int = DRAWS, seed: int = SEED) -> list[float]:
    """Two-sided p of each pair's difference, 0-1, by swapping whole clusters.

    Exact where there are no more than `draws` ways to swap; else drawn, and counted with the one
    that was seen, so that p is never 0 (Phipson & Smyth 2010).

    Args:
        sums: of items that all agents of `pairs` have.
    """
    linear = sums.is_linear()
    found: list[float] = []
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[start : start + PAIRS_AT_ONCE]
        swapped, size = _sums_of_differences(sums, some) if linear else _ratios(sums, some)
        found += _p_values(swapped, size, sums.n_clusters, draws, seed)
    return found


Swapped = Callable[[Array], Array]
"""From signs (a row per swap, a column per cluster; -1 is swapped) to differences (a column per
pair)."""


def _p_values(swapped: Swapped, size: Array, n_clusters: int, draws: int, seed: int) -> list[float]:
    """size: of what each pair's difference is made of, beside which rounding is nothing."""
    seen = np.abs(swapped(np.ones((1, n_clusters))))[0]
    least = seen * (1 - SLACK) - size * ROUNDING
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
    for start in range(0, draws, AT_ONCE):
        n = min(AT_ONCE, draws - start)
        octets = np.frombuffer(random.bytes(-(-n * n_clusters // 8)), dtype=np.uint8)
        bits = np.unpackbits(octets, count=n * n_clusters).reshape(n, n_clusters)
        rows = max(1, SIGNS_AT_ONCE // n_clusters)
        for first in range(0, n, rows):
            yield np.where(bits[first : first + rows], -1.0, 1.0)


def _sums_of_differences(sums: Sums, pairs: Pairs) -> tuple[Swapped, Array]:
    """Where both divide by the same, a swapped cluster only turns the sign of its difference."""
    below = sums.denominators[:, 0, :].sum(axis=0)
    there = below > 0
    shares = sums.numerators[:, :, there] / below[there] / there.sum()
    of_cluster = shares.sum(axis=2)
    first, second = _columns(pairs)
    differences = of_cluster[:, first] - of_cluster[:, second]
    return (lambda signs: signs @ differences), np.abs(differences).sum(axis=0)


def _ratios(sums: Sums, pairs: Pairs) -> tuple[Swapped, Array]:
    """Where each divides by its own, both sums of both agents are made anew."""
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


def holm(p_values: Sequence[float]) -> list[float]:
    """Corrected for their number, 0-1: at any level, the chance that one difference or more is
    called real and is not stays below it. Source: Holm 1979.

    The same as statsmodels' `multipletests`, which takes 80 ms a call (it collects garbage) and two
    seconds to import: three times as long as all that is computed here for a metric.
    """
    given = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(given, kind="stable")
    raised = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(raised, 1.0)
    return [float(p) for p in adjusted]
