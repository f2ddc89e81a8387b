"""Shares and means, with the number of items they rest on. Empty input gives null, never 0."""

from collections.abc import Iterable, Sequence
from math import fsum

import polars as pl

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
