"""What a protocol declares of itself: its version, its boards, and the bounds of refused items."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tasks.configuration.loading import ConfigModel, validate_config
from tasks.configuration.models import ProtocolEntry
from tasks.warehouse.rows import content_sha

ParametersT = TypeVar("ParametersT", bound=ConfigModel)


def parse_parameters(entry: ProtocolEntry, model: type[ParametersT]) -> ParametersT:
    """Parse the `parameters` of a protocol's file as its own model.

    Raises:
        ConfigurationError: they are invalid; names file, key and what was expected.
    """
    file = Path("configs/protocols") / f"{entry.name}.yaml"
    return validate_config(file, entry.parameters, model, "parameters")


def build_version(entry: ProtocolEntry, *settings: str) -> str:
    """Build a version such as `1-3fa85f64`, which changes with the number and with any setting."""
    return f"{entry.version}-{content_sha(*settings)[:8]}"


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


Labels = tuple[str, str]
"""The worst and the best label for the report."""
ITEM_POINTS = "points"
"""Stands for the points of the rubric's item."""
RATINGS = "a rating from the worst to the best would say nothing"


@dataclass(frozen=True)
class Bounds:
    """The worst and the best that a judge can say of a protocol's items."""

    steps: Mapping[str, Labels] = field(default_factory=dict)
    items: Mapping[str, Labels] = field(default_factory=dict)
    """By item, where a step's items differ."""
    none: Mapping[str, str] = field(default_factory=dict)
    """The steps, and metrics of other steps, that have no bounds, with the reason."""

    def describe(self) -> str:
        """Say what is worst and best in each step, and what has no bounds, in a sentence each."""
        named = [f"{step}: {worst} to {best}" for step, (worst, best) in self.steps.items()]
        reasons: dict[str, list[str]] = {}
        for name, why in self.none.items():
            reasons.setdefault(why, []).append(name)
        without = [f"{', '.join(names)} (no bounds: {why})" for why, names in reasons.items()]
        return "; ".join([*named, *without])
