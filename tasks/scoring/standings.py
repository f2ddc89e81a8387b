"""Rank agents by one metric, with intervals and the differences between any two agents.

Used for the leaderboard and for the site, which also shows parts of an edition.

Ranked are agents with reports of enough assignments, unless configs/agents.yaml says not. All
others are listed apart, with the reason: their figures are shown, but they have no place or rank
range, are in no pair and so do not count in the correction for pairs.
"""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from tasks.agents.registry import load_agents
from tasks.configuration.leaderboard import load_leaderboard_settings
from tasks.configuration.models import MetricEntry
from tasks.metrics.cluster_sums import ScoreMatrix, build_score_matrix
from tasks.metrics.ranks import MIN_ARTICLES, SIGNIFICANCE_LEVEL, rank_ranges
from tasks.metrics.ratios import summarize_scores
from tasks.metrics.resampling import Draws, Interval, bootstrap_intervals, draw_clusters
from tasks.protocols.case import Protocol
from tasks.scoring.agent_pairs import Pair, compare_pairs
from tasks.warehouse.store import Readable

STATISTICS_VERSION = "4"
"""Raise it when the same scores would get other intervals, p-values or rank ranges."""
NO_VALUE = "no value"
MISSING = "empty"
"""The state of the score of a missing report: the agent's own empty answer, or its refusal."""
ASSIGNABLE = """
SELECT a.assignment FROM assignments AS a
WHERE a.edition = $1 AND list_contains($2, a.kind)
    AND (NOT $4 OR a.assignment IN (
        SELECT b.assignment FROM rubric_bundles AS b WHERE b.edition = $1 AND b.protocol = $3))
    AND (NOT $5 OR a.article IN (SELECT t.article FROM articles AS t WHERE t.edition = $1))
ORDER BY a.assignment
"""


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
    rank_from: int | None = None
    """The best place the agent may have; 1 is best. This and the other are null without a value,
    for agents that are not ranked, and if all ranked ones have fewer than six articles."""
    rank_to: int | None = None


@dataclass(frozen=True)
class Standings:
    """The results of all agents for one metric and judge."""

    rows: tuple[Standing, ...]
    """Best first, then those that are not ranked, last those without a value."""
    pairs: tuple[Pair, ...]
    """Each two ranked agents with a value, and each agent that is not ranked with each that is;
    `agent` sorts before `other`."""


def compute_standings(
    scores: pl.DataFrame,
    metric: MetricEntry,
    category_of: Mapping[str, str],
    article_of: Mapping[str, str | None],
    *,
    assignable: Collection[str] = (),
    unranked: Container[str] = frozenset(),
    all_pairs: bool = True,
) -> Standings:
    """Compute values, intervals, rank ranges and pairs of all agents with scores; values and
    intervals alone of a metric by which no value is better.

    Args:
        scores: rows of one protocol, metric and judge with agent, assignment, value, numerator,
            n_items, n_open and state; one per report, in any order, also without a value.
        category_of: assignment → category; assignments without one form a category together.
        article_of: assignment → article; assignments without one are resampled on their own.
        assignable: all assignments that agents could have scores of. Their articles are drawn:
            an interval does not depend on the other agents.
        unranked: agents to list apart. They have a value and an interval, but no place or rank:
            ranks of others and the correction of their pairs are as without them.
        all_pairs: whether to compute what ranks do not need: the intervals of differences, and
            the pairs of agents that are not ranked.
    """
    items = build_score_matrix(scores, metric.aggregate, category_of, article_of, assignable)
    draws = draw_clusters(items.n_clusters)
    own = _compute_intervals(items, draws)
    rows = _build_standings(scores, metric, category_of, items, own)
    if metric.better == "none":
        return Standings(tuple(sorted(rows, key=lambda row: (row.value is None, row.agent))), ())
    pairs = compare_pairs(items, metric, draws, unranked, all_pairs)
    return Standings(_rank(rows, pairs, unranked, metric.sign), pairs)


def _compute_intervals(items: ScoreMatrix, draws: Draws) -> dict[str, tuple[Interval, int]]:
    """Return agent → its interval and the number of articles with a value."""
    sums = items.sums([(column, column) for column in range(len(items.agents))])
    n_articles = sums.has_value.sum(axis=0).tolist()
    found = bootstrap_intervals(sums.flat, sums.figures, draws, sums.has_value)
    return {
        agent: (interval if n else Interval(None, None, NO_VALUE), n)
        for agent, interval, n in zip(items.agents, found, n_articles, strict=True)
    }


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
        interval, n_articles = own[agent]
        value, n_reports, n_items = summarize_scores(metric.aggregate, rows, category_of)
        waiting = rows["state"].is_in(["pending", "failed"]).sum()
        found.append(
            Standing(
                agent=agent,
                value=value,
                low=interval.low,
                high=interval.high,
                interval_reason=interval.reason,
                n_articles=n_articles,
                n_reports=n_reports,
                n_items=n_items,
                n_open=int(rows["n_open"].sum()) + int(waiting),
            )
        )
    return found


def _rank(
    rows: list[Standing], pairs: Sequence[Pair], unranked: Container[str], sign: int
) -> tuple[Standing, ...]:
    ranked = [row for row in rows if row.value is not None and row.agent not in unranked]
    if max((row.n_articles for row in ranked), default=0) < MIN_ARTICLES:
        ranked = []
    ranges = rank_ranges(
        [row.agent for row in ranked],
        (pairing for pair in pairs for pairing in _find_order(pair, sign)),
    )
    placed = [
        replace(row, rank_from=ranges[row.agent][0], rank_to=ranges[row.agent][1])
        if row.agent in ranges
        else row
        for row in rows
    ]

    def order(row: Standing) -> tuple[bool, bool, float, str]:
        value = 0.0 if row.value is None else -sign * row.value
        return row.value is None, row.agent in unranked, value, row.agent

    return tuple(sorted(placed, key=order))


def _find_order(pair: Pair, sign: int) -> Iterator[tuple[str, str]]:
    """Yield (better, worse) if the difference is significant."""
    if pair.difference and pair.p_adjusted is not None and pair.p_adjusted < SIGNIFICANCE_LEVEL:
        first = pair.difference * sign > 0
        yield (pair.agent, pair.other) if first else (pair.other, pair.agent)


@dataclass(frozen=True)
class ReportCounts:
    """How many of a protocol's assignments an agent has reports of."""

    n_delivered: int
    """Reports with a text."""
    n_missing: int
    """Its own empty answers and final refusals."""
    n_assignments: int
    """Assignments of the edition that the protocol judges."""

    @property
    def n_undelivered(self) -> int:
        """Assignments without any answer of the agent: never asked, failed, or not imported."""
        return self.n_assignments - self.n_delivered - self.n_missing


def load_assignable(source: Readable, edition: str, protocol: Protocol) -> frozenset[str]:
    """Return the assignments of an edition that a protocol judges."""
    needs = ["rubric" in protocol.inputs, "article" in protocol.inputs]
    frame = source.frame(ASSIGNABLE, [edition, list(protocol.kinds), protocol.name, *needs])
    return frozenset(frame["assignment"])


def count_reports(scores: pl.DataFrame, assignable: frozenset[str]) -> dict[str, ReportCounts]:
    """Return each agent's counts.

    Args:
        scores: agent, assignment and state, a row per report, of one metric and judge.
        assignable: The protocol's assignments, also those without any report.
    """
    n_assignments = len(assignable.union(scores["assignment"]))
    is_missing = pl.col("state") == MISSING
    counted = scores.group_by("agent", maintain_order=True).agg(
        n_delivered=(~is_missing).sum(), n_missing=is_missing.sum()
    )
    return {
        agent: ReportCounts(n_delivered, n_missing, n_assignments)
        for agent, n_delivered, n_missing in counted.iter_rows()
    }


def find_unranked(counts: Mapping[str, ReportCounts]) -> dict[str, str]:
    """Return the agents to list apart, each with the reason: `unranked` in configs/agents.yaml,
    else too few reports (configs/leaderboard.yaml)."""
    agents = load_agents().agents
    found = {}
    for agent, count in counts.items():
        configured = agents[agent].unranked if agent in agents else None
        if reason := configured or _explain_incomplete(count):
            found[agent] = reason
    return found


def _explain_incomplete(count: ReportCounts) -> str | None:
    least = load_leaderboard_settings().completeness
    if not count.n_assignments or count.n_delivered / count.n_assignments >= least:
        return None
    return (
        f"it delivered {count.n_delivered:,} of {count.n_assignments:,} reports, fewer than "
        f"{least * 100:g} %"
    )
