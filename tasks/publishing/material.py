"""The data of a site, loaded once: an edition's names, figures and links."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import polars as pl

from tasks.configuration.models import MetricEntry, OfflineJudgeEntry, get_judge_title, load_judges
from tasks.editions.names import check_edition, check_scored
from tasks.protocols.case import Protocol
from tasks.protocols.registry import available_protocols, get_protocol_title
from tasks.scoring.boards import select_boards
from tasks.scoring.columns import load_leaderboard
from tasks.site.content import FigureCell, ReportLink
from tasks.site.folder import safe_file_name
from tasks.warehouse.explanations import report_id
from tasks.warehouse.store import Readable

Snapshots = Literal["passages", "whole"]
"""What to include of archived pages: the passages that verdicts rest on, or the whole text."""

ASSIGNMENTS = """
SELECT a.assignment, nullif(a.article, '') AS article, a.kind, a.prompt, a.query,
    CASE WHEN a.kind = 'write_article' OR coalesce(a.query, '') = ''
        THEN coalesce(nullif(r.title, ''), replace(a.assignment, '_', ' '))
        ELSE a.query END AS title,
    r.url, r.created_at,
    coalesce(nullif(nullif(r.category, ''), 'unknown'), g.category) AS category,
    r.views, r.bytes, r.external_links AS links, v.permalink, v.licence, v.attribution,
    (SELECT count(*) FROM facts AS f WHERE f.edition = a.edition AND f.article = a.article)
        AS n_facts
FROM assignments AS a
LEFT JOIN articles AS r ON r.edition = a.edition AND r.article = a.article
LEFT JOIN article_revisions AS v ON v.edition = a.edition AND v.article = a.article
LEFT JOIN ground_truths AS g ON g.edition = a.edition AND g.assignment = a.assignment
WHERE a.edition = $1
ORDER BY a.assignment
"""
REPORTS = """
SELECT agent, assignment, status, text FROM reports WHERE edition = $1 ORDER BY agent, assignment
"""
JUDGES = """
WITH decided AS (
    SELECT judge, count(*) FILTER (status = 'ok') AS n FROM current_verdicts
    WHERE edition = $1 GROUP BY judge
)
SELECT judge FROM (SELECT DISTINCT judge FROM leaderboard WHERE edition = $1)
LEFT JOIN decided USING (judge) ORDER BY n DESC NULLS LAST, judge
"""
AGENTS = """
WITH named AS (
    SELECT DISTINCT r.agent, coalesce(nullif(a.name, ''), r.agent) AS name
    FROM reports AS r LEFT JOIN agents AS a USING (edition, agent) WHERE r.edition = $1
)
SELECT agent, name || CASE WHEN count(*) OVER (PARTITION BY name) > 1
    THEN ' (' || agent || ')' ELSE '' END
FROM named ORDER BY agent
"""
"""The agents with reports, with their names; equal names get the id appended."""


@dataclass(frozen=True, slots=True)
class SiteAssignment:
    """An assignment with the data of its article."""

    assignment: str
    article: str | None
    kind: str
    prompt: str | None
    query: str | None
    title: str
    """The article's, or the query if the assignment is not to write one."""
    url: str | None
    category: str | None
    created_at: datetime | None
    views: int | None
    bytes: int | None
    links: int | None
    permalink: str | None
    licence: str | None
    attribution: str | None
    n_facts: int

    @property
    def href(self) -> str:
        """The path of its page within the site."""
        return f"articles/{safe_file_name(self.assignment)}.html"


@dataclass(frozen=True)
class SiteMaterial:
    """The data of an edition's site. Pages mark facts and claims by `judges[0]`."""

    source: Readable
    edition: str
    title: str
    origin: str
    """The edition's source: wikipedia, wlc, …"""
    judges: tuple[str, ...]
    judge_titles: dict[str, str]
    offline: tuple[str, ...]
    """The judges that use no language model."""
    protocols: Mapping[str, Protocol]
    """By name; only those whose definition is available."""
    protocol_titles: Mapping[str, str]
    """By name, for all that have figures."""
    agents: dict[str, str]
    """Id → name."""
    assignments: dict[str, SiteAssignment]
    reports: pl.DataFrame
    """agent, assignment, status, words."""
    scores: pl.DataFrame
    """The table's rows by these judges."""
    leaderboard: pl.DataFrame
    """The table's rows by these judges."""
    main: tuple[str, str] | None
    """The protocol and metric that lists are sorted by; None if no metric has a value."""
    snapshots: Snapshots

    @property
    def judge(self) -> str:
        return self.judges[0]

    def protocol_title(self, protocol: str) -> str:
        return self.protocol_titles.get(protocol, protocol)

    def judge_title(self, judge: str) -> str:
        return self.judge_titles.get(judge, judge)

    def agent_name(self, agent: str) -> str:
        return self.agents.get(agent, agent)

    def agent_href(self, agent: str) -> str:
        return f"agents/{safe_file_name(agent)}.html"

    def metric(self, protocol: str, metric: str) -> MetricEntry:
        """Return a metric, also if the definition of its protocol (a rubric) is missing."""
        for entry in self.protocols[protocol].metrics if protocol in self.protocols else ():
            if entry.name == metric:
                return entry
        return MetricEntry(
            name=metric,
            title=metric.removeprefix("rubric_").replace("_", " ").capitalize(),
            aggregate="macro",
            better="higher",
            description="The protocol's definition is missing.",
        )

    @property
    def main_metric(self) -> MetricEntry:
        """The metric of `main`; one called "Figure" if there is none."""
        if self.main:
            return self.metric(*self.main)
        return MetricEntry(
            name="", title="Figure", aggregate="macro", better="higher", description=""
        )

    @cached_property
    def report_links(self) -> dict[str, list[ReportLink]]:
        """Links to the reports with the main metric's figure, by assignment."""
        protocol, metric = self.main or ("", "")
        rows = self.scores.filter(
            (pl.col("protocol") == protocol)
            & (pl.col("metric") == metric)
            & (pl.col("judge") == self.judge)
        )
        figures = {
            (row["agent"], row["assignment"]): make_cell(row, self.main_metric.unit)
            for row in rows.iter_rows(named=True)
        }
        found: dict[str, list[ReportLink]] = {name: [] for name in self.assignments}
        for agent, assignment, status, words in self.reports.iter_rows():
            found[assignment].append(
                ReportLink(
                    id=report_id(self.edition, agent, assignment),
                    agent=agent,
                    agent_name=self.agent_name(agent),
                    assignment=assignment,
                    title=self.assignments[assignment].title,
                    status=status,
                    words=words,
                    cell=figures.get((agent, assignment), FigureCell(reason="not judged")),
                )
            )
        return found


def load_material(
    source: Readable, edition: str, judges: Sequence[str], snapshots: Snapshots
) -> SiteMaterial:
    """Load the data of a site.

    Args:
        judges: the judges to show; pages mark facts and claims by the first. If empty, all with
            figures, the one with the most decided items first.

    Raises:
        UnknownName: no such edition, nothing judged, or a judge without figures.
    """
    check_edition(source, edition)
    check_scored(source, edition, judges=judges)
    board = load_leaderboard(source, edition)
    usual = source.frame(JUDGES, [edition])["judge"]
    chosen = tuple(dict.fromkeys(judges or usual))  # without duplicates
    board = board.filter(pl.col("judge").is_in(chosen)).sort("protocol", "judge", "agent", "metric")
    known = load_judges().judges
    protocols = available_protocols(board["protocol"].unique().sort().to_list())
    origin, title = source.frame(
        "SELECT source, title FROM editions WHERE edition = $1", [edition]
    ).row(0)
    scores = source.frame(
        "SELECT * FROM scores WHERE edition = $1 "
        "ORDER BY protocol, judge, metric, agent, assignment",
        [edition],
    )
    assigned = source.frame(ASSIGNMENTS, [edition]).iter_rows(named=True)
    reports = source.frame(REPORTS, [edition])
    words = [len(text.split()) for text in reports["text"]]
    return SiteMaterial(
        source=source,
        edition=edition,
        title=f"Evergreen: {title or edition}",
        origin=origin,
        judges=chosen,
        judge_titles={name: get_judge_title(name) for name in chosen},
        offline=tuple(n for n in chosen if isinstance(known.get(n), OfflineJudgeEntry)),
        protocols=protocols,
        protocol_titles={
            name: get_protocol_title(name) for name in board["protocol"].unique().sort()
        },
        agents=dict(source.frame(AGENTS, [edition]).iter_rows()),
        assignments={row["assignment"]: SiteAssignment(**row) for row in assigned},
        reports=reports.drop("text").with_columns(words=pl.Series(words, dtype=pl.Int64)),
        scores=scores.filter(pl.col("judge").is_in(chosen)),
        leaderboard=board,
        main=_find_main_metric(board, chosen[0]),
        snapshots=snapshots,
    )


def _find_main_metric(board: pl.DataFrame, judge: str) -> tuple[str, str] | None:
    """Return (protocol, metric) of the ranking metric of the judge's first board with values."""
    rows = board.filter((pl.col("judge") == judge) & pl.col("value").is_not_null())
    there = set(rows.select("protocol", "metric").iter_rows())
    for shown in select_boards(rows):
        for metric in (*shown.ranked_by, *shown.columns):
            for name in sorted(shown.protocols):
                if (name, metric) in there:
                    return name, metric
    return None


def sort_key(cell: FigureCell, better: str) -> tuple[bool, float]:
    """Return a sort key: the best figures first, those without a value last."""
    value = cell.value if cell.value is not None else 0.0
    return cell.value is None, -value if better == "higher" else value


def make_cell(row: Mapping[str, Any], unit: Literal["share", "number"]) -> FigureCell:
    """Make a figure cell from a row of the leaderboard or the scores."""
    names = [field.name for field in fields(FigureCell)]
    return FigureCell(**{name: row[name] for name in names if row.get(name) is not None}, unit=unit)
