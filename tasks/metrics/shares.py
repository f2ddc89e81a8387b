"""Shares and means that say how many items they rest on. Empty input is null, never 0."""

from collections.abc import Iterable, Sequence
from math import fsum

import polars as pl

SHARES = {"assignment": pl.String, "numerator": pl.Float64, "n_items": pl.Int64, "n_open": pl.Int64}
"""One row per report: sum of hits, items in the denominator, items still to be decided."""


def share(numerator: float, n_items: int) -> float | None:
    """`numerator / n_items`; None where nothing is in the denominator."""
    return numerator / n_items if n_items else None


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are there, summed exactly so that order cannot change it."""
    present = [value for value in values if value is not None]
    return share(fsum(present), len(present))


def shares(verdicts: pl.DataFrame, hit: pl.Expr) -> pl.DataFrame:
    """Per report, the share of its decided items for which `hit` holds.

    Args:
        verdicts: columns assignment, status and what `hit` needs. Only status `ok` counts;
            `judge_error` and `unparsable` are open, the other statuses are left out.
        hit: a boolean or numeric expression over one verdict.

    Returns:
        A frame of SHARES, sorted by assignment.
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
        .select(list(SHARES))
        .sort("assignment")
    )  # fmt: skip


def resolve_citations(labels: Sequence[str]) -> str | None:
    """One label for a claim from those of its cited pages.

    Any support is support; else any conflict is conflict; else not_support; None without
    labels. Source: Wiki Live Challenge, citation verification.
    """
    for label in ("support", "conflict"):
        if label in labels:
            return label
    return "not_support" if labels else None


def _exact_sum(hits: pl.Series) -> float:
    return fsum(hits.drop_nulls().to_list())
