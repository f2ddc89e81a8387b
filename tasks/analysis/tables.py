"""The analyses as tables of formatted text, for the terminal and the site."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tasks.analysis.analyses import Analyses, Analysis
from tasks.analysis.difficulty import ALL, COVARIATES, REPEATED
from tasks.analysis.trends import LESS_OTHERS, VALUE
from tasks.metrics.ranks import SIGNIFICANCE_LEVEL

NO_VALUE, PROVISIONAL = "–", "provisional"
CellFormat = str | Callable[[Any, Analyses], str]
"""A format specification, or a function that formats a value."""
TEXT, NUMBER, RATIO = "", ",.0f", ".3f"


def format_figure(value: float, found: Analyses) -> str:
    """Format a value in the unit of the analysed metric."""
    share = found.metric is not None and found.metric.entry.unit == "share"
    return f"{value * 100:.1f}" if share else f"{value:,.2f}"


def format_percent(value: float, _: Analyses) -> str:
    return f"{value * 100:.1f}"


def format_probability(value: float, _: Analyses) -> str:
    text = f"{value:.3f}" if value >= 0.001 else "<.001"
    return f"{text}{'°' if value < SIGNIFICANCE_LEVEL else ' '}"


def format_dollars(value: float, _: Analyses) -> str:
    return f"{value:,.2f}" if value >= 1 or value == 0 else f"{value:.3g}"


Spec = dict[str, tuple[str, CellFormat]]
"""Column → heading and formatter of its cells."""


@dataclass(frozen=True)
class TableLayout:
    """The layout of one frame as a table."""

    title: str
    labels: Spec
    """The columns that name what a row is about."""
    columns: Spec
    note: str = ""
    row_filter: dict[str, str] = field(default_factory=dict)
    """Column → the value that rows must have."""


P: Spec = {"p": ("p", format_probability), "p_adjusted": ("p adj.", format_probability)}
ANOVA: Spec = {
    "f": ("F", RATIO), "df_between": ("df", NUMBER),
    "df_within": ("df within", NUMBER), **P,
    "eta_squared": ("eta²", RATIO), "eta_squared_by_chance": ("by chance", RATIO),
    "n_categories": ("Cat.", NUMBER), "n_single": ("single", NUMBER),
    "n_articles": ("Art.", NUMBER),
}  # fmt: skip
AGE: Spec = {
    "spearman": ("rho", RATIO), "slope_per_30_days": ("per 30 days", format_figure),
    "low": ("low", format_figure), "high": ("high", format_figure),
    **P, "n_articles": ("Art.", NUMBER),
}  # fmt: skip
SHARES: Spec = {
    "value": ("Share", format_percent),
    "numerator": ("Counted", NUMBER),
    "n_items": ("of", NUMBER),
    "n_reports": ("Rep.", NUMBER),
    "provisional": ("State", lambda value, _: PROVISIONAL if value else ""),
}
SHARES_NOTE = (
    "Share: as on the leaderboard, for most metrics the mean of the reports' shares. Counted and "
    "of: totals over all reports."
)
AGENT: Spec = {"agent": ("Agent", TEXT)}
METRIC_AND_AGENT: Spec = {"metric": ("Metric", TEXT), **AGENT}
SIGNIFICANCE_NOTE = (
    f"°: p below {SIGNIFICANCE_LEVEL}. p adj.: for the number of agents (Benjamini and Hochberg)."
)
LAYOUT: dict[Analysis, tuple[TableLayout, ...]] = {
    "difficulty": (
        TableLayout(
            "Difficulty of the categories",
            {"category": ("Category", TEXT)},
            {"value": ("Mean", format_figure), "n_articles": ("Art.", NUMBER),
             "n_reports": ("Rep.", NUMBER), "n_missing": ("Missing", NUMBER),
             "value_complete": ("Common", format_figure),
             "n_complete": ("Common art.", NUMBER),
             **{name: (name.capitalize(), NUMBER) for name in COVARIATES}},
            "Mean: over articles of the means over agents. Common: the same over the articles for "
            "which all agents have a value. The other columns are means over the articles.",
        ),
    ),
    "correlation": (
        TableLayout(
            "Correlates of difficulty",
            {"covariate": ("Category's mean of", TEXT)},
            {"r": ("Pearson's r", RATIO), "low": ("low", RATIO),
             "high": ("high", RATIO),
             "p": ("p", format_probability), "n_categories": ("Cat.", NUMBER)},
            f"low, high: the 95 % interval. °: p below {SIGNIFICANCE_LEVEL}.",
        ),
    ),
    "anova": (
        TableLayout("Agents over categories, as published", AGENT, ANOVA, SIGNIFICANCE_NOTE,
              {"categories": ALL}),
        TableLayout("Agents over categories with more than one article",
              AGENT, ANOVA, SIGNIFICANCE_NOTE,
              {"categories": REPEATED}),
    ),
    "leakage": (TableLayout("Leakage", METRIC_AND_AGENT, SHARES, SHARES_NOTE),),
    "conflict": (TableLayout("Conflict", METRIC_AND_AGENT, SHARES, SHARES_NOTE),),
    "cost": (
        TableLayout(
            "Cost of reports and of judging them, US dollars", AGENT,
            {"n_reports": ("Rep.", NUMBER), "n_priced": ("with cost", NUMBER),
             "jobs_usd": ("Jobs", format_dollars), "people_usd": ("People", format_dollars),
             "people_minutes": ("Minutes", NUMBER),
             "reports_usd": ("Reports", format_dollars),
             "reports_cost": ("known?", TEXT),
             "usd_per_report": ("per report", format_dollars),
             "judging_usd": ("Judging", format_dollars), "judging_cost": ("known?", TEXT),
             "total_usd": ("Total", format_dollars), "total_cost": ("known?", TEXT)},
        ),
        TableLayout(
            "Judging, by judge", {"judge": ("Judge", TEXT), **AGENT},
            {"n_judged": ("Rep.", NUMBER), "calls": ("Calls", NUMBER),
             "calls_without_price": ("without price", NUMBER),
             "usd": ("USD", format_dollars),
             "cost": ("known?", TEXT), "usd_per_report": ("per report", format_dollars)},
        ),
    ),
    "trend": (
        TableLayout(
            "From edition to edition",
            {**METRIC_AND_AGENT, "edition": ("Edition", TEXT)},
            {"newest_article": ("Newest article", "%Y-%m-%d"),
             "value": ("Value", RATIO),
             "change": ("Change", "+.3f"),
             "n_reports": ("Rep.", NUMBER), "n_articles": ("Art.", NUMBER),
             "provisional": ("State", lambda value, _: PROVISIONAL if value else "")},
            "Shares are 0-1 here.",
        ),
    ),
    "contamination": (
        TableLayout("Values by age of the article", AGENT, AGE,
              f"Change per 30 days of age, its 95 % interval, and rho. {SIGNIFICANCE_NOTE}",
              {"of": VALUE}),
        TableLayout("Values minus the other agents' mean, by age of the article", AGENT, AGE,
              "This removes what all agents share: how difficult the older articles are.",
              {"of": LESS_OTHERS}),
    ),
}  # fmt: skip
"""The tables of each analysis; `FRAMES` names their frames."""
FRAMES: dict[Analysis, tuple[str, ...]] = {"cost": ("cost", "judging")}
"""The frames of analyses whose tables show different frames."""


@dataclass(frozen=True)
class TextColumn:
    """One column of a table, with formatted cells."""

    heading: str
    cells: tuple[str, ...]
    is_label: bool
    """Whether it names what a row is about."""
    is_numeric: bool


@dataclass(frozen=True)
class TextTable:
    """One table of an analysis."""

    title: str
    columns: tuple[TextColumn, ...]
    """Empty if there is nothing to show."""
    reasons: tuple[str, ...]
    """Why figures are missing, with names."""
    note: str


def make_tables(found: Analyses, name: Analysis) -> list[TextTable]:
    """Return the tables of one analysis; notes for the reader are in `found.remarks`."""
    if name == "trend" and found.trend["edition"].n_unique() < 2:
        return []  # the leaderboard shows these figures already
    layouts = LAYOUT[name]
    frames = FRAMES.get(name, (name,) * len(layouts))
    return [_make_table(one, found, frame) for one, frame in zip(layouts, frames, strict=True)]


def _make_table(layout: TableLayout, found: Analyses, frame: str) -> TextTable:
    selected: pl.DataFrame = getattr(found, frame)
    for column, value in layout.row_filter.items():
        selected = selected.filter(pl.col(column) == value)
    rows = selected.to_dicts()
    if not rows:
        return TextTable(layout.title, (), (), layout.note)
    columns = (
        *_make_columns(rows, layout.labels, found, numbers=False),
        *_make_columns(rows, layout.columns, found, numbers=True),
    )
    reasons = tuple(_list_reasons(rows, next(iter(layout.labels))))
    return TextTable(layout.title, columns, reasons, layout.note)


def _list_reasons(rows: Sequence[dict[str, Any]], label: str) -> Iterator[str]:
    """Yield why figures are missing, with names, unless a remark says it."""
    whose: dict[str, list[str]] = {}
    for row in rows:
        if label in ("agent", "covariate") and row.get("reason"):
            whose.setdefault(row["reason"], []).append(row[label])
    for reason, names in whose.items():
        yield f"{', '.join(names)}: {reason}."


def _make_columns(
    rows: Sequence[dict[str, Any]], spec: Spec, found: Analyses, *, numbers: bool
) -> Iterator[TextColumn]:
    """Make the columns; text columns without any value are left out."""
    for name, (heading, cell) in spec.items():
        if cell != TEXT or any(row[name] is not None for row in rows):
            cells = tuple(_format_cell(row[name], cell, found) for row in rows)
            yield TextColumn(heading, cells, not numbers, numbers and cell != TEXT)


def _format_cell(value: Any, cell: CellFormat, found: Analyses) -> str:
    if value is None:
        return "" if cell == TEXT else NO_VALUE
    return format(value, cell) if isinstance(cell, str) else cell(value, found)
