"""Build a leaderboard's rows: scores aggregated over an edition, with their statistics.

Every evaluation computes the figures to detect changes. Intervals, rank ranges and pairs are only
computed for metrics whose scores have changed (`scores_sha`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TypeVar

import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.metrics.ratios import aggregate
from tasks.metrics.resampling import RESAMPLES, SEED, SWAPS
from tasks.protocols.case import Protocol
from tasks.protocols.registry import get_protocol
from tasks.scoring.bounds import aggregate_bounds
from tasks.scoring.pending import current_version
from tasks.scoring.standings import (
    MISSING,
    STATISTICS_VERSION,
    ReportCounts,
    Standing,
    compute_standings,
    count_reports,
    find_unranked,
    load_assignable,
)
from tasks.warehouse.results import OUTDATED, UNREVIEWED, AgentPair, LeaderboardRow
from tasks.warehouse.rubrics import BundleSettings, RubricBundle
from tasks.warehouse.store import Warehouse

SCORES = """
SELECT s.*, g.category
FROM scores AS s
LEFT JOIN ground_truths AS g ON g.edition = s.edition AND g.assignment = s.assignment
WHERE s.edition = $1
ORDER BY s.protocol, s.metric, s.judge, s.agent, s.assignment
"""
REFUSED = """
SELECT protocol, judge, agent, avg((status = 'blocked')::INT) FROM current_verdicts
WHERE edition = $1 AND (call_id IS NOT NULL OR status = 'blocked') GROUP BY ALL
"""
"""The share of the items that a judge refused, of those that it was asked about."""
ARTICLES = "SELECT assignment, article FROM assignments WHERE edition = $1"
HASHED_COLUMNS = ("agent", "assignment", "value", "numerator", "n_items", "category")
"""Columns of a score that intervals, ranks and pairs are computed from."""
STANDING_COLUMNS = ("low", "high", "interval_reason", "n_articles", "rank_from", "rank_to")
STATISTICS = (*STANDING_COLUMNS, "seed", "resamples")
"""Columns of a row that are only computed when its scores have changed."""

RowT = TypeVar("RowT", LeaderboardRow, AgentPair)


@dataclass(frozen=True)
class ScoreGroup:
    """The scores of all agents for one metric and judge."""

    protocol: str
    metric: MetricEntry
    judge: str
    scores: pl.DataFrame
    """Rows of SCORES, with flags for outdated ones and those that rest on a draft."""
    counts: Mapping[str, ReportCounts]
    """Agent → its reports."""
    unranked: Mapping[str, str]
    """The agents to list apart, with the reason."""
    article_of: Mapping[str, str | None]
    """Assignment → article, of all that the protocol judges and those with scores."""
    refused: Mapping[tuple[str, str, str], float]
    """Protocol, judge and agent → share of the items that the judge refused."""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.protocol, self.metric.name, self.judge

    @property
    def category_of(self) -> dict[str, str]:
        """Assignment → category, for assignments that have one."""
        named = self.scores.filter(pl.col("category").is_not_null())
        return dict(named.select("assignment", "category").iter_rows())

    def sha(self) -> str:
        """Hash everything that its intervals, ranks and pairs rest on."""
        how = (STATISTICS_VERSION, SEED, RESAMPLES, SWAPS, self.metric.aggregate,
               self.metric.better, sorted(self.unranked),
               sorted(self.article_of.items()))  # fmt: skip
        rows = self.scores.select(HASHED_COLUMNS).write_csv()
        return sha256(f"{how}\n{rows}".encode()).hexdigest()


def build_leaderboard_rows(
    warehouse: Warehouse, edition: str, protocols: Sequence[Protocol]
) -> list[LeaderboardRow]:
    """Build the leaderboard of an edition from its scores, for these protocols, without intervals
    and ranks.

    Scores of another version of a protocol count as open, so that agents are compared by one
    version. Figures that rest on unreviewed rubrics are provisional.
    """
    rows: list[LeaderboardRow] = []
    for group in _group_scores(warehouse, edition, protocols):
        sha, category_of = group.sha(), group.category_of
        for (agent,), scores in group.scores.group_by("agent", maintain_order=True):
            rows.append(_aggregate_row(edition, group, str(agent), scores, category_of, sha))
    return sorted(rows, key=_sort_key)


def _group_scores(
    warehouse: Warehouse, edition: str, protocols: Sequence[Protocol]
) -> Iterator[ScoreGroup]:
    metrics = {(p.name, metric.name): metric for p in protocols for metric in p.metrics}
    versions = {p.name: current_version(p) for p in protocols}
    assignable = {p.name: load_assignable(warehouse, edition, p) for p in protocols}
    drafts = _find_drafts(warehouse, edition)
    articles = dict(warehouse.frame(ARTICLES, [edition]).iter_rows())
    scores = warehouse.frame(SCORES, [edition])
    refused: dict[tuple[str, str, str], float] = {}
    if scores["n_blocked"].sum():
        refused = {(p, j, a): n for p, j, a, n in warehouse.frame(REFUSED, [edition]).iter_rows()}
    for key, rows in scores.group_by("protocol", "metric", "judge", maintain_order=True):
        name, metric, judge = map(str, key)
        if entry := metrics.get((name, metric)):
            marked = rows.with_columns(
                outdated=pl.col("scorer_version") != versions[name],
                draft=pl.col("assignment").is_in(drafts.get(name, [])),
            )
            counts = count_reports(marked, assignable[name])
            everywhere = assignable[name].union(rows["assignment"])
            article_of = {assignment: articles.get(assignment) for assignment in everywhere}
            unranked = find_unranked(counts)
            yield ScoreGroup(name, entry, judge, marked, counts, unranked, article_of, refused)


def _find_drafts(warehouse: Warehouse, edition: str) -> dict[str, list[str]]:
    """Return protocol → assignments with an unreviewed rubric."""
    found: dict[str, list[str]] = {}
    for bundle in warehouse.rows(RubricBundle, "edition = $1 AND source = 'drafted'", [edition]):
        if BundleSettings.model_validate_json(bundle.settings).draft:
            found.setdefault(bundle.protocol, []).append(bundle.assignment)
    return found


def is_current(warehouse: Warehouse, edition: str, rows: Sequence[LeaderboardRow]) -> bool:
    """Whether the stored leaderboard equals `rows` for their protocols; its intervals and ranks are
    then current, too."""
    names = {row.protocol for row in rows}
    stored = warehouse.rows(LeaderboardRow, "edition = $1", [edition])
    without = dict.fromkeys(STATISTICS)
    current = [row.model_copy(update=without) for row in stored if row.protocol in names]
    return current == sorted(rows, key=_sort_key)


def add_statistics(
    warehouse: Warehouse, edition: str, rows: Sequence[LeaderboardRow]
) -> tuple[list[LeaderboardRow], list[AgentPair]]:
    """Return the rows with intervals and rank ranges, and the pairs of agents.

    Statistics of unchanged scores come from the warehouse.
    """
    stored = _group_rows(warehouse.rows(LeaderboardRow, "edition = $1", [edition]))
    paired = _group_rows(warehouse.rows(AgentPair, "edition = $1", [edition]))
    wanted = _group_rows(rows)
    protocols = [get_protocol(name) for name in sorted({row.protocol for row in rows})]
    whole: list[LeaderboardRow] = []
    pairs: list[AgentPair] = []
    for group in _group_scores(warehouse, edition, protocols):
        before = {row.agent: row for row in stored.get(group.key, [])}
        of_this = wanted.get(group.key, [])
        if _collect_shas(before.values()) == _collect_shas(of_this):
            whole += [_copy_statistics(row, before[row.agent]) for row in of_this]
            pairs += paired.get(group.key, [])
        else:
            made_rows, made_pairs = _compute_statistics(edition, group, of_this)
            whole += made_rows
            pairs += made_pairs
    return sorted(whole, key=_sort_key), pairs


def _group_rows(rows: Iterable[RowT]) -> dict[tuple[str, str, str], list[RowT]]:
    found: dict[tuple[str, str, str], list[RowT]] = {}
    for row in rows:
        found.setdefault((row.protocol, row.metric, row.judge), []).append(row)
    return found


def _collect_shas(rows: Iterable[LeaderboardRow]) -> dict[str, str | None]:
    return {row.agent: row.scores_sha for row in rows}


def _compute_statistics(
    edition: str, group: ScoreGroup, rows: Iterable[LeaderboardRow]
) -> tuple[list[LeaderboardRow], list[AgentPair]]:
    found = compute_standings(
        group.scores,
        group.metric,
        group.category_of,
        group.article_of,
        assignable=group.article_of,
        unranked=group.unranked,
    )
    place = {"edition": edition, "protocol": group.protocol, "metric": group.metric.name,
             "judge": group.judge}  # fmt: skip
    draws = {"seed": SEED, "resamples": RESAMPLES}
    by_agent = {standing.agent: standing for standing in found.rows}
    return (
        [_copy_statistics(row, by_agent[row.agent]).model_copy(update=draws) for row in rows],
        [AgentPair(**place, **asdict(pair), seed=SEED) for pair in found.pairs],
    )


def _copy_statistics(row: LeaderboardRow, found: Standing | LeaderboardRow) -> LeaderboardRow:
    names = STANDING_COLUMNS if isinstance(found, Standing) else STATISTICS
    return row.model_copy(update={name: getattr(found, name) for name in names})


def _sort_key(row: LeaderboardRow) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in LeaderboardRow.key)


def _aggregate_row(
    edition: str,
    group: ScoreGroup,
    agent: str,
    scores: pl.DataFrame,
    category_of: Mapping[str, str],
    sha: str,
) -> LeaderboardRow:
    valued = scores.filter(pl.col("value").is_not_null())
    counts = group.counts[agent]
    n_open = int(scores["n_open"].sum()) + counts.n_undelivered
    unfinished = int((scores["state"].is_in(["pending", "failed"]) | scores["outdated"]).sum())
    drafted = bool(valued["draft"].any())
    why = (
        _find_commonest(scores["reason"]) if valued.is_empty() else UNREVIEWED if drafted else None
    )
    how = group.metric.aggregate
    return LeaderboardRow(
        edition=edition,
        protocol=group.protocol,
        agent=agent,
        metric=group.metric.name,
        judge=group.judge,
        value=aggregate(how, valued, category_of),
        macro=aggregate("macro", valued, category_of),
        micro=aggregate("micro", valued, category_of),
        n_items=int(valued["n_items"].sum()),
        n_reports=valued.height,
        n_open=n_open + unfinished,
        provisional=bool(n_open or unfinished or drafted),
        reason=OUTDATED if scores["outdated"].any() else why,
        scores_sha=sha,
        value_present=aggregate(how, valued.filter(pl.col("state") != MISSING), category_of),
        value_zero=aggregate(how, _count_missing_as_zero(scores), category_of),
        n_delivered=counts.n_delivered,
        n_missing=counts.n_missing,
        n_assignments=counts.n_assignments,
        unranked=group.unranked.get(agent),
        blocked_share=group.refused.get((group.protocol, group.judge, agent)),
        **aggregate_bounds(group.metric, scores, category_of),
    )


def _count_missing_as_zero(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the scores with a value, and 0 for missing reports whose items are known."""
    can_be_zero = (pl.col("state") == MISSING) & (pl.col("n_items") > 0)
    value, numerator = (
        pl.when(can_be_zero).then(0.0).otherwise(name) for name in ("value", "numerator")
    )
    counted = scores.with_columns(value=value, numerator=numerator)
    return counted.filter(pl.col("value").is_not_null())


def _find_commonest(reasons: pl.Series) -> str | None:
    counted = reasons.drop_nulls().value_counts(sort=True, name="n")
    if counted.is_empty():
        return None
    return str(counted.sort(["n", reasons.name], descending=[True, False])[reasons.name][0])
