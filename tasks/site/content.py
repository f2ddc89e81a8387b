"""What the pages show, as the publisher hands it to the templates. Shares are 0-1, times UTC."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Notice:
    """Said at the head of every page."""

    kind: Literal["judge", "provisional"]
    text: str


@dataclass(frozen=True, slots=True)
class Site:
    """What all pages have in common."""

    title: str
    edition: str
    notices: tuple[Notice, ...]
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
class Column:
    """One metric at the head of a board."""

    metric: str
    heading: str
    title: str
    description: str
    better: Literal["higher", "lower"]
    unit: Literal["share", "number"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of one agent, with what it rests on."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n_items: int = 0
    n_reports: int = 0
    n_articles: int = 0
    n_open: int = 0
    provisional: bool = False
    reason: str | None = None
    """Why there is no value, or why it is provisional."""
    unit: Literal["share", "number"] = "share"
    rank_from: int | None = None
    rank_to: int | None = None
    interval_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An agent's line on a board."""

    agent: str
    name: str
    href: str
    rank_from: int | None
    rank_to: int | None
    cells: tuple[Cell, ...]
    n_reports: int
    usd_per_report: float | None
    """What a report of the agent costs; None where nobody says of all."""
    judging: str
    """What judging them costs, in words."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """A board by one judge, over the whole edition."""

    key: str
    """Of its element and of the file of its parts."""
    title: str
    judge: str
    judge_title: str
    columns: tuple[Column, ...]
    entries: tuple[Entry, ...]
    note: str
    chart: Markup | None
    has_parts: bool
    """Whether there is a file with its figures by category and by quarter."""


@dataclass(frozen=True, slots=True)
class Option:
    """Something to choose in a filter."""

    value: str
    name: str


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
    cell: Cell
    """Of the metric that the list is about."""


@dataclass(frozen=True, slots=True)
class ArticleLink:
    """An assignment in a list."""

    href: str
    title: str
    category: str | None
    created_at: datetime | None
    views: int | None
    n_facts: int
    n_reports: int
    cell: Cell
    """Mean over its agents of the metric that the list is about."""


@dataclass(frozen=True, slots=True)
class Download:
    """A file of the data folder."""

    name: str
    what: str
    n_bytes: int
    sha256: str
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """The edition at a glance."""

    articles: int
    agents: int
    reports: int
    verdicts: int
    decided: int
    n_open: int
    """Reports with items that a later run may still decide."""
    pages: int


@dataclass(frozen=True, slots=True)
class Table:
    """A plain table: columns with whether they hold numbers, and rows of ready words."""

    caption: str
    columns: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    sortable: bool = True
