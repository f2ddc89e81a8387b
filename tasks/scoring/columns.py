"""The columns of every board, in the terminal, on the site, and in JSON and CSV alike.

Rank and agent come first, then the metrics, then the others. A metric's column is an entry of the
board that its protocol brings (`Board.columns`), every other one an entry of
COLUMNS.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tasks.protocols.declarations import Board
from tasks.scoring.agent_models import add_models
from tasks.scoring.board_notes import format_delivered
from tasks.scoring.bounds import mark_uncertain
from tasks.scoring.extractors import count_empty_lists
from tasks.site.content import CellText, NamedColumn
from tasks.site.wording import format_dollars
from tasks.warehouse.store import Readable

FIELDS = ("edition", "protocol", "agent", "metric", "value", "n_items", "n_reports", "judge",
          "provisional", "low", "high", "interval_reason", "n_articles", "rank_from", "rank_to",
          "seed", "value_present", "value_zero", "n_delivered", "n_missing", "n_assignments",
          "unranked", "n_blocked", "blocked_share", "bound_low", "bound_high", "uncertain",
          "n_empty_lists", "models")  # fmt: skip
"""What JSON and CSV say of each figure, beside the fields of COLUMNS."""


@dataclass(frozen=True)
class BoardAgent:
    """What the columns beside the metrics are made of, for one agent on a board."""

    counted: Mapping[str, Any] | None
    """Its row of the leaderboard by the metric that counts the board's reports; of a part of the
    edition the counts alone. None if it has none."""
    usd_per_report: float | None = None
    judging: str = "not known"


@dataclass(frozen=True, slots=True)
class BoardColumn(NamedColumn):
    """A column of every board after the metrics."""

    cell: Callable[[BoardAgent], CellText] = field(kw_only=True)
    short: str | None = field(default=None, kw_only=True)
    """Its heading in the terminal, unless the board has another; None: it is on the site alone."""
    by_part: bool = field(default=False, kw_only=True)
    """Whether the site counts it anew for a part of the edition."""
    add: Callable[[Readable, str, pl.DataFrame], pl.DataFrame] | None = field(
        default=None, kw_only=True
    )
    """Adds the field of its name to an edition's leaderboard, for the cells, and for JSON and CSV;
    None if these need no field of their own."""


def _describe_cost(agent: BoardAgent) -> CellText:
    usd = agent.usd_per_report
    text = "not known" if usd is None else format_dollars(usd)
    return CellText(text, "" if usd is None else usd, f"judging: {agent.judging}")


def _describe_reports(agent: BoardAgent) -> CellText:
    if not agent.counted:
        return CellText("0", 0)
    return CellText(format_delivered(agent.counted), agent.counted.get("n_delivered") or 0)


COST = BoardColumn(
    "cost",
    "$ per report",
    "Cost of one report and, below, of judging it; over the whole edition",
    meaning="Cost of one report, if known; below it, the cost of judging it.",
    cell=_describe_cost,
)
REPORTS = BoardColumn(
    "reports",
    "Reports",
    "Reports with a text, of all assignments",
    cell=_describe_reports,
    short="Rep.",
    by_part=True,
)
COLUMNS = (COST, REPORTS)


def load_leaderboard(source: Readable, edition: str) -> pl.DataFrame:
    """Load the edition's leaderboard, one row per protocol, agent, metric and judge."""
    rows = source.frame(
        "SELECT * FROM leaderboard WHERE edition = $1 ORDER BY protocol, metric, judge, agent",
        [edition],
    )
    rows = mark_uncertain(add_models(source, edition, count_empty_lists(source, edition, rows)))
    for column in COLUMNS:
        rows = column.add(source, edition, rows) if column.add else rows
    return rows


def select_fields(leaderboard: pl.DataFrame) -> pl.DataFrame:
    """Return what JSON and CSV say of a leaderboard."""
    return leaderboard.select(*FIELDS, *(column.name for column in COLUMNS if column.add))


def short_heading(column: BoardColumn, board: Board) -> str:
    """Return a column's heading on a board in the terminal."""
    return board.short_headings.get(column.name, column.short or column.heading)
