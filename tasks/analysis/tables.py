"""The published analyses as tables of ready words, for the terminal and for the site."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tasks.analysis.analyses import Analyses, Analysis
from tasks.analysis.difficulty import ALL, COVARIATES, REPEATED
from tasks.analysis.trends import BESIDE, VALUE
from tasks.metrics.ranks import SURE

NOTHING, OPEN = "–", "provisional"
Cell = Callable[[Any, Analyses], str]


def figure(value: float, found: Analyses) -> str:
    """In the unit of the metric that is analysed."""
    share = found.metric is not None and found.metric.entry.unit == "share"
    return f"{value * 100:.1f}" if share else f"{value:,.2f}"


def percent(value: float, _: Analyses) -> str:
    return f"{value * 100:.1f}"


def number(value: float, _: Analyses) -> str:
    return f"{value:,.0f}"


def ratio(value: float, _: Analyses) -> str:
    return f"{value:.3f}"


def probability(value: float, _: Analyses) -> str:
    shown = f"{value:.3f}" if value >= 0.001 else "<.001"
    return f"{shown}{'°' if value < SURE else ' '}"


def dollars(value: float, _: Analyses) -> str:
    return f"{value:,.2f}" if value >= 1 or value == 0 else f"{value:.3g}"


def words(value: object, _: Analyses) -> str:
    return str(value)


Spec = dict[str, tuple[str, Cell]]
"""Column → heading and how its cells are shown."""


@dataclass(frozen=True)
class Shown:
    """How one frame is printed."""

    title: str
    named: Spec
    columns: Spec
    note: str = ""
    only: dict[str, str] = field(default_factory=dict)
    """Column → the value of the rows shown."""


P: Spec = {"p": ("p", probability), "p_adjusted": ("p adj.", probability)}
ANOVA: Spec = {
    "f": ("F", ratio), "df_between": ("df", number), "df_within": ("df within", number), **P,
    "eta_squared": ("eta²", ratio), "eta_squared_by_chance": ("by chance", ratio),
    "n_categories": ("Cat.", number), "n_single": ("of one art.", number),
    "n_articles": ("Art.", number),
}  # fmt: skip
AGE: Spec = {
    "spearman": ("rho", ratio), "slope_per_30_days": ("per 30 days", figure),
    "low": ("low", figure), "high": ("high", figure), **P, "n_articles": ("Art.", number),
}  # fmt: skip
FLAWS: Spec = {
    "value": ("Share", percent), "numerator": ("Counted", number), "n_items": ("of", number),
    "n_reports": ("Rep.", number), "provisional": ("State", lambda value, _: OPEN if value else ""),
}  # fmt: skip
FLAWS_SAY = (
    "Share: as on the leaderboard, for most metrics the mean of the reports' shares. Counted and "
    "of: all reports together."
)
AGENT: Spec = {"agent": ("Agent", words)}
SURE_SAYS = f"°: p below {SURE}. p adj.: for the number of agents (Benjamini and Hochberg)."
LAYOUT: dict[Analysis, tuple[Shown, ...]] = {
    "difficulty": (
        Shown(
            "Difficulty of the categories",
            {"category": ("Category", words)},
            {"value": ("Mean", figure), "n_articles": ("Art.", number),
             "n_reports": ("Rep.", number), "n_missing": ("Missing", number),
             "value_complete": ("All agents'", figure), "n_complete": ("Art. of all", number),
             **{name: (name.capitalize(), number) for name in COVARIATES}},
            "Mean: over articles of the means over agents. All agents': over the articles that all "
            "agents have a value for. The others are means over the articles.",
        ),
    ),
    "correlation": (
        Shown(
            "Difficulty and what goes with it",
            {"covariate": ("Of the category's mean", words)},
            {"r": ("Pearson's r", ratio), "low": ("low", ratio), "high": ("high", ratio),
             "p": ("p", probability), "n_categories": ("Cat.", number)},
            f"low, high: the 95 % interval. °: p below {SURE}.",
        ),
    ),
    "anova": (
        Shown("Agents over categories, as published", AGENT, ANOVA, SURE_SAYS,
              {"categories": ALL}),
        Shown("Agents over the categories of more than one article", AGENT, ANOVA, SURE_SAYS,
              {"categories": REPEATED}),
    ),
    "leakage": (Shown("Leakage", {"metric": ("Metric", words), **AGENT}, FLAWS, FLAWS_SAY),),
    "conflict": (Shown("Conflict", {"metric": ("Metric", words), **AGENT}, FLAWS, FLAWS_SAY),),
    "cost": (
        Shown(
            "Cost of reports and of judging them, US dollars", AGENT,
            {"n_reports": ("Rep.", number), "n_priced": ("with cost", number),
             "jobs_usd": ("Asked", dollars), "people_usd": ("People", dollars),
             "people_minutes": ("Minutes", number), "reports_usd": ("Reports", dollars),
             "reports_cost": ("known?", words), "usd_per_report": ("a report", dollars),
             "judging_usd": ("Judging", dollars), "judging_cost": ("known?", words),
             "total_usd": ("Total", dollars), "total_cost": ("known?", words)},
        ),
        Shown(
            "Judging, by judge", {"judge": ("Judge", words), **AGENT},
            {"n_judged": ("Rep.", number), "calls": ("Calls", number),
             "calls_without_price": ("without price", number), "usd": ("USD", dollars),
             "cost": ("known?", words), "usd_per_report": ("a report", dollars)},
        ),
    ),
    "trend": (
        Shown(
            "From edition to edition",
            {"metric": ("Metric", words), **AGENT, "edition": ("Edition", words)},
            {"newest_article": ("Newest article", lambda value, _: f"{value:%Y-%m-%d}"),
             "value": ("Value", lambda value, _: f"{value:.3f}"),
             "change": ("Change", lambda value, _: f"{value:+.3f}"),
             "n_reports": ("Rep.", number), "n_articles": ("Art.", number),
             "provisional": ("State", lambda value, _: OPEN if value else "")},
            "Shares are 0-1 here.",
        ),
    ),
    "contamination": (
        Shown("Values by age of the article", AGENT, AGE,
              f"Change with every 30 days of age, its 95 % interval, and rho. {SURE_SAYS}",
              {"of": VALUE}),
        Shown("Values less those of the other agents, by age of the article", AGENT, AGE,
              "What all agents share, how difficult the older articles are, drops out.",
              {"of": BESIDE}),
    ),
}  # fmt: skip
"""By analysis, its tables; a table's frame is found by `FRAMES`."""
FRAMES: dict[Analysis, tuple[str, ...]] = {"cost": ("cost", "judging")}
"""Analyses whose tables show different frames."""


@dataclass(frozen=True)
class WordColumn:
    """One column of a table, every cell as it is shown."""

    heading: str
    cells: tuple[str, ...]
    named: bool
    """It says what a line is about."""
    numbers: bool


@dataclass(frozen=True)
class WordTable:
    """One table of an analysis."""

    title: str
    columns: tuple[WordColumn, ...]
    """Empty where there is nothing to show."""
    reasons: tuple[str, ...]
    """Why figures are missing, and whose."""
    note: str


def tables_of(found: Analyses, name: Analysis) -> list[WordTable]:
    """The tables of one analysis; what has to be known to read them is in `found.remarks`."""
    if name == "trend" and found.trend["edition"].n_unique() < 2:
        return []  # a line for each figure of the leaderboard, which has them side by side
    shown = LAYOUT[name]
    frames = FRAMES.get(name, (name,) * len(shown))
    return [_table(one, found, frame) for one, frame in zip(shown, frames, strict=True)]


def _table(shown: Shown, found: Analyses, frame: str) -> WordTable:
    rows = _rows(getattr(found, frame), shown.only)
    if not rows:
        return WordTable(shown.title, (), (), shown.note)
    columns = (
        *_columns(rows, shown.named, found, numbers=False),
        *_columns(rows, shown.columns, found, numbers=True),
    )
    reasons = tuple(_reasons(rows, next(iter(shown.named))))
    return WordTable(shown.title, columns, reasons, shown.note)


def _rows(frame: pl.DataFrame, only: dict[str, str]) -> list[dict[str, Any]]:
    for column, value in only.items():
        frame = frame.filter(pl.col(column) == value)
    return frame.to_dicts()


def _reasons(rows: Sequence[dict[str, Any]], named: str) -> Iterator[str]:
    """Why figures are missing, and whose, where no remark says it."""
    whose: dict[str, list[str]] = {}
    for row in rows:
        if named in ("agent", "covariate") and row.get("reason"):
            whose.setdefault(row["reason"], []).append(row[named])
    for reason, names in whose.items():
        yield f"{', '.join(names)}: {reason}."


def _columns(
    rows: Sequence[dict[str, Any]], spec: Spec, found: Analyses, *, numbers: bool
) -> Iterator[WordColumn]:
    """Columns of words that no row has are left out; a figure that nobody has is a dash."""
    for name, (heading, cell) in spec.items():
        if cell is not words or any(row[name] is not None for row in rows):
            cells = tuple(_cell(row[name], cell, found) for row in rows)
            yield WordColumn(heading, cells, not numbers, numbers and cell is not words)


def _cell(value: Any, cell: Cell, found: Analyses) -> str:
    if value is None:
        return "" if cell is words else NOTHING
    return cell(value, found)
