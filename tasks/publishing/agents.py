"""The page of every agent: its figures beside the others', where it is strong and weak, what it
cost, what failed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from tasks.metrics.shares import mean
from tasks.publishing.assignments import report_links
from tasks.publishing.costs import Price, prices
from tasks.publishing.differences import differences_with
from tasks.publishing.material import Material, best_first, cell_of
from tasks.site.charts import profile
from tasks.site.content import BoardView, Cell, ReportLink, Site, Table
from tasks.site.environment import page
from tasks.site.folder import SiteFolder
from tasks.site.wording import dollars, figure, number

Pair = tuple[str, str]
"""What it is, and what it says."""
BEST = 5
"""Articles at each end."""
STATES = {"done": "judged, with items still open", "pending": "still to be judged"}
FAILURES = """
WITH reports AS (
    -- Several metrics wait for the same items: those of the one with most count.
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


def agent_pages(
    material: Material, site: Site, views: Sequence[BoardView], folder: SiteFolder
) -> None:
    links = [link for each in report_links(material).values() for link in each]
    price = prices(material)
    failures = material.source.frame(FAILURES, [material.edition])
    decisions = material.source.frame(DECISIONS, [material.edition])
    better = material.metric(*material.main).better if material.main else "higher"
    for agent in material.agents:
        mine = sorted(
            (link for link in links if link.agent == agent),
            key=lambda link: (*best_first(link.cell, better), link.title),
        )
        valued = [link for link in mine if link.cell.value is not None]
        folder.add(
            material.agent_href(agent),
            page(
                "agent.html",
                depth=1,
                site=site,
                name=material.agents[agent],
                agent=agent,
                description=_description(material, agent),
                main_title=material.metric(*material.main).title if material.main else "Figure",
                figures=list(_figures(material, agent)),
                chart=_profile(material, views, agent),
                best=valued[:BEST],
                worst=valued[: -BEST - 1 : -1] if len(valued) > BEST else [],
                all_reports=mine,
                by_category=_by_category(material, mine),
                differences=differences_with(material, agent),
                money=_money(material, price, agent),
                failures=_failures(material, failures.filter(pl.col("agent") == agent)),
                decisions=_decisions(material, decisions.filter(pl.col("agent") == agent)),
                missing=_missing(material, agent),
            ),
        )


def _description(material: Material, agent: str) -> str:
    found = material.source.frame(
        "SELECT description FROM agents WHERE edition = $1 AND agent = $2",
        [material.edition, agent],
    )
    return (found.item() if found.height else None) or ""


def _figures(material: Material, agent: str) -> Iterator[dict[str, Any]]:
    """Every figure of the leaderboard, by protocol and judge."""
    rows = material.leaderboard.filter(pl.col("agent") == agent)
    for row in rows.sort("judge", "protocol", maintain_order=True).iter_rows(named=True):
        entry = material.metric(row["protocol"], row["metric"])
        yield {
            "protocol": material.protocol_title(row["protocol"]),
            "judge": material.judge_title(row["judge"]),
            "title": entry.title,
            "description": entry.description,
            "better": entry.better,
            "cell": cell_of(row, entry.unit),
        }


def _profile(material: Material, views: Sequence[BoardView], agent: str) -> Any:
    """The metrics of the first judge's boards, this agent's beside the others'."""
    mine: dict[str, Cell] = {}
    others: dict[str, list[float]] = {}
    for view in views:
        if view.judge != material.judge:
            continue
        for place, column in enumerate(view.columns):
            for entry in view.entries:
                cell = entry.cells[place]
                if entry.agent == agent:
                    mine[column.title] = cell
                elif cell.value is not None:
                    others.setdefault(column.title, []).append(cell.value)
    beside = {title: others.get(title, []) for title in mine}
    return profile(list(mine.items()), beside, material.agents[agent])


def _by_category(material: Material, links: Sequence[ReportLink]) -> Table | None:
    """The mean of the site's main figure in each category."""
    grouped: dict[str, list[float]] = {}
    for link in links:
        category = material.assignments[link.assignment].category
        if category and link.cell.value is not None:
            grouped.setdefault(category, []).append(link.cell.value)
    if not grouped:
        return None
    entry = material.metric(*material.main) if material.main else None
    unit = entry.unit if entry else "share"
    rows = sorted(
        ((mean(values) or 0.0, len(values), name) for name, values in grouped.items()),
        reverse=True,
    )
    return Table(
        caption=f"{entry.title if entry else 'Figure'} by category: mean over articles",
        columns=(("Category", False), ("Mean", True), ("Articles", True)),
        rows=tuple((name, figure(value, unit), number(n)) for value, n, name in rows),
    )


def _money(material: Material, price: Mapping[tuple[str, str], Price], agent: str) -> list[Pair]:
    """What its reports cost and what each judge's verdicts did, in words."""
    of_agent = [(j, price[j, agent]) for j in material.judges if (j, agent) in price]
    if not of_agent:
        return []
    _, first = of_agent[0]
    return [
        ("Reports", first.reports),
        ("Per report", dollars(first.usd_per_report)),
        *((f"Judging: {material.judge_title(judge)}", paid.judging) for judge, paid in of_agent),
    ]


def _failures(material: Material, rows: pl.DataFrame) -> list[tuple[str, str, str, int, int]]:
    """Protocol, judge, what is the matter, how many reports, how many items."""
    found = []
    for row in rows.filter(pl.col("judge").is_in(list(material.judges))).iter_rows(named=True):
        said = ": ".join(filter(None, (STATES.get(row["state"], row["state"]), row["reason"])))
        protocol, judge = (
            material.protocol_title(row["protocol"]),
            material.judge_title(row["judge"]),
        )
        found.append((protocol, judge, said, row["reports"], row["n_open"]))
    return found


def _decisions(material: Material, rows: pl.DataFrame) -> Table:
    """How many verdicts have which status: what was not decided is counted beside what was."""
    of = rows.filter(pl.col("judge").is_in(list(material.judges)))
    return Table(
        caption="Verdicts by status: only `ok` enters a figure",
        columns=(("Protocol", False), ("Judge", False), ("Status", False), ("Verdicts", True)),
        rows=tuple(
            (material.protocol_title(protocol), material.judge_title(judge), status, number(n))
            for _, protocol, judge, status, n in of.iter_rows()
        ),
    )


def _missing(material: Material, agent: str) -> list[tuple[str, str]]:
    """Assignments without its report: title and page."""
    there = set(material.reports.filter(pl.col("agent") == agent)["assignment"])
    return [(a.title, a.href) for name, a in material.assignments.items() if name not in there]
