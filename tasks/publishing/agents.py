"""The agent pages: figures next to the others', strengths and weaknesses, costs and failures."""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl
from markupsafe import Markup

from tasks.base import format_count
from tasks.configuration.models import MetricEntry
from tasks.metrics.ratios import mean
from tasks.publishing.analyses import make_agent_table
from tasks.publishing.boards import AgentCosts, load_costs, load_exposure
from tasks.publishing.material import SiteMaterial, make_cell, sort_key
from tasks.scoring.agent_models import describe_models, load_models
from tasks.site.charts import draw_profile
from tasks.site.content import BoardView, FigureCell, ReportLink, SiteTable
from tasks.site.environment import SitePages
from tasks.site.wording import format_dollars, format_figure, format_number

Pair = tuple[str, str]
"""Name and text."""
BEST = 5
"""Number of best and of worst articles listed."""
STATES = {"done": "judged, some items open", "pending": "not yet judged"}
DESCRIPTIONS = "SELECT agent, description FROM agents WHERE edition = $1"
FAILURES = """
WITH reports AS (
    -- Several metrics have the same open items: the metric with the most counts.
    SELECT agent, protocol, judge, state, assignment, max(n_open) AS n_open,
        coalesce(max(reason) FILTER (state <> 'done'), '') AS reason
    FROM scores
    WHERE edition = $1 AND (state IN ('failed', 'pending') OR n_open > 0)
    GROUP BY ALL
)
SELECT agent, protocol, judge, state, reason, count(*) AS reports, sum(n_open)::BIGINT AS n_open
FROM reports GROUP BY ALL ORDER BY ALL
"""
DECISIONS = """
SELECT agent, protocol, judge, status, count(*) AS n FROM current_verdicts
WHERE edition = $1 GROUP BY ALL ORDER BY ALL
"""


def write_agent_pages(material: SiteMaterial, views: Sequence[BoardView], pages: SitePages) -> None:
    links = [link for of_assignment in material.report_links.values() for link in of_assignment]
    price = load_costs(material)
    descriptions = dict(material.source.frame(DESCRIPTIONS, [material.edition]).iter_rows())
    failures = _load_by_judges(material, FAILURES)
    decisions = _load_by_judges(material, DECISIONS)
    exposure = load_exposure(material)
    models = load_models(material.source, material.edition)
    entry = material.main_metric
    for agent, name in material.agents.items():
        mine = sorted(
            (link for link in links if link.agent == agent),
            key=lambda link: (*sort_key(link.cell, entry.better), link.title),
        )
        valued = [link for link in mine if link.cell.value is not None]
        reported = set(material.reports.filter(pl.col("agent") == agent)["assignment"])
        others = [each for name, each in material.assignments.items() if name not in reported]
        pages.add(
            material.agent_href(agent),
            "agent.html",
            name=name,
            agent=agent,
            description=descriptions.get(agent),
            exposure=exposure.get(agent),
            models=describe_models(models.get(agent, ())),
            main_title=entry.title,
            figures=list(_list_figures(material, agent)),
            chart=_draw_profile(material, views, agent),
            best=valued[:BEST],
            worst=valued[: -BEST - 1 : -1] if len(valued) > BEST else [],
            all_reports=mine,
            by_category=_make_category_table(material, mine),
            differences=make_agent_table(material, agent),
            money=_describe_costs(material, price, agent),
            failures=_list_failures(material, failures.filter(pl.col("agent") == agent)),
            decisions=_make_verdict_table(material, decisions.filter(pl.col("agent") == agent)),
            missing=[(each.title, each.href) for each in others],
        )


def _load_by_judges(material: SiteMaterial, query: str) -> pl.DataFrame:
    """Load the rows of the site's judges."""
    frame = material.source.frame(query, [material.edition])
    return frame.filter(pl.col("judge").is_in(list(material.judges)))


def _list_figures(
    material: SiteMaterial, agent: str
) -> Iterator[tuple[MetricEntry, str, str, FigureCell]]:
    """Yield every figure of the leaderboard with its metric, protocol and judge."""
    rows = material.leaderboard.filter(pl.col("agent") == agent)
    for row in rows.sort("judge", "protocol", maintain_order=True).iter_rows(named=True):
        entry = material.metric(row["protocol"], row["metric"])
        yield (
            entry,
            material.protocol_title(row["protocol"]),
            material.judge_title(row["judge"]),
            make_cell(row, entry.unit),
        )


def _draw_profile(material: SiteMaterial, views: Sequence[BoardView], agent: str) -> Markup | None:
    """Draw the metrics of the first judge's boards: this agent's values and the others'."""
    mine: dict[str, FigureCell] = {}
    others: dict[str, list[float]] = {}
    for view in views:
        if view.judge != material.judge:
            continue
        for place, column in enumerate(view.columns):
            for entry in view.entries:
                cell = entry.cells[place]
                if entry.agent == agent:
                    mine[column.entry.title] = cell
                elif cell.value is not None:
                    others.setdefault(column.entry.title, []).append(cell.value)
    values = {title: others.get(title, []) for title in mine}
    return draw_profile(list(mine.items()), values, material.agents[agent])


def _make_category_table(material: SiteMaterial, links: Sequence[ReportLink]) -> SiteTable | None:
    """Make a table of the main metric's mean in each category that is known."""
    grouped: dict[str, list[float]] = {}
    for link in links:
        category = material.assignments[link.assignment].category or ""
        if link.cell.value is not None:
            grouped.setdefault(category, []).append(link.cell.value)
    n_unknown = len(grouped.pop("", []))
    if not grouped:
        return None
    entry = material.main_metric
    rows = [(mean(values) or 0.0, len(values), name) for name, values in grouped.items()]
    rows.sort(reverse=True)
    return SiteTable(
        caption=f"{entry.title} by category: mean over articles",
        columns=(("Category", False), ("Mean", True), ("Articles", True)),
        rows=tuple(
            (name, format_figure(value, entry.unit), format_number(n)) for value, n, name in rows
        ),
        note=f"Left out because their category is not known: {format_count(n_unknown, 'article')}."
        if n_unknown
        else "",
    )


def _describe_costs(
    material: SiteMaterial, price: Mapping[tuple[str, str], AgentCosts], agent: str
) -> list[Pair]:
    """Return the costs of its reports and of each judge's verdicts, as text."""
    of_agent = [(j, price[j, agent]) for j in material.judges if (j, agent) in price]
    if not of_agent:
        return []
    _, first = of_agent[0]
    return [
        ("Reports", first.reports),
        ("Per report", format_dollars(first.usd_per_report)),
        *((f"Judging: {material.judge_title(judge)}", paid.judging) for judge, paid in of_agent),
    ]


def _list_failures(
    material: SiteMaterial, rows: pl.DataFrame
) -> list[tuple[str, str, str, int, int]]:
    """Return (protocol, judge, problem, number of reports, number of open items)."""
    return [
        (
            material.protocol_title(protocol),
            material.judge_title(judge),
            ": ".join(filter(None, (STATES.get(state, state), reason))),
            n_reports,
            n_open,
        )
        for _, protocol, judge, state, reason, n_reports, n_open in rows.iter_rows()
    ]


def _make_verdict_table(material: SiteMaterial, rows: pl.DataFrame) -> SiteTable:
    """Make a table of verdicts by status, decided or not."""
    return SiteTable(
        caption="Verdicts by status: `ok` counts in figures, `unfetchable` as unsupported in some",
        columns=(("Protocol", False), ("Judge", False), ("Status", False), ("Verdicts", True)),
        rows=tuple(
            (
                material.protocol_title(protocol),
                material.judge_title(judge),
                status,
                format_number(n),
            )
            for _, protocol, judge, status, n in rows.iter_rows()
        ),
    )
