"""Differences between agents: the page of all pairs, and an agent's table."""

from collections.abc import Iterator
from typing import Any

from tasks.analysis.agents import compare_agents
from tasks.configuration.models import MetricEntry
from tasks.editions.names import UnknownName
from tasks.metrics.ranks import SIGNIFICANCE_LEVEL
from tasks.publishing.material import SiteMaterial
from tasks.site.content import SiteTable
from tasks.site.pages import SitePages
from tasks.site.wording import format_figure, format_interval, format_number

COLUMNS = (("First", False), ("Second", False), ("Difference", True), ("95 % interval", True),
           ("Effect size", True), ("First better", True), ("p", True), ("p corrected", True),
           ("Articles", True), ("Result", False))  # fmt: skip
NOTE = (
    "Difference: the first agent's figure minus the second's, over the articles that both have, in "
    "percentage points (or in the metric's unit). Effect size: Cohen's d_z, the mean divided by "
    "the standard deviation of the articles' differences. First better: share of articles, ties "
    "count half. p: two-sided randomization test within articles, Holm-corrected over all pairs "
    "of the metric; a difference is significant if the corrected p is below .05. *: one of the "
    "two figures is provisional."
)


def write_differences_page(material: SiteMaterial, pages: SitePages) -> None:
    tables = [table for judge in material.judges for table in _make_tables(material, judge)]
    pages.add("differences.html", tables=tables, read=NOTE)


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
        columns=COLUMNS[1:],
        rows=tuple(_format_row(material, row, entry)[1:] for row in pairs.iter_rows(named=True)),
        note=NOTE,
    )


def _make_tables(material: SiteMaterial, judge: str) -> Iterator[SiteTable]:
    """Yield a table for each ranking or headline metric with pairs."""
    try:
        pairs = compare_agents(material.source, material.edition, judge)
    except UnknownName:  # fewer than two agents
        return
    for (protocol, metric), rows in pairs.group_by("protocol", "metric", maintain_order=True):
        if rows["difference"].is_not_null().any():
            entry = material.metric(str(protocol), str(metric))
            direction = "" if entry.better == "higher" else ", lower is better"
            title = f"{material.protocol_title(str(protocol))}: {entry.title}{direction}"
            yield SiteTable(
                caption=f"{title} · {material.judge_title(judge)}",
                columns=COLUMNS,
                rows=tuple(_format_row(material, row, entry) for row in rows.iter_rows(named=True)),
            )


def _format_row(material: SiteMaterial, row: dict[str, Any], entry: MetricEntry) -> tuple[str, ...]:
    return (
        material.agent_name(row["agent"]),
        material.agent_name(row["other"]),
        _format_signed(row["difference"], entry) + ("*" if row["provisional"] else ""),
        format_interval(row["low"], row["high"], entry.unit) or "–",
        format_number(row["effect_size"]),
        format_figure(row["better_share"]) + ("" if row["better_share"] is None else " %"),
        _format_p(row["p"]),
        _format_p(row["p_adjusted"]),
        format_number(row["n_articles"]),
        _describe_result(row, entry),
    )


def _format_signed(value: float | None, entry: MetricEntry) -> str:
    return ("+" if value is not None and value >= 0 else "") + format_figure(value, entry.unit)


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
