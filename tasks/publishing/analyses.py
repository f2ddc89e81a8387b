"""The page of the published analyses, a section for each, and its pictures."""

from collections.abc import Callable
from typing import Any

import polars as pl
from markupsafe import Markup

from tasks.analysis.analyses import Analyses, Analysis, analyses
from tasks.analysis.tables import WordTable, tables_of
from tasks.protocols.registry import title_of
from tasks.publishing.material import Material
from tasks.site.charts import bars, scatter
from tasks.site.content import Site, Table
from tasks.site.environment import page
from tasks.site.folder import SiteFolder

HEADINGS: dict[Analysis, str] = {
    "difficulty": "How difficult the categories are",
    "correlation": "What goes with difficulty",
    "anova": "Do agents do better in some categories?",
    "contamination": "Contamination: scores against the age of the article",
    "leakage": "Leakage: citing the article itself",
    "conflict": "Conflicts",
    "cost": "Cost",
    "trend": "From edition to edition",
}
"""In the order of the page."""


def analyses_page(material: Material, site: Site, folder: SiteFolder) -> None:
    found = analyses(material.source, material.edition, material.judge)
    sections = [
        {
            "id": name,
            "heading": HEADINGS[name],
            "tables": [_table(material, table) for table in tables_of(found, name)
                       if not _is_void(found, name)],
            "chart": PICTURES[name](found, material) if name in PICTURES else None,
            "remarks": found.remarks[name],
        }
        for name in HEADINGS
    ]  # fmt: skip
    folder.add(
        "analyses.html",
        page(
            "analyses.html",
            site=site,
            here="analyses.html",
            sections=sections,
            judge_title=material.judge_title(material.judge),
            metric=found.metric,
            metric_protocol=title_of(found.metric.protocol) if found.metric else "",
        ),
    )


def _is_void(found: Analyses, name: Analysis) -> bool:
    """Whether nobody has a value: a remark says so, a table of dashes would not say more."""
    return name in ("leakage", "conflict") and bool(getattr(found, name)["value"].is_null().all())


def _table(material: Material, table: WordTable) -> Table:
    columns = [
        [material.agents.get(cell, cell) for cell in column.cells]
        if column.heading == "Agent"
        else column.cells
        for column in table.columns
    ]
    return Table(
        caption=table.title,
        columns=tuple((column.heading, column.numbers) for column in table.columns),
        rows=tuple(zip(*columns, strict=True)),
        note=" ".join(filter(None, (table.note, *table.reasons))),
    )


def _times(found: Analyses) -> float:
    return 100 if found.metric and found.metric.entry.unit == "share" else 1


def _title(found: Analyses) -> str:
    if not found.metric:
        return "value"
    percent = ", percent" if found.metric.entry.unit == "share" else ""
    return f"{found.metric.entry.title}{percent}"


def _difficulty(found: Analyses, _: Material) -> Markup | None:
    rows = [
        {"name": f"{r['category']} ({r['n_articles']})", "value": r["value"] * _times(found),
         "low": None, "high": None}
        for r in found.difficulty.drop_nulls("value").iter_rows(named=True)
    ]  # fmt: skip
    if not rows:
        return None
    return bars(rows, _title(found), "Mean figure of all agents by category, in brackets how many "
                "articles it has; the hardest on top.", "d")  # fmt: skip


def _contamination(found: Analyses, material: Material) -> Markup | None:
    points = found.ages.drop_nulls(["age_days", "value"])
    if points["age_days"].n_unique() < 2:
        return None
    rows: list[dict[str, Any]] = [
        {"x": row["age_days"], "y": row["value"] * _times(found),
         "series": material.agents.get(row["agent"], row["agent"])}
        for row in points.iter_rows(named=True)
    ]  # fmt: skip
    return scatter(rows, "age of the article in days, at the edition's end", _title(found),
                   "Each agent's value for each article against the article's age, with a "
                   "straight line for each agent.", "c")  # fmt: skip


def _trend(found: Analyses, material: Material) -> Markup | None:
    if found.metric is None or found.trend["edition"].n_unique() < 2:
        return None
    of = found.trend.filter(
        (pl.col("protocol") == found.metric.protocol)
        & (pl.col("metric") == found.metric.entry.name)
        & pl.col("value").is_not_null()
    )
    order = {name: place for place, name in enumerate(of["edition"].unique(maintain_order=True))}
    rows = [
        {"x": order[row["edition"]] + 1, "y": row["value"] * _times(found),
         "series": material.agents.get(row["agent"], row["agent"])}
        for row in of.iter_rows(named=True)
    ]  # fmt: skip
    named = "; ".join(f"{place + 1}: {name}" for name, place in order.items())
    return scatter(rows, f"edition ({named})", _title(found),
                   "Each agent's figure by edition.", "t")  # fmt: skip


PICTURES: dict[Analysis, Callable[[Analyses, Material], Markup | None]] = {
    "difficulty": _difficulty,
    "contamination": _contamination,
    "trend": _trend,
}
