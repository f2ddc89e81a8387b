"""Randomization test over articles: could the differences between agents be chance?

If two agents were equally good, swapping their reports on any article would be as likely as not
(Fisher 1935; for evaluations e.g. Smucker, Allan & Carterette 2007). p is the share of all swaps,
or of a random sample of them, in which the difference is at least as large as the observed one.

Several pairs are corrected by the step-down max-T method (Westfall & Young 1993, algorithm 4.1;
Romano & Wolf 2005): each swap swaps the same articles in all pairs, and a pair's difference counts
against the largest of it and of all that were observed to be smaller. So the correction knows how
the pairs go together, where Holm's assumes the worst. Differences are studentised to be comparable:
S / sqrt(Q), where S sums the articles' differences d and Q their squares. Q is the variance of S
over all swaps; Student's t rises with this quotient, which never exceeds sqrt(n), so that a pair
with few articles, or with equal differences, cannot hide all others. Shares of pooled items are
not sums: they are computed anew after each swap, and so are their standard errors (linearised;
Chung & Romano 2013 show why they must be): D / sqrt(V + D^2/n), which is the above where all
articles weigh the same.

SciPy's `permutation_test` makes one comparison at a time, and statsmodels corrects p-values alone;
neither knows gaps. Tests hold this against the first, one pair and the largest of several.

Its errors and its power in simulated editions: docs/explanation/validity.md.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from tasks.metrics.cluster_sums import NEGLIGIBLE, ScoreMatrix, Side, subtract, sum_pairs
from tasks.metrics.resampling import Array, Draws, Mask

TOLERANCE = 1e-9
"""Studentised differences closer than this count as equal: terms are summed in another order."""
MAX_SUMS_IN_MEMORY = 5_000_000
"""Sums by cluster and pair held at a time. No p-value depends on it."""

SUMS_OF_RATIO = 6
"""Sums that a swap needs for a pair of pooled shares."""

Statistic = Callable[[Array], Array]
"""Maps swaps (a row each, a column per cluster; 1 is swapped) to the sizes of the studentised
differences, a column per pair."""


def randomization_p_values(
    items: ScoreMatrix, pairs: Sequence[Side], draws: Draws
) -> list[tuple[float, float]]:
    """Return each pair's two-sided p, 0-1, and the same corrected for all these pairs.

    All ways to swap the articles of these pairs are enumerated if there are no more than would be
    drawn. Otherwise swaps are drawn and counted together with the observed one, so that p is never
    0 (Phipson & Smyth 2010).

    Args:
        pairs: With at least one assignment for which both have a value.
    """
    batches = list(split_pairs(items, pairs))
    clusters = _find_clusters(items, pairs)
    none = np.zeros((1, int(clusters.sum())))
    seen = np.concatenate([_studentise(items, some, clusters)(none)[0] for some in batches])
    order = np.argsort(seen, kind="stable")
    exact = draws.is_exact(none.size)
    counted, n_swaps = np.empty((2, len(pairs))), 2**none.size if exact else draws.swaps
    largest = np.zeros(n_swaps)
    for places in split_pairs(items, order.tolist()):
        statistic = _studentise(items, [pairs[place] for place in places], clusters)
        swaps = draws.swap_blocks(clusters, SUMS_OF_RATIO * len(places))
        counted[:, places] = _count_as_large(statistic, seen[places], swaps, largest)
    observed = 0 if exact else 1
    p, corrected = (counted + observed) / (n_swaps + observed)
    corrected[order] = np.maximum.accumulate(corrected[order][::-1])[::-1]
    return list(zip(p.tolist(), corrected.tolist(), strict=True))


ItemT = TypeVar("ItemT")


def split_pairs(items: ScoreMatrix, pairs: Sequence[ItemT]) -> Iterator[Sequence[ItemT]]:
    """Yield the pairs in groups whose sums fit in memory."""
    each = items.n_clusters * (int(items.categories.max(initial=0)) + 1)
    size = max(1, MAX_SUMS_IN_MEMORY // max(1, each))
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def _find_clusters(items: ScoreMatrix, pairs: Sequence[Side]) -> Mask:
    """Return the clusters in which any of the pairs has a value of both agents."""
    found = np.zeros(items.n_clusters, dtype=np.bool_)
    there = items.has_value
    for one, other in pairs:
        found[items.clusters[there[:, one] & there[:, other]]] = True
    return found


def _count_as_large(
    statistic: Statistic, seen: Array, swaps: Iterator[Array], largest: Array
) -> Array:
    """Count the swaps in which each pair, and the largest of it and all pairs before it, differs as
    much as was seen; `largest` is of each swap, over the pairs before, and is kept up."""
    counted, start = np.zeros((2, len(seen))), 0
    for some in swaps:
        rows = slice(start, start := start + len(some))
        found = statistic(some)
        most = np.maximum(np.maximum.accumulate(found, axis=1), largest[rows, None])
        largest[rows] = most[:, -1]
        counted += [(each >= seen - TOLERANCE).sum(axis=0) for each in (found, most)]
    return counted


def _studentise(items: ScoreMatrix, pairs: Sequence[Side], clusters: Mask) -> Statistic:
    sums = sum_pairs(items, pairs)
    sides = [
        each for side in (sums.first, sums.second) for each in (side.numerators, side.denominators)
    ]
    parts = [
        (some, of(*(_select(each, clusters, some) for each in sides)))
        for some, of in ((sums.are_linear, _of_sums), (~sums.are_linear, _of_ratios))
        if some.any()
    ]

    def statistic(swaps: Array) -> Array:
        found = np.empty((len(swaps), len(pairs)))
        for some, studentised in parts:
            found[:, some] = studentised(swaps)
        return found

    return statistic


def _select(sums: Array, clusters: Mask, pairs: Mask) -> Array:
    return sums if clusters.all() and pairs.all() else sums[clusters][:, :, pairs]


def _of_sums(above: Array, below: Array, others: Array, _: Array) -> Statistic:
    """With equal denominators a difference is a sum over clusters, and swapping a cluster only
    flips the sign of its share."""
    apart, total = subtract(above, others), below.sum(axis=0)
    shares = np.divide(apart, total, out=np.zeros_like(apart), where=total > 0).sum(axis=1)
    root = np.sqrt((shares**2).sum(axis=0))
    shares = np.divide(shares, root, out=np.zeros_like(shares), where=root > 0)
    total = shares.sum(axis=0)
    return lambda swaps: np.abs(total - 2 * (swaps @ shares))


def _of_ratios(*sides: Array) -> Statistic:
    """With different denominators, numerators, denominators and their products are summed again for
    each swap. Such figures have one category."""
    a, b, a_2, b_2 = (each.squeeze(axis=1) for each in sides)
    one, other = (
        np.stack((a, b, a * a, a * b, b * b, a * b_2), axis=1),
        np.stack((a_2, b_2, a_2 * a_2, a_2 * b_2, b_2 * b_2, a_2 * b), axis=1),
    )
    apart = (one - other).reshape(len(one), -1)
    above, below, n_clusters = (a * a_2).sum(axis=0), (b * b_2).sum(axis=0), (b > 0).sum(axis=0)

    def statistic(swaps: Array) -> Array:
        moved = np.moveaxis((swaps @ apart).reshape(len(swaps), *one.shape[1:]), 1, 0)
        first, second = one.sum(axis=0)[:, None] - moved, other.sum(axis=0)[:, None] + moved
        (share, variance), (share_2, variance_2) = _linearise(first), _linearise(second)
        shared = above - share_2 * first[5] - share * second[5] + share * share_2 * below
        variance += variance_2 - 2 * shared / (first[1] * second[1])
        difference = np.abs(share - share_2)
        difference[difference <= NEGLIGIBLE * (np.abs(share) + np.abs(share_2))] = 0.0
        scale = np.maximum(variance, 0) + difference**2 / n_clusters
        found: Array = np.divide(
            difference, np.sqrt(scale), out=np.zeros_like(scale), where=difference > 0
        )
        return found

    return statistic


def _linearise(sums: Array) -> tuple[Array, Array]:
    """Return a share and its variance, from the sums of a, b, aa, ab and bb."""
    a, b, aa, ab, bb, _ = sums
    share = a / b
    return share, (aa - 2 * share * ab + share**2 * bb) / b**2
