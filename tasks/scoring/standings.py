"""Rank agents by one metric, with intervals and the differences between any two agents.

Used for the leaderboard and for the site, which also shows parts of an edition.
"""

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.metrics.aggregates import aggregate
from tasks.metrics.cluster_sums import Mask, ScoreMatrix, build_score_matrix
from tasks.metrics.randomization_test import count_draws, holm_correction, randomization_p_values
from tasks.metrics.ranks import SIGNIFICANCE_LEVEL, competition_ranks, rank_ranges
from tasks.metrics.resampling import Array, Interval, bootstrap_intervals

STATISTICS_VERSION = "2"
"""Raise it when the same scores would get other intervals, p-values or rank ranges."""
NO_VALUE = "no value"
NONE_SHARED = "no article of which both have a value"
NEGLIGIBLE = 1e-12
"""Smaller differences count as zero."""


@dataclass(frozen=True)
class Standing:
    """One agent's result for one metric."""

    agent: str
    value: float | None
    """From `aggregate`, in the metric's unit; null if no item entered the denominator."""
    low: float | None
    """Lower end of the 95 % interval, in the metric's unit."""
    high: float | None
    interval_reason: str | None
    """Why there is no interval, or why it does not contain the value."""
    n_articles: int
    """Articles that the value rests on (assignments, if they have none)."""
    n_reports: int
    n_items: int
    n_open: int
    """Items and whole reports that a later run may still decide."""
    place: int | None
    """Place by value alone; 1 is best, ties share a place. This and the ranks are null without a
    value, and for agents that are not ranked."""
    rank_from: int | None
    """The best place the agent may have."""
    rank_to: int | None


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
    """p-value with Holm's correction for all pairs of the metric."""
    reason: str | None = None
    """Why a value is missing."""


@dataclass(frozen=True)
class Standings:
    """The results of all agents for one metric and judge."""

    rows: tuple[Standing, ...]
    """Best first, then those that are not ranked, last those without a value."""
    pairs: tuple[Pair, ...]
    """Each two ranked agents with a value; `agent` sorts before `other`."""


def compute_standings(
    scores: pl.DataFrame,
    metric: MetricEntry,
    category_of: Mapping[str, str],
    article_of: Mapping[str, str | None],
    *,
    unranked: Container[str] = frozenset(),
    pair_intervals: bool = True,
) -> Standings:
    """Compute values, intervals, rank ranges and pairs of all agents with scores.

    Args:
        scores: rows of one protocol, metric and judge with agent, assignment, value, numerator,
            n_items, n_open and state; one per report, in any order, also without a value.
        category_of: assignment → category; assignments without one form a category together.
        article_of: assignment → article; assignments without one are resampled on their own.
        unranked: agents to list apart. They have a value and an interval, but no place, rank or
            pair: ranks of others and the correction for pairs are as without them.
        pair_intervals: whether to compute intervals of differences, too.
    """
    items = build_score_matrix(scores, metric.aggregate, category_of, article_of)
    own = _compute_intervals(items)
    pairs = _compare_pairs(items, metric, unranked, pair_intervals)
    sign = 1 if metric.better == "higher" else -1
    rows = _build_standings(scores, metric, category_of, items, own)
    return Standings(_rank(rows, pairs, unranked, sign), pairs)


def _compute_intervals(items: ScoreMatrix) -> dict[str, tuple[Interval, int]]:
    """Return agent → its interval and number of clusters, computed at once for agents with the
    same clusters."""
    alike: dict[bytes, list[int]] = defaultdict(list)
    for column in range(len(items.agents)):
        there = np.isin(items.clusters, items.clusters[items.has_value[:, column]])
        alike[there.tobytes()].append(column)
    found = {}
    for mask, columns in alike.items():
        sums = items.sums(np.frombuffer(mask, dtype=np.bool_), columns)
        if not sums.n_clusters:
            of_these = [Interval(None, None, NO_VALUE)] * len(columns)
        else:
            of_these = bootstrap_intervals(sums.figures, sums.n_clusters)
        for column, interval in zip(columns, of_these, strict=True):
            found[items.agents[column]] = interval, sums.n_clusters
    return found


def _build_standings(
    scores: pl.DataFrame,
    metric: MetricEntry,
    category_of: Mapping[str, str],
    items: ScoreMatrix,
    own: Mapping[str, tuple[Interval, int]],
) -> list[Standing]:
    by_agent = {str(key[0]): rows for key, rows in scores.group_by("agent", maintain_order=True)}
    found = []
    for agent in items.agents:
        rows = by_agent[agent]
        valued = rows.filter(pl.col("value").is_not_null())
        interval, n_articles = own[agent]
        waiting = rows["state"].is_in(["pending", "failed"]).sum()
        found.append(
            Standing(
                agent=agent,
                value=aggregate(metric.aggregate, valued, category_of),
                low=interval.low,
                high=interval.high,
                interval_reason=interval.reason,
                n_articles=n_articles,
                n_reports=valued.height,
                n_items=int(valued["n_items"].sum()),
                n_open=int(rows["n_open"].sum()) + int(waiting),
                place=None,
                rank_from=None,
                rank_to=None,
            )
        )
    return found


def _rank(
    rows: list[Standing], pairs: Sequence[Pair], unranked: Container[str], sign: int
) -> tuple[Standing, ...]:
    valued = {
        row.agent: row.value for row in rows if row.value is not None and row.agent not in unranked
    }
    bare = dict(
        zip(
            valued, competition_ranks(list(valued.values()), higher_is_better=sign > 0), strict=True
        )
    )
    ranges = rank_ranges(
        list(valued), (pairing for pair in pairs for pairing in _find_order(pair, sign))
    )
    ranked = [
        replace(
            row,
            place=bare[row.agent],
            rank_from=ranges[row.agent][0],
            rank_to=ranges[row.agent][1],
        )
        if row.agent in valued
        else row
        for row in rows
    ]

    def order(row: Standing) -> tuple[int, float, str]:
        if row.place is None and row.value is not None:
            return len(rows) + 1, -sign * row.value, row.agent
        return row.place or len(rows) + 2, 0.0, row.agent

    return tuple(sorted(ranked, key=order))


def _find_order(pair: Pair, sign: int) -> Iterator[tuple[str, str]]:
    """Yield (better, worse) if the difference is significant."""
    if pair.difference and pair.p_adjusted is not None and pair.p_adjusted < SIGNIFICANCE_LEVEL:
        first = pair.difference * sign > 0
        yield (pair.agent, pair.other) if first else (pair.other, pair.agent)


def _compare_pairs(
    items: ScoreMatrix, metric: MetricEntry, unranked: Container[str], pair_intervals: bool
) -> tuple[Pair, ...]:
    counted = items.has_value
    common: dict[bytes, list[tuple[int, int]]] = defaultdict(list)
    valued = [
        column
        for column, agent in enumerate(items.agents)
        if counted[:, column].any() and agent not in unranked
    ]
    for one, other in combinations(valued, 2):
        common[(counted[:, one] & counted[:, other]).tobytes()].append((one, other))
    n_pairs = sum(len(pairs) for mask, pairs in common.items() if any(mask))
    sign = 1 if metric.better == "higher" else -1
    found = [
        pair
        for mask, pairs in common.items()
        for pair in _compare_alike(
            items, np.frombuffer(mask, dtype=np.bool_), pairs, sign, n_pairs, pair_intervals
        )
    ]
    adjusted = iter(holm_correction([pair.p for pair in found if pair.p is not None]))
    done = (pair if pair.p is None else replace(pair, p_adjusted=next(adjusted)) for pair in found)
    return tuple(sorted(done, key=lambda pair: (pair.agent, pair.other)))


def _compare_alike(
    items: ScoreMatrix,
    rows: Mask,
    pairs: list[tuple[int, int]],
    sign: int,
    n_pairs: int,
    pair_intervals: bool,
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

    spans = bootstrap_intervals(differences, sums.n_clusters) if pair_intervals else unknown
    tests = randomization_p_values(sums, places_of, count_draws(n_pairs))
    for (one, other), span, p in zip(places_of, spans, tests, strict=True):
        apart = single[one] - single[other]
        yield Pair(
            agent=names[one],
            other=names[other],
            n_articles=sums.n_clusters,
            difference=_round_negligible(float(whole[one] - whole[other])),
            low=span.low,
            high=span.high,
            effect_size=_compute_effect_size(apart),
            better_share=_compute_better_share(apart * sign),
            p=p,
            n_pairs=n_pairs,
            reason=span.reason,
        )


def _round_negligible(difference: float) -> float:
    return 0.0 if abs(difference) < NEGLIGIBLE else difference


def _compute_effect_size(apart: Array) -> float | None:
    """Return Cohen's d_z; null if the articles' differences do not vary."""
    if len(apart) < 2 or (deviation := float(apart.std(ddof=1))) < NEGLIGIBLE:
        return None
    return float(apart.mean()) / deviation


def _compute_better_share(apart: Array) -> float:
    return float(((apart > NEGLIGIBLE) + 0.5 * (np.abs(apart) <= NEGLIGIBLE)).mean())
