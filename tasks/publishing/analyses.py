"""The analyses page, a section per analysis with tables and charts, and the differences between
agents: the page of all pairs, and an agent's table."""

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
from markupsafe import Markup

from tasks.analysis.agents import compare_agents
from tasks.analysis.analyses import Analyses, Analysis, run_analyses
from tasks.analysis.tables import TextTable, make_tables
from tasks.configuration.models import MetricEntry
from tasks.editions.names import UnknownName
from tasks.metrics.ranks import SIGNIFICANCE_LEVEL
from tasks.protocols.registry import get_protocol_title
from tasks.publishing.material import SiteMaterial
from tasks.site.charts import draw_bars, draw_scatter
from tasks.site.content import SiteTable
from tasks.site.environment import SitePages
from tasks.site.wording import format_figure, format_interval, format_number

HEADINGS: dict[Analysis, str] = {
    "difficulty": "How difficult the categories are",
    "correlation": "Correlates of difficulty",
    "anova": "Do agents do better in some categories?",
    "contamination": "Contamination: scores by age of the article",
    "leakage": "Leakage: citing the article itself",
    "conflict": "Conflicts",
    "cost": "Cost",
    "trend": "Trend over editions",
}
"""The sections' headings, in the order of the page."""
DIFFERENCES = (("First", False), ("Second", False), ("Difference", True), ("95 % interval", True),
           ("Effect size", True), ("First better", True), ("p", True), ("p corrected", True),
           ("Articles", True), ("Result", False))  # fmt: skip
DIFFERENCES_NOTE = (
    "Difference: the first agent's figure minus the second's, over the articles that both have, in "
    "percentage points (or in the metric's unit). Effect size: Cohen's d_z, the mean divided by "
    "the standard deviation of the articles' differences. First better: share of articles, ties "
    "count half. p: two-sided randomization test within articles; p corrected: for all pairs of "
    "the metric together (step-down max-T); a difference is significant if the corrected p is "
    "below .05. *: one of the two figures is provisional."
)


def write_analyses_page(material: SiteMaterial, pages: SitePages) -> None:
    found = run_analyses(material.source, material.edition, material.judge)
    sections = [
        {
            "id": name,
            "heading": HEADINGS[name],
            "tables": [
                _make_table(material, table)
                for table in make_tables(found, name)
                if not _has_no_values(found, name)
            ],
            "chart": CHARTS[name](found, material) if name in CHARTS else None,
            "remarks": found.remarks[name],
        }
        for name in HEADINGS
    ]
    pages.add(
        "analyses.html",
        sections=sections,
        judge_title=material.judge_title(material.judge),
        metric=found.metric,
        metric_protocol=get_protocol_title(found.metric.protocol) if found.metric else "",
    )


def _has_no_values(found: Analyses, name: Analysis) -> bool:
    """Return whether no agent has a value; a remark says so instead of a table."""
    return name in ("leakage", "conflict") and bool(getattr(found, name)["value"].is_null().all())


def _make_table(material: SiteMaterial, table: TextTable) -> SiteTable:
    columns = [
        [material.agent_name(cell) for cell in column.cells]
        if column.heading == "Agent"
        else column.cells
        for column in table.columns
    ]
    return SiteTable(
        caption=table.title,
        columns=tuple((column.heading, column.is_numeric) for column in table.columns),
        rows=tuple(zip(*columns, strict=True)),
        note=" ".join(filter(None, (table.note, *table.reasons))),
    )


def _scale(found: Analyses) -> float:
    return 100 if found.metric and found.metric.entry.unit == "share" else 1


def _axis_title(found: Analyses) -> str:
    if not found.metric:
        return "value"
    percent = ", percent" if found.metric.entry.unit == "share" else ""
    return f"{found.metric.entry.title}{percent}"


def _draw_difficulty(found: Analyses, _: SiteMaterial) -> Markup | None:
    rows = [
        {"name": f"{r['category']} ({r['n_articles']})", "value": r["value"] * _scale(found),
         "low": None, "high": None}
        for r in found.difficulty.drop_nulls("value").iter_rows(named=True)
    ]  # fmt: skip
    if not rows:
        return None
    return draw_bars(rows, _axis_title(found), "Mean figure of all agents by category, with the "
                     "number of articles in brackets; the hardest on top.", "d")  # fmt: skip


def _draw_contamination(found: Analyses, material: SiteMaterial) -> Markup | None:
    points = found.ages.drop_nulls(["age_days", "value"])
    if points["age_days"].n_unique() < 2:
        return None
    rows: list[dict[str, Any]] = [
        {"x": row["age_days"], "y": row["value"] * _scale(found),
         "series": material.agent_name(row["agent"])}
        for row in points.iter_rows(named=True)
    ]  # fmt: skip
    return draw_scatter(rows, "age of the article at the end of the edition, in days",
                        _axis_title(found), "Each agent's value for each article by the article's "
                        "age, with a regression line for each agent.", "c")  # fmt: skip


def _draw_trend(found: Analyses, material: SiteMaterial) -> Markup | None:
    if found.metric is None or found.trend["edition"].n_unique() < 2:
        return None
    of = found.trend.filter(
        (pl.col("protocol") == found.metric.protocol)
        & (pl.col("metric") == found.metric.entry.name)
        & pl.col("value").is_not_null()
    )
    order = {name: place for place, name in enumerate(of["edition"].unique(maintain_order=True))}
    rows = [
        {"x": order[row["edition"]] + 1, "y": row["value"] * _scale(found),
         "series": material.agent_name(row["agent"])}
        for row in of.iter_rows(named=True)
    ]  # fmt: skip
    named = "; ".join(f"{place + 1}: {name}" for name, place in order.items())
    return draw_scatter(
        rows, f"edition ({named})", _axis_title(found), "Each agent's figure by edition.", "t"
    )


CHARTS: dict[Analysis, Callable[[Analyses, SiteMaterial], Markup | None]] = {
    "difficulty": _draw_difficulty,
    "contamination": _draw_contamination,
    "trend": _draw_trend,
}


def write_differences_page(material: SiteMaterial, pages: SitePages) -> None:
    tables = [table for judge in material.judges for table in _compare_agents(material, judge)]
    pages.add("differences.html", tables=tables, read=DIFFERENCES_NOTE)


def make_agent_table(material: SiteMaterial, agent: str) -> SiteTable | None:
    """Compare an agent with each of the others by the site's main metric."""
    if not material.main:
        return None
    protocol, metric = material.main
    try:
        pairs = compare_agents(
            material.source, material.edition, material.judge, [protocol], [metric], [agent]
        )
    except UnknownName:  # there is no other agent
        return None
    entry = material.metric(protocol, metric)
    return SiteTable(
        caption=f"{entry.title}: this agent minus each other agent",
        columns=DIFFERENCES[1:],
        rows=tuple(_format_row(material, row, entry)[1:] for row in pairs.iter_rows(named=True)),
        note=DIFFERENCES_NOTE,
    )


def _compare_agents(material: SiteMaterial, judge: str) -> Iterator[SiteTable]:
    """Yield a table for each ranking or headline metric with pairs."""
    try:
        pairs = compare_agents(material.source, material.edition, judge)
    except UnknownName:  # fewer than two agents
        return
    for (protocol, metric), rows in pairs.group_by("protocol", "metric", maintain_order=True):
        if rows["difference"].is_not_null().any():
            entry = material.metric(str(protocol), str(metric))
            title = ", ".join(
                filter(None, (f"{material.protocol_title(str(protocol))}: {entry.title}",
                              entry.direction))
            )  # fmt: skip
            yield SiteTable(
                caption=f"{title} · {material.judge_title(judge)}",
                columns=DIFFERENCES,
                rows=tuple(_format_row(material, row, entry) for row in rows.iter_rows(named=True)),
            )


def _format_row(material: SiteMaterial, row: dict[str, Any], entry: MetricEntry) -> tuple[str, ...]:
    difference, star = row["difference"], "*" if row["provisional"] else ""
    sign = "+" if difference is not None and difference >= 0 else ""
    return (
        material.agent_name(row["agent"]),
        material.agent_name(row["other"]),
        f"{sign}{format_figure(difference, entry.unit)}{star}",
        format_interval(row["low"], row["high"], entry.unit) or "–",
        format_number(row["effect_size"]),
        format_figure(row["better_share"]) + ("" if row["better_share"] is None else " %"),
        _format_p(row["p"]),
        _format_p(row["p_adjusted"]),
        format_number(row["n_articles"]),
        _describe_result(row, entry),
    )


def _format_p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def _describe_result(row: dict[str, Any], entry: MetricEntry) -> str:
    if row["p_adjusted"] is None or row["difference"] is None:
        return row["reason"] or "not tested"
    if row["p_adjusted"] >= SIGNIFICANCE_LEVEL:
        return "not significant"
    first = (row["difference"] > 0) == (entry.better == "higher")
    return "first is better" if first else "second is better"
