"""From the scores of reports to one figure of an agent. Empty input is null, never 0."""

from collections.abc import Mapping
from math import fsum
from typing import Literal

import polars as pl

from tasks.metrics.shares import mean, share

Aggregate = Literal["macro", "micro", "by_category"]


def aggregate(how: Aggregate, valued: pl.DataFrame, category_of: Mapping[str, str]) -> float | None:
    """One figure of the scores of one agent and metric.

    Args:
        how: `macro` is the mean over reports of their values, `micro` the sum of the numerators
            over that of the denominators, `by_category` the mean over the categories of the means
            of their assignments.
        valued: assignment, value, numerator and n_items of reports that have a value.
        category_of: of assignments; those without one are a category together.
    """
    if how == "macro":
        return mean(valued["value"].to_list())
    if how == "micro":
        return share(fsum(valued["numerator"].to_list()), int(valued["n_items"].sum()))
    by_category: dict[str, list[float]] = {}
    for assignment, value in valued.select("assignment", "value").iter_rows():
        by_category.setdefault(category_of.get(assignment, ""), []).append(value)
    return mean(mean(values) for _, values in sorted(by_category.items()))
