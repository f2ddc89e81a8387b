"""Aggregate the scores of an agent's reports to one figure. Empty input gives null, never 0."""

from collections.abc import Mapping
from math import fsum
from typing import Literal

import polars as pl

from tasks.metrics.ratios import mean, share

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
