"""The differences between any two agents by one metric, with their significance."""

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

from tasks.configuration.models import MetricEntry
from tasks.metrics.cluster_sums import Mask, ScoreMatrix
from tasks.metrics.randomization_test import count_draws, holm_correction, randomization_p_values
from tasks.metrics.resampling import Array, Interval, bootstrap_intervals

NONE_SHARED = "no article of which both have a value"
NEGLIGIBLE = 1e-12
"""Smaller differences count as zero."""


@dataclass(frozen=True)
class Pair:
    """Two agents compared by one metric, over the assignments for which both have a value."""

    agent: str
    other: str
    n_articles: int
    n_pairs: int
    """Number of pairs in the correction."""
    difference: float | None = None
    """`agent` minus `other`, in the metric's unit."""
    low: float | None = None
    """Lower end of the difference's 95 % interval."""
    high: float | None = None
    effect_size: float | None = None
    """Mean of the articles' differences over their standard deviation (Cohen's d_z)."""
    better_share: float | None = None
    """Share of the articles in which `agent` has the better value, 0-1; ties count half."""
    p: float | None = None
    """p-value of the difference, from the randomization test; 0-1."""
    p_adjusted: float | None = None
    """p-value with Holm's correction for `n_pairs` pairs."""
    reason: str | None = None
    """Why a value is missing."""


def compare_pairs(
    items: ScoreMatrix, metric: MetricEntry, unranked: Container[str], all_pairs: bool = True
) -> tuple[Pair, ...]:
    """Compare agents with a value: each two that are ranked, corrected for all these pairs, and
    each agent that is not ranked with each that is, corrected for its own pairs alone.

    Args:
        unranked: agents whose pairs are in no other's correction.
        all_pairs: whether to compute what ranks do not need: the intervals of differences, and
            the pairs of agents that are not ranked.

    Returns:
        The pairs, sorted; `agent` sorts before `other`.
    """
    valued = [column for column in range(len(items.agents)) if items.has_value[:, column].any()]
    ranked = [column for column in valued if items.agents[column] not in unranked]
    families = [list(combinations(ranked, 2))]
    if all_pairs:
        families += [
            [(min(column, each), max(column, each)) for each in ranked]
            for column in valued
            if column not in ranked
        ]
    found = chain.from_iterable(
        _compare_family(items, each, metric.sign, all_pairs) for each in families
    )
    return tuple(sorted(found, key=lambda pair: (pair.agent, pair.other)))


def _compare_family(
    items: ScoreMatrix, family: Sequence[tuple[int, int]], sign: int, intervals: bool
) -> Iterator[Pair]:
    """Compare pairs of columns; p-values are corrected for these pairs."""
    counted = items.has_value
    common: dict[bytes, list[tuple[int, int]]] = defaultdict(list)
    for one, other in family:
        common[(counted[:, one] & counted[:, other]).tobytes()].append((one, other))
    n_pairs = sum(len(pairs) for mask, pairs in common.items() if any(mask))
    found = [
        pair
        for mask, pairs in common.items()
        for pair in _compare_alike(
            items, np.frombuffer(mask, dtype=np.bool_), pairs, sign, n_pairs, intervals
        )
    ]
    adjusted = iter(holm_correction([pair.p for pair in found if pair.p is not None]))
    for pair in found:
        yield pair if pair.p is None else replace(pair, p_adjusted=next(adjusted))


def _compare_alike(
    items: ScoreMatrix,
    rows: Mask,
    pairs: list[tuple[int, int]],
    sign: int,
    n_pairs: int,
    intervals: bool,
) -> Iterator[Pair]:
    """Compare pairs that share the same assignments, all at once."""
    columns = sorted({column for pair in pairs for column in pair})
    names = [items.agents[column] for column in columns]
    sums = items.sums(rows, columns)
    places_of = [(columns.index(one), columns.index(other)) for one, other in pairs]
    if not sums.n_clusters:
        for one, other in places_of:
            yield Pair(names[one], names[other], 0, n_pairs, reason=NONE_SHARED)
        return
    first, second = [one for one, _ in places_of], [other for _, other in places_of]
    whole, single = sums.overall(), sums.by_cluster()
    unknown = [Interval(None, None)] * len(pairs)

    def differences(counts: Array) -> Array:
        figures = sums.figures(counts)
        return figures[first] - figures[second]

    spans = bootstrap_intervals(differences, sums.n_clusters) if intervals else unknown
    tests = randomization_p_values(sums, places_of, count_draws(n_pairs))
    for (one, other), span, p in zip(places_of, spans, tests, strict=True):
        apart, difference = single[one] - single[other], float(whole[one] - whole[other])
        yield Pair(
            agent=names[one],
            other=names[other],
            n_articles=sums.n_clusters,
            difference=difference if abs(difference) >= NEGLIGIBLE else 0.0,
            low=span.low,
            high=span.high,
            effect_size=_compute_effect_size(apart),
            better_share=_compute_better_share(apart * sign),
            p=p,
            n_pairs=n_pairs,
            reason=span.reason,
        )


def _compute_effect_size(apart: Array) -> float | None:
    """Return Cohen's d_z; null if the articles' differences do not vary."""
    if len(apart) < 2 or (deviation := float(apart.std(ddof=1))) < NEGLIGIBLE:
        return None
    return float(apart.mean()) / deviation


def _compute_better_share(apart: Array) -> float:
    return float(((apart > NEGLIGIBLE) + 0.5 * (np.abs(apart) <= NEGLIGIBLE)).mean())
