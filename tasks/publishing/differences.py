"""How any two agents differ: the page of all pairs, and an agent's own."""

from collections.abc import Iterator
from typing import Any

from tasks.analysis.agents import differences
from tasks.configuration.models import MetricEntry
from tasks.editions.names import UnknownName
from tasks.metrics.ranks import SURE
from tasks.publishing.material import Material
from tasks.site.content import Site, Table
from tasks.site.environment import page
from tasks.site.folder import SiteFolder
from tasks.site.wording import figure, interval, number

COLUMNS = (("First", False), ("Second", False), ("Difference", True), ("95 % interval", True),
           ("Effect size", True), ("First better", True), ("p", True), ("p corrected", True),
           ("Articles", True), ("In words", False))  # fmt: skip
READ = (
    "Difference: the first agent's figure less the second's, over the articles that both have, in "
    "percentage points (or as the metric counts). Effect size: Cohen's d_z, mean over standard "
    "deviation of the articles' differences. First better: share of articles, ties half. p: "
    "two-sided, from swapping the two within articles; corrected by Holm for all pairs of the "
    "metric; below .05 is called sure. *: one of the two figures is provisional."
)


def differences_page(material: Material, site: Site, folder: SiteFolder) -> None:
    tables = [table for judge in material.judges for table in _tables(material, judge)]
    folder.add(
        "differences.html",
        page("differences.html", site=site, here="differences.html", tables=tables, read=READ),
    )


def differences_with(material: Material, agent: str) -> Table | None:
    """An agent against each of the others by the site's main figure."""
    if not material.main:
        return None
    protocol, metric = material.main
    try:
        pairs = differences(
            material.source, material.edition, material.judge, [protocol], [metric], [agent]
        )
    except UnknownName:  # nobody to be compared with
        return None
    entry = material.metric(protocol, metric)
    return Table(
        caption=f"{entry.title}: this agent less each other one",
        columns=COLUMNS[1:],
        rows=tuple(_words(material, row, entry)[1:] for row in pairs.iter_rows(named=True)),
        note=READ,
    )


def _tables(material: Material, judge: str) -> Iterator[Table]:
    """One for each metric that ranks a board or stands for a protocol and has pairs."""
    try:
        pairs = differences(material.source, material.edition, judge)
    except UnknownName:  # fewer than two agents
        return
    for (protocol, metric), rows in pairs.group_by("protocol", "metric", maintain_order=True):
        if rows["difference"].is_not_null().any():
            entry = material.metric(str(protocol), str(metric))
            direction = "" if entry.better == "higher" else ", lower is better"
            title = f"{material.protocol_title(str(protocol))}: {entry.title}{direction}"
            yield Table(
                caption=f"{title} · {material.judge_title(judge)}",
                columns=COLUMNS,
                rows=tuple(_words(material, row, entry) for row in rows.iter_rows(named=True)),
            )


def _words(material: Material, row: dict[str, Any], entry: MetricEntry) -> tuple[str, ...]:
    p, adjusted = row["p"], row["p_adjusted"]
    return (
        material.agents.get(row["agent"], row["agent"]),
        material.agents.get(row["other"], row["other"]),
        _signed(row["difference"], entry) + ("*" if row["provisional"] else ""),
        interval(row["low"], row["high"], entry.unit) or "–",
        number(row["effect_size"]),
        figure(row["better_share"]) + ("" if row["better_share"] is None else " %"),
        _p(p),
        _p(adjusted),
        number(row["n_articles"]),
        _said(row, entry),
    )


def _signed(value: float | None, entry: MetricEntry) -> str:
    return ("+" if value is not None and value >= 0 else "") + figure(value, entry.unit)


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def _said(row: dict[str, Any], entry: MetricEntry) -> str:
    if row["p_adjusted"] is None or row["difference"] is None:
        return row["reason"] or "not tested"
    if row["p_adjusted"] >= SURE:
        return "may be chance"
    first = (row["difference"] > 0) == (entry.better == "higher")
    return "first is better" if first else "second is better"
