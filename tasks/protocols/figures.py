"""From verdicts to figures: the steps that the protocols share."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from tasks.metrics.ratios import compute_shares
from tasks.protocols.case import JudgedReports

FIGURE_SCHEMA = {
    "assignment": pl.String,
    "metric": pl.String,
    "numerator": pl.Float64,
    "n_items": pl.Int64,
    "n_open": pl.Int64,
    "reason": pl.String,
}
"""A row per report and metric; `reason` says why a value is null, or what to know of it."""


class FigureValues(NamedTuple):
    """What a row of FIGURE_SCHEMA says of one report and metric."""

    numerator: float | None
    n_items: int = 0
    n_open: int = 0
    reason: str | None = None


VerdictLabels = Mapping[tuple[str, str], tuple[str, str | None]]
"""(step, item) → status, label."""


def compute_by_report(
    judged: JudgedReports,
    compute: Callable[[str, VerdictLabels], Mapping[str, FigureValues]],
) -> pl.DataFrame:
    """Return the figures of each judged report.

    Args:
        compute: Returns metric → figure, from a report's assignment and its verdicts.
    """
    verdicts: dict[str, dict[tuple[str, str], tuple[str, str | None]]] = {}
    columns = ("assignment", "step", "item", "status", "label")
    for assignment, step, item, status, label in judged.verdicts.select(columns).iter_rows():
        verdicts.setdefault(assignment, {})[step, item] = (status, label)
    rows = [
        (assignment, metric, *figure)
        for assignment in judged.done["assignment"]
        for metric, figure in compute(assignment, verdicts.get(assignment, {})).items()
    ]
    return pl.DataFrame(rows, schema=FIGURE_SCHEMA, orient="row")


def build_share(
    metric: str, verdicts: pl.DataFrame, hit: pl.Expr, judged: JudgedReports, empty: str
) -> pl.DataFrame:
    """Return the share of decided items for which `hit` holds; see `build_figures`."""
    return build_figures(metric, compute_shares(verdicts, hit), judged, empty)


def build_figures(
    metric: str, shares: pl.DataFrame, judged: JudgedReports, empty: str
) -> pl.DataFrame:
    """Return shares as figures of one metric; reports without items get null and the reason
    `empty`."""
    return (
        judged.done.join(shares, on="assignment", how="left")
        .with_columns(pl.col("n_items", "n_open").fill_null(0), metric=pl.lit(metric))
        .with_columns(
            reason=pl.when(pl.col("n_items") == 0).then(pl.lit(empty)),
            numerator=pl.when(pl.col("n_items") > 0).then(pl.col("numerator")),
        )
        .select(list(FIGURE_SCHEMA))
    )


def build_not_assessed(judged: JudgedReports, reason: str, *metrics: str) -> list[pl.DataFrame]:
    """Return rows that say why these metrics have no value for any of the reports."""
    nothing = {"numerator": None, "n_items": 0, "n_open": 0, "reason": reason}
    return [
        judged.done.with_columns(
            metric=pl.lit(metric), **{name: pl.lit(value) for name, value in nothing.items()}
        ).cast(pl.Schema(FIGURE_SCHEMA))
        for metric in metrics
    ]


def find_unreliable(judged: JudgedReports) -> pl.DataFrame:
    """Return assignment, because: why a report's citations are unknown."""
    return judged.reports.filter(~pl.col("pairs_reliable").fill_null(False)).select(
        "assignment", because=pl.col("pairs_reason")
    )


def add_reasons(figures: pl.DataFrame, why: pl.DataFrame) -> pl.DataFrame:
    """Add these reasons (assignment, because) to figures without a value."""
    reason = pl.when(pl.col("n_items") == 0).then(pl.coalesce("because", "reason"))
    return (
        figures.join(why, on="assignment", how="left", maintain_order="left")
        .with_columns(reason=reason)
        .select(figures.columns)
    )
