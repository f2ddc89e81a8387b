"""A board: a table of the leaderboard with some of a protocol's metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field

INTERVAL = "95 %"
"""Heading of the interval column."""
OPEN_NOTE = "*: provisional: items are open, reports are missing, or another version judged them"
"""The meaning of the star after a figure."""


@dataclass(frozen=True)
class Board:
    """One table of the leaderboard, shown if an edition has rows of any of its protocols."""

    protocols: frozenset[str]
    columns: dict[str, str]
    """The headings by metric, in their order."""
    ranked_by: tuple[str, ...]
    """The ranking metrics; each one breaks the ties of those before it."""
    counted_by: str
    """The metric whose reports and assignments the column of reports shows."""
    note: str
    title: str = ""
    """The title, if an edition may have several boards."""
    only_valued: bool = False
    """Whether to omit the board if none of its figures, but for the ranking ones, has a value."""
    numbers: frozenset[str] = frozenset()
    """Metrics that are shown as numbers, not in percent."""
    short_headings: Mapping[str, str] = field(default_factory=dict)
    """Other headings in the terminal of the columns beside the metrics (`scoring.columns`)."""
    counts: Mapping[str, str] = field(default_factory=dict)
    """Metrics that are shown with their number of items, by its heading."""
    least_needed: tuple[str, ...] = ()
    """What a narrow terminal leaves out first, in this order; then the other metrics, the last
    first."""
