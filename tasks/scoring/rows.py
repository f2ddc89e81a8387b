"""The rows of a leaderboard: scores aggregated over an edition, and how sure that is.

What the figures are is made at every evaluation, to see whether anything has changed; intervals,
rank ranges and pairs only when it has, and only of the metrics whose scores have (`scores_sha`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import TypeVar

import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.metrics.aggregates import aggregate
from tasks.metrics.resampling import RESAMPLES, SEED
from tasks.protocols.case import Protocol
from tasks.protocols.registry import protocol
from tasks.scoring.pending import SCORER_VERSION
from tasks.scoring.standings import STATISTICS_VERSION, Pair, Standing, standings
from tasks.warehouse.results import OUTDATED, UNREVIEWED, AgentPair, LeaderboardRow
from tasks.warehouse.rubrics import BundleSettings, RubricBundle
from tasks.warehouse.store import Warehouse

SCORES = """
SELECT s.*, a.article, g.category
FROM scores AS s
LEFT JOIN assignments AS a ON a.edition = s.edition AND a.assignment = s.assignment
LEFT JOIN ground_truths AS g ON g.edition = s.edition AND g.assignment = s.assignment
WHERE s.edition = $1
ORDER BY s.protocol, s.metric, s.judge, s.agent, s.assignment
"""
RESTS_ON = ("agent", "assignment", "value", "numerator", "n_items", "article", "category")
"""Of a score, what intervals, ranks and pairs are made from."""
OF_STANDING = ("low", "high", "interval_reason", "n_articles", "rank_from", "rank_to")
STATISTICS = (*OF_STANDING, "seed", "resamples")
"""Columns of a row that are made only when its scores have changed."""

RowT = TypeVar("RowT", LeaderboardRow, AgentPair)


@dataclass(frozen=True)
class Group:
    """The scores of all agents by one metric and judge."""

    protocol: str
    metric: MetricEntry
    judge: str
    scores: pl.DataFrame
    """Rows of SCORES, with whether each is outdated or rests on a draft."""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.protocol, self.metric.name, self.judge

    @property
    def category_of(self) -> dict[str, str]:
        """Of its assignments that have one."""
        named = self.scores.filter(pl.col("category").is_not_null())
        return dict(named.select("assignment", "category").iter_rows())

    @property
    def article_of(self) -> dict[str, str | None]:
        return dict(self.scores.select("assignment", "article").iter_rows())

    def sha(self) -> str:
        """Of all that its intervals, ranks and pairs rest on."""
        how = (STATISTICS_VERSION, SEED, RESAMPLES, self.metric.aggregate, self.metric.better)
        rows = self.scores.select(RESTS_ON).write_csv()
        return sha256(f"{how}\n{rows}".encode()).hexdigest()


def leaderboard_rows(
    warehouse: Warehouse, edition: str, protocols: Sequence[Protocol]
) -> list[LeaderboardRow]:
    """The leaderboard as the scores of an edition have it now, for these protocols, still without
    intervals and ranks. Scores that another version of a protocol has made count as open: agents
    are compared by one version. What rests on rubrics that nobody has reviewed is provisional."""
    rows = [
        row
        for group in _groups(warehouse, edition, protocols)
        for row in _rows(edition, group, group.sha())
    ]
    return sorted(rows, key=_place)


def _groups(warehouse: Warehouse, edition: str, protocols: Sequence[Protocol]) -> Iterator[Group]:
    metrics = {(p.name, metric.name): metric for p in protocols for metric in p.metrics}
    versions = {p.name: f"{SCORER_VERSION}/{p.version}" for p in protocols}
    drafts = _drafts(warehouse, edition)
    scores = warehouse.frame(SCORES, [edition])
    for key, rows in scores.group_by("protocol", "metric", "judge", maintain_order=True):
        name, metric, judge = map(str, key)
        if entry := metrics.get((name, metric)):
            marked = rows.with_columns(
                outdated=pl.col("scorer_version") != versions[name],
                draft=pl.col("assignment").is_in(drafts.get(name, [])),
            )
            yield Group(name, entry, judge, marked)


def _drafts(warehouse: Warehouse, edition: str) -> dict[str, list[str]]:
    """By protocol the assignments whose rubric nobody has reviewed."""
    found: dict[str, list[str]] = {}
    for bundle in warehouse.rows(RubricBundle, "edition = $1 AND source = 'drafted'", [edition]):
        if BundleSettings.model_validate_json(bundle.settings).draft:
            found.setdefault(bundle.protocol, []).append(bundle.assignment)
    return found


def is_current(warehouse: Warehouse, edition: str, rows: Sequence[LeaderboardRow]) -> bool:
    """Whether the stored leaderboard already says this for the protocols in `rows`; its intervals
    and ranks are then those that would be made."""
    names = {row.protocol for row in rows}
    stored = warehouse.rows(LeaderboardRow, "edition = $1", [edition])
    without = dict.fromkeys(STATISTICS)
    said = [row.model_copy(update=without) for row in stored if row.protocol in names]
    return said == sorted(rows, key=_place)


def with_statistics(
    warehouse: Warehouse, edition: str, rows: Sequence[LeaderboardRow]
) -> tuple[list[LeaderboardRow], list[AgentPair]]:
    """The rows with intervals and rank ranges, and the pairs of agents beside them.

    What the warehouse has of the same scores is taken from there.
    """
    stored = _by_group(warehouse.rows(LeaderboardRow, "edition = $1", [edition]))
    paired = _by_group(warehouse.rows(AgentPair, "edition = $1", [edition]))
    wanted = _by_group(rows)
    protocols = [protocol(name) for name in sorted({row.protocol for row in rows})]
    whole: list[LeaderboardRow] = []
    pairs: list[AgentPair] = []
    for group in _groups(warehouse, edition, protocols):
        before = {row.agent: row for row in stored.get(group.key, [])}
        of_this = wanted.get(group.key, [])
        if _shas(before.values()) == _shas(of_this):
            whole += [_with(row, before[row.agent]) for row in of_this]
            pairs += paired.get(group.key, [])
        else:
            made_rows, made_pairs = _made(edition, group, of_this)
            whole += made_rows
            pairs += made_pairs
    return sorted(whole, key=_place), pairs


def _by_group(rows: Iterable[RowT]) -> dict[tuple[str, str, str], list[RowT]]:
    found: dict[tuple[str, str, str], list[RowT]] = {}
    for row in rows:
        found.setdefault((row.protocol, row.metric, row.judge), []).append(row)
    return found


def _shas(rows: Iterable[LeaderboardRow]) -> dict[str, str | None]:
    return {row.agent: row.scores_sha for row in rows}


def _made(
    edition: str, group: Group, rows: Iterable[LeaderboardRow]
) -> tuple[list[LeaderboardRow], list[AgentPair]]:
    found = standings(group.scores, group.metric, group.category_of, group.article_of)
    place = {"edition": edition, "protocol": group.protocol, "metric": group.metric.name,
             "judge": group.judge}  # fmt: skip
    draws = {"seed": found.seed, "resamples": found.resamples}
    by_agent = {standing.agent: standing for standing in found.rows}
    return (
        [_with(row, by_agent[row.agent]).model_copy(update=draws) for row in rows],
        [
            AgentPair(**place, **{f.name: getattr(pair, f.name) for f in fields(Pair)},
                      seed=found.seed)
            for pair in found.pairs
        ],
    )  # fmt: skip


def _with(row: LeaderboardRow, found: Standing | LeaderboardRow) -> LeaderboardRow:
    names = OF_STANDING if isinstance(found, Standing) else STATISTICS
    return row.model_copy(update={name: getattr(found, name) for name in names})


def _place(row: LeaderboardRow) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in LeaderboardRow.key)


def _rows(edition: str, group: Group, sha: str) -> Iterator[LeaderboardRow]:
    category_of = group.category_of
    for (agent,), scores in group.scores.group_by("agent", maintain_order=True):
        yield _row(edition, group, str(agent), scores, category_of, sha)


def _row(
    edition: str,
    group: Group,
    agent: str,
    scores: pl.DataFrame,
    category_of: Mapping[str, str],
    sha: str,
) -> LeaderboardRow:
    valued = scores.filter(pl.col("value").is_not_null())
    n_open = int(scores["n_open"].sum())
    unfinished = int((scores["state"].is_in(["pending", "failed"]) | scores["outdated"]).sum())
    drafted = bool(valued["draft"].any())
    why = _commonest(scores["reason"]) if valued.is_empty() else UNREVIEWED if drafted else None
    return LeaderboardRow(
        edition=edition,
        protocol=group.protocol,
        agent=agent,
        metric=group.metric.name,
        judge=group.judge,
        value=aggregate(group.metric.aggregate, valued, category_of),
        macro=aggregate("macro", valued, category_of),
        micro=aggregate("micro", valued, category_of),
        n_items=int(valued["n_items"].sum()),
        n_reports=valued.height,
        n_open=n_open + unfinished,
        provisional=bool(n_open or unfinished or drafted),
        reason=OUTDATED if scores["outdated"].any() else why,
        scores_sha=sha,
    )


def _commonest(reasons: pl.Series) -> str | None:
    counted = reasons.drop_nulls().value_counts(sort=True, name="n")
    if counted.is_empty():
        return None
    return str(counted.sort(["n", reasons.name], descending=[True, False])[reasons.name][0])
