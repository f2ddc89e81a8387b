"""The content that templates render. Shares are 0-1, times UTC."""

from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from tasks.configuration.models import MetricEntry


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """The content that all pages share."""

    title: str
    edition: str
    notices: tuple[tuple[Literal["judge", "provisional", "trial"], str], ...]
    """Kind and text of what is said at the top of every page."""
    licence: str
    pages: tuple[tuple[str, str], ...] = (
        ("index.html", "Leaderboard"),
        ("differences.html", "Differences"),
        ("edition.html", "Edition"),
        ("analyses.html", "Analyses"),
        ("method.html", "Method"),
        ("data.html", "Data"),
    )


@dataclass(frozen=True, slots=True)
class MetricColumn:
    """The column of one metric on a board."""

    heading: str
    entry: MetricEntry


@dataclass(frozen=True, slots=True)
class CellText:
    """A cell of text beside a board's metrics."""

    text: str
    sort: float | str
    """What the column is sorted by."""
    note: str = ""
    """What stands below the text, in small print."""


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column beside a board's metrics."""

    name: str
    """By this name scripts find its cells."""
    heading: str
    hint: str
    """What its heading says more of."""
    meaning: str = ""
    """What it shows, for the list below the board."""


@dataclass(frozen=True, slots=True)
class FigureCell:
    """One figure of one agent, with the counts it rests on."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n_items: int = 0
    n_reports: int = 0
    n_delivered: int | None = None
    """The agent's reports with a text; None for a single report."""
    n_articles: int = 0
    n_open: int = 0
    provisional: bool = False
    reason: str | None = None
    """Why there is no value, or why it is provisional."""
    unit: Literal["share", "number"] = "share"
    rank_from: int | None = None
    rank_to: int | None = None
    interval_reason: str | None = None
    value_present: float | None = None
    """The figure without the agent's missing reports; None for a single report."""
    value_zero: float | None = None
    """The figure with 0 for them."""
    n_missing: int = 0
    """Missing reports: the agent's own empty answers and final refusals."""
    unranked: str | None = None
    """Why its agent is listed apart, without a rank."""
    n_empty_lists: int = 0
    """Empty lists of claims or facts behind it that the offline extractor doubts."""
    bound_low: float | None = None
    """The least that it would be, had the judge decided what it refused."""
    bound_high: float | None = None
    uncertain: bool = False
    """Whether these bounds leave its interval."""
    models: str | None = None
    """The models whose reports it mixes, as text; None if it mixes none."""


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """An agent's row on a board."""

    agent: str
    name: str
    href: str
    cells: tuple[FigureCell, ...]
    """The first is of the metric that ranks."""
    texts: dict[str, CellText]
    """The other cells, by column."""
    unranked: str | None
    """Why it is listed apart, without a rank; None if it is ranked."""
    exposure: str | None
    """What its program could reach, if more than usual."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board of one judge, for the whole edition."""

    key: str
    """The id of its element and the name of its parts file."""
    title: str
    judge: str
    judge_title: str
    columns: tuple[MetricColumn, ...]
    """Those of metrics, the one that ranks first."""
    others: tuple[NamedColumn, ...]
    """The columns after them."""
    entries: tuple[BoardEntry, ...]
    notes: tuple[str, ...]
    chart: Markup | None
    has_parts: bool
    """Whether a file has its figures by category and quarter."""


@dataclass(frozen=True, slots=True)
class ReportLink:
    """A report in a list."""

    id: str
    agent: str
    agent_name: str
    assignment: str
    title: str
    status: str
    words: int
    cell: FigureCell
    """Figure of the metric that the list shows."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file in the data folder."""

    name: str
    what: str
    n_bytes: int
    sha256: str
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class SiteTable:
    """A plain table: columns with whether they are numeric, and rows of formatted text."""

    caption: str
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    sortable: bool = True
