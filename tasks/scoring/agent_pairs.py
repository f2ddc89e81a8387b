"""The differences between any two agents by one metric, with their significance."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from tasks.configuration.models import MetricEntry
from tasks.metrics.cluster_sums import NEGLIGIBLE, ScoreMatrix, Side, subtract, sum_pairs
from tasks.metrics.randomization_test import randomization_p_values, split_pairs
from tasks.metrics.resampling import Array, Draws, Interval, bootstrap_intervals

NONE_SHARED = "no article of which both have a value"


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
    """The same, corrected for `n_pairs` pairs by the step-down max-T method."""
    reason: str | None = None
    """Why a value is missing."""


def compare_pairs(
    items: ScoreMatrix,
    metric: MetricEntry,
    draws: Draws,
    unranked: Container[str],
    all_pairs: bool = True,
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
    found = [
        pair
        for each in families
        for pair in _compare_family(items, each, metric.sign, draws, all_pairs)
    ]
    return tuple(sorted(found, key=lambda pair: (pair.agent, pair.other)))


def _compare_family(
    items: ScoreMatrix, family: Sequence[Side], sign: int, draws: Draws, intervals: bool
) -> Iterator[Pair]:
    """Compare pairs of columns; p-values are corrected for these pairs."""
    names, there = items.agents, items.has_value
    shared = [(one, other) for one, other in family if (there[:, one] & there[:, other]).any()]
    for one, other in sorted({*family} - {*shared}):
        yield Pair(names[one], names[other], 0, len(shared), reason=NONE_SHARED)
    if not shared:
        return
    tests = iter(randomization_p_values(items, shared, draws))
    for some in split_pairs(items, shared):
        for (one, other), values in zip(
            some, _describe_pairs(items, some, sign, draws, intervals), strict=True
        ):
            p, corrected = next(tests)
            yield Pair(
                names[one], names[other], n_pairs=len(shared), p=p, p_adjusted=corrected, **values
            )


def _describe_pairs(
    items: ScoreMatrix, pairs: Sequence[Side], sign: int, draws: Draws, intervals: bool
) -> Iterator[dict[str, Any]]:
    """Yield what does not hang on other pairs: the difference, its interval, its size."""
    sums = sum_pairs(items, pairs)
    flat, shared = sums.drawn.flat, sums.first.has_value
    spans = [Interval(None, None)] * len(pairs)
    if intervals:
        spans = bootstrap_intervals(flat, sums.differences, draws, shared)
    overall = subtract(sums.differences(flat.sum(axis=0)[None])[:, 0], 0.0)
    single = sums.first.by_cluster() - sums.second.by_cluster()
    for place, (difference, span) in enumerate(zip(overall.tolist(), spans, strict=True)):
        apart = single[shared[:, place], place]
        better = (apart * sign > NEGLIGIBLE) + 0.5 * (np.abs(apart) <= NEGLIGIBLE)
        yield {
            "n_articles": len(apart),
            "difference": difference,
            "low": span.low,
            "high": span.high,
            "effect_size": _compute_effect_size(apart),
            "better_share": float(better.mean()),
            "reason": span.reason,
        }


def _compute_effect_size(apart: Array) -> float | None:
    """Return Cohen's d_z; null if the articles' differences do not vary."""
    if len(apart) < 2 or (deviation := float(apart.std(ddof=1))) < NEGLIGIBLE:
        return None
    return float(apart.mean()) / deviation
