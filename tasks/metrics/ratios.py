"""Shares, means and aggregates, with the items they rest on. Empty input gives null, never 0.

`relative_score`: a report's score relative to a reference, by the same weighted criteria (RACE).
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Literal

import polars as pl

from tasks.base import Frozen

SHARE_SCHEMA = {
    "assignment": pl.String,
    "numerator": pl.Float64,
    "n_items": pl.Int64,
    "n_open": pl.Int64,
}
"""One row per report: sum of hits, items in the denominator, open items."""


def share(numerator: float, n_items: int) -> float | None:
    """Return `numerator / n_items`; None without items."""
    return numerator / n_items if n_items else None


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; summed exactly, so order is irrelevant."""
    present = [value for value in values if value is not None]
    return share(fsum(present), len(present))


def weighted_mean(pairs: Iterable[tuple[float | None, float]]) -> float | None:
    """Return the weighted mean of the values that are not None; summed exactly, so order is
    irrelevant.

    Args:
        pairs: Value and weight; weights are not negative.

    Returns:
        None without values or if all their weights are 0.
    """
    present = [(value, weight) for value, weight in pairs if value is not None]
    total = fsum(weight for _, weight in present)
    return fsum(value * weight for value, weight in present) / total if total else None


def compute_shares(verdicts: pl.DataFrame, hit: pl.Expr) -> pl.DataFrame:
    """Return, per report, the share of its decided items for which `hit` holds.

    Args:
        verdicts: Columns assignment, status and what `hit` needs. Only status `ok` counts;
            `judge_error` and `unparsable` are open, other statuses are left out.
        hit: A boolean or numeric expression over one verdict.

    Returns:
        A frame of SHARE_SCHEMA, sorted by assignment.
    """
    decided = pl.col("status") == "ok"
    return (
        verdicts.with_columns(_hit=hit.cast(pl.Float64))
        .group_by("assignment")
        .agg(
            pl.col("_hit").filter(decided).alias("hits"),
            decided.sum().cast(pl.Int64).alias("n_items"),
            pl.col("status").is_in(["judge_error", "unparsable"]).sum().cast(pl.Int64)
            .alias("n_open"),
        )
        .with_columns(numerator=pl.col("hits").map_elements(_exact_sum, return_dtype=pl.Float64))
        .select(list(SHARE_SCHEMA))
        .sort("assignment")
    )  # fmt: skip


def combine_citation_labels(labels: Sequence[str]) -> str | None:
    """Combine the labels of a claim's cited pages into one.

    `support` if any page supports it, else `conflict` if any conflicts, else `not_support`; None
    without labels. Source: Wiki Live Challenge, citation verification.
    """
    for label in ("support", "conflict"):
        if label in labels:
            return label
    return "not_support" if labels else None


def _exact_sum(hits: pl.Series) -> float:
    return fsum(hits.drop_nulls().to_list())


class ScoredPair(Frozen):
    """The scores of two articles by one criterion, 0 or more."""

    dimension: str
    weight: float
    """The criterion's weight within its dimension."""
    report: float
    reference: float


def relative_score(
    pairs: Sequence[ScoredPair], dimension_weights: Mapping[str, float]
) -> float | None:
    """Return T / (T + R), 0-1: the report's total as a share of both totals. 0.5 means as good as
    the reference.

    A total is the weighted mean of the dimensions that have criteria, a dimension the weighted mean
    of its criteria. As published, a dimension without a weight does not count.

    Returns:
        None without pairs or if both totals are 0.
    """
    report, reference = (
        weighted_mean(
            (
                weighted_mean((getattr(p, side), p.weight) for p in pairs if p.dimension == name),
                weight,
            )
            for name, weight in sorted(dimension_weights.items())
        )
        for side in ("report", "reference")
    )
    if report is None or reference is None:
        return None
    return report / (report + reference) if report + reference else None


Aggregate = Literal["macro", "micro", "by_category"]


def aggregate(how: Aggregate, valued: pl.DataFrame, category_of: Mapping[str, str]) -> float | None:
    """Return the figure of one agent and metric.

    Args:
        how: `macro` is the mean of the reports' values, `micro` the sum of the numerators divided
            by the sum of the denominators, `by_category` the mean of the categories' means.
        valued: assignment, value, numerator and n_items of reports that have a value.
        category_of: Category per assignment; assignments without one form a category together.
    """
    if how == "macro":
        return mean(valued["value"].to_list())
    if how == "micro":
        return share(fsum(valued["numerator"].to_list()), int(valued["n_items"].sum()))
    by_category: dict[str, list[float]] = {}
    for assignment, value in valued.select("assignment", "value").iter_rows():
        by_category.setdefault(category_of.get(assignment, ""), []).append(value)
    return mean(mean(values) for _, values in sorted(by_category.items()))


def rests_on_few(n_reports: int, n_delivered: int | None) -> bool:
    """Whether a figure rests on fewer than half of an agent's delivered reports."""
    return n_delivered is not None and 2 * n_reports < n_delivered


def summarize_scores(
    how: Aggregate, scores: pl.DataFrame, category_of: Mapping[str, str]
) -> tuple[float | None, int, int]:
    """Return the figure of one agent and metric, and the reports and items that it rests on.

    scores: as for `aggregate`, also of reports without a value.
    """
    valued = scores.drop_nulls("value")
    return aggregate(how, valued, category_of), valued.height, int(valued["n_items"].sum())
