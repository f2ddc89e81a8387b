"""The headline metrics of all protocols on the same reports, and whether they rank agents (or
reports) alike. Metrics with different meanings are never averaged."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.editions.names import UnknownName, check_edition
from tasks.errors import suggest_names
from tasks.metrics.correlation import rank_correlation
from tasks.metrics.ratios import aggregate
from tasks.protocols.case import Protocol
from tasks.protocols.registry import available_protocols
from tasks.warehouse.results import OUTDATED
from tasks.warehouse.store import Readable

BOARD = """
SELECT protocol, metric, agent, value, n_reports, provisional
FROM leaderboard
WHERE edition = $1 AND judge = $2
"""
OUTDATED_AGENTS = """
SELECT DISTINCT protocol, agent FROM leaderboard
WHERE edition = $1 AND judge = $2 AND reason = $3
ORDER BY ALL
"""
CATEGORIES = "SELECT assignment, category FROM ground_truths WHERE edition = $1"
SCORES = """
SELECT protocol, metric, agent, assignment, value, numerator, n_items
FROM scores
WHERE edition = $1 AND judge = $2 AND value IS NOT NULL
ORDER BY ALL
"""
Over = Literal["agents", "reports"]
AGENTS = {"protocol": pl.String, "metric": pl.String, "agent": pl.String, "value": pl.Float64,
          "n_reports": pl.Int64, "provisional": pl.Boolean}  # fmt: skip
PAIRS = {"protocol": pl.String, "metric": pl.String, "other_protocol": pl.String,
         "other_metric": pl.String, "n": pl.Int64, "n_reports": pl.Int64, "spearman": pl.Float64,
         "kendall": pl.Float64, "p": pl.Float64, "reason": pl.String}  # fmt: skip
NO_OVERALL = (
    "There is no overall column: the metrics are shares of different things (facts, wins, claims, "
    "points), so a mean over them would mean nothing."
)


@dataclass(frozen=True)
class Metric:
    """A metric of a protocol."""

    protocol: str
    entry: MetricEntry

    @property
    def key(self) -> tuple[str, str]:
        return self.protocol, self.entry.name


@dataclass(frozen=True)
class ProtocolComparison:
    """An edition's headline metrics under all its protocols, by one judge."""

    metrics: tuple[Metric, ...]
    agents: pl.DataFrame
    """A frame of AGENTS: a row per metric and agent."""
    pairs: pl.DataFrame
    """A frame of PAIRS: a row per two metrics; `n`: agents or reports, `n_reports`: reports judged
    under both. Positive correlations mean that better by one is better by the other."""
    remarks: tuple[str, ...]
    """Notes for the reader."""


def compare_headline_metrics(
    source: Readable,
    edition: str,
    judge: str,
    protocols: Sequence[str] = (),
    over: Over = "agents",
    *,
    same_reports: bool = True,
) -> ProtocolComparison:
    """Compare the headline metrics of every protocol that has scores by this judge.

    Args:
        protocols: only these; all that have scores if empty.
        over: what to rank.
        same_reports: for each two metrics, compare agents by the reports judged under both;
            otherwise by all reports of each metric.

    Raises:
        UnknownName: the edition is unknown, or has no scores by this judge or of these protocols.
    """
    check_edition(source, edition)
    board = source.frame(BOARD, [edition, judge])
    scored = board["protocol"].unique().sort().to_list()
    there = _choose_protocols(edition, judge, scored, protocols)
    known = available_protocols(there)
    found = [
        metric
        for name, protocol in known.items()
        for metric in find_headline_metrics(name, protocol)
    ]
    valued = set(board.drop_nulls("value").select("protocol", "metric").iter_rows())
    metrics = [metric for metric in found if metric.key in valued]
    scores = _load_scores(source, edition, judge)
    categories = dict(source.frame(CATEGORIES, [edition]).iter_rows())
    pairs = [
        _correlate(one, other, scores, categories, over, same_reports)
        for one, other in combinations([m for m in metrics if m.entry.better != "none"], 2)
    ]
    return ProtocolComparison(
        metrics=tuple(metrics),
        agents=_tabulate_agents(board, metrics),
        pairs=pl.DataFrame(pairs, schema=PAIRS, orient="row"),
        remarks=(
            *_make_remarks(metrics, found, known, set(there) - known.keys()),
            *_list_outdated(source, edition, judge, known),
        ),
    )


def _list_outdated(
    source: Readable, edition: str, judge: str, protocols: Collection[str]
) -> Iterator[str]:
    """Yield which agents were judged by another version of a protocol than the others."""
    agents: dict[str, list[str]] = defaultdict(list)
    for protocol, agent in source.frame(OUTDATED_AGENTS, [edition, judge, OUTDATED]).iter_rows():
        if protocol in protocols:
            agents[protocol].append(agent)
    for protocol, names in agents.items():
        yield (
            f"Judged by another version of {protocol}: {', '.join(names)}. Their figures are "
            "provisional; evaluate them again."
        )


def find_headline_metrics(name: str, protocol: Protocol) -> list[Metric]:
    """Return a protocol's headline metrics: those it marks, or its first metric."""
    marked = [entry for entry in protocol.metrics if entry.headline]
    return [Metric(name, entry) for entry in marked or protocol.metrics[:1]]


def _choose_protocols(
    edition: str, judge: str, there: list[str], named: Sequence[str]
) -> list[str]:
    if not there:
        raise UnknownName(
            f"{edition} has no scores by the judge {judge!r}. Run `evergreen evaluate` first, or "
            "name another judge with --judge."
        )
    for name in named:
        if name not in there:
            raise UnknownName(
                f"{edition} has no scores of {name!r} by the judge {judge!r}. "
                f"{suggest_names(name, there)}"
            )
    return [name for name in there if not named or name in named]


def _tabulate_agents(board: pl.DataFrame, metrics: Sequence[Metric]) -> pl.DataFrame:
    """Return each metric of every agent with any scores of the protocols; null without a value."""
    figures = {(p, m, agent): rest for p, m, agent, *rest in board.iter_rows()}
    protocols = {metric.protocol for metric in metrics}
    agents = sorted({agent for protocol, _, agent in figures if protocol in protocols})
    rows = [
        (*metric.key, agent, *figures.get((*metric.key, agent), (None, 0, False)))
        for metric in metrics
        for agent in agents
    ]
    return pl.DataFrame(rows, schema=AGENTS, orient="row")


Scores = Mapping[tuple[str, str], Mapping[str, pl.DataFrame]]
"""(protocol, metric) → agent → its scores with a value."""


def _load_scores(source: Readable, edition: str, judge: str) -> Scores:
    found: dict[tuple[str, str], dict[str, pl.DataFrame]] = defaultdict(dict)
    groups = source.frame(SCORES, [edition, judge]).group_by(
        "protocol", "metric", "agent", maintain_order=True
    )
    for (protocol, metric, agent), rows in groups:
        found[str(protocol), str(metric)][str(agent)] = rows
    return found


def _correlate(
    first: Metric,
    second: Metric,
    scores: Scores,
    categories: Mapping[str, str],
    over: Over,
    same_reports: bool,
) -> tuple[Any, ...]:
    values: list[tuple[float, float]] = []
    n_reports = 0
    ours, theirs = scores.get(first.key, {}), scores.get(second.key, {})
    for agent in sorted(ours.keys() & theirs.keys()):
        one, other = ours[agent], theirs[agent]
        common = one.join(other, on="assignment", how="inner", suffix="_other")
        n_reports += common.height
        if over == "reports":
            values += common.select("value", "value_other").iter_rows()
            continue
        if same_reports:
            one = one.join(common, on="assignment", how="semi")
            other = other.join(common, on="assignment", how="semi")
        pair = tuple(
            aggregate(metric.entry.aggregate, rows, categories)
            for metric, rows in ((first, one), (second, other))
        )
        if None not in pair:
            values.append(pair)  # type: ignore[arg-type]
    found = rank_correlation([(first.entry.sign * a, second.entry.sign * b) for a, b in values])
    return (*first.key, *second.key, found.n, n_reports, found.spearman, found.kendall, found.p,
            found.reason)  # fmt: skip


def _make_remarks(
    metrics: Sequence[Metric],
    found: Sequence[Metric],
    known: Mapping[str, Protocol],
    missing: Collection[str],
) -> Iterator[str]:
    yield NO_OVERALL
    if len(metrics) < 2:
        yield "Nothing to compare: fewer than two metrics have values by this judge."
    shown = {metric.key for metric in metrics}
    partly = {name: protocol.partly_supported for name, protocol in sorted(known.items())}
    counted = [how[1] for name, how in partly.items() if how and (name, how[0]) in shown]
    if len(counted) > 1:
        yield (
            f"A claim that a page supports only in part counts {', '.join(counted)}: these columns "
            "do not measure the same thing."
        )
    if nowhere := [f"{m.protocol}/{m.entry.name}" for m in found if m not in metrics]:
        yield f"Left out because they have no value by this judge: {', '.join(nowhere)}."
    if missing:
        yield (
            f"Left out because the rubric is missing: {', '.join(sorted(missing))}. List its file "
            "in EVERGREEN_RUBRICS, or put it into configs/rubrics."
        )
