"""Bounds of an agent's figure: what it would be, had the judge decided what it refused."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.metrics.aggregates import aggregate
from tasks.metrics.ratios import mean

UNCERTAIN = "¶"
"""The mark of a figure that refused items could move out of its interval."""
UNCERTAIN_SAID = (
    "uncertain: the judge refused items; as the worst or best they would move the figure out of "
    "its interval"
)
NO_NAMES: Mapping[str, str] = MappingProxyType({})
_NEGLIGIBLE = 1e-9


def aggregate_bounds(
    metric: MetricEntry, scores: pl.DataFrame, category_of: Mapping[str, str]
) -> dict[str, Any]:
    """Return the columns of a leaderboard's row on refused items, from one agent's scores."""
    if scores["n_blocked"].has_nulls():  # scores of an earlier version
        return {}
    found: dict[str, Any] = {"n_blocked": int(scores["n_blocked"].sum())}
    if metric.unit == "share":
        found["blocked_share"] = _average_share(scores)
    bounded = scores.filter(pl.col("bound_low").is_not_null())
    refused = scores.filter(pl.col("n_blocked") > 0)
    if bounded.is_empty() or refused["bound_low"].has_nulls():
        return found
    ends = [_aggregate(metric, scores, category_of, name) for name in ("bound_low", "bound_high")]
    figure = aggregate(metric.aggregate, scores.drop_nulls("value"), category_of)
    known = [end for end in (*ends, figure) if end is not None]
    return found | {"bound_low": min(known), "bound_high": max(known)}


def _aggregate(
    metric: MetricEntry, scores: pl.DataFrame, category_of: Mapping[str, str], bound: str
) -> float | None:
    """Return the figure with this bound in the place of each report's value that has bounds."""
    total = pl.col(bound) * pl.col("bound_items")
    moved = scores.with_columns(
        value=pl.coalesce(bound, "value"),
        numerator=pl.coalesce(total, "numerator"),
        n_items=pl.coalesce("bound_items", "n_items"),
    )
    return aggregate(metric.aggregate, moved.drop_nulls("value"), category_of)


def _average_share(scores: pl.DataFrame) -> float | None:
    """Return the mean share of a report's items that were refused."""
    whole = pl.col("n_items") + pl.col("n_blocked")
    shares = scores.filter(whole > 0).select(pl.col("n_blocked") / whole).to_series()
    return mean(shares.to_list())


def mark_uncertain(board: pl.DataFrame) -> pl.DataFrame:
    """Return a leaderboard's rows with `uncertain`: whether a bound leaves the 95 % interval."""
    below = pl.col("bound_low") < pl.col("low") - _NEGLIGIBLE
    above = pl.col("bound_high") > pl.col("high") + _NEGLIGIBLE
    return board.with_columns(uncertain=(below | above).fill_null(False))


def describe_refused(
    rows: pl.DataFrame, titles: Mapping[str, str], names: Mapping[str, str] = NO_NAMES
) -> str:
    """Explain the mark of uncertain figures, and say which share of whose items the judge refused;
    empty if it refused none.

    titles: metric → title of the metrics that the board shows. names: agent → display name.
    """
    shown = rows.filter(pl.col("metric").is_in([*titles]), pl.col("blocked_share") > 0)
    most = shown.sort("blocked_share", "metric", descending=[True, False]).unique(
        "agent", keep="first", maintain_order=True
    )
    named = ", ".join(
        f"{names.get(agent, agent)} {share:.1%} of {titles[metric]}"
        for agent, metric, share in most.select("agent", "metric", "blocked_share").iter_rows()
    )
    mark = f"{UNCERTAIN}: {UNCERTAIN_SAID}. " if rows["uncertain"].any() else ""
    return named and f"{mark}Refused by the judge, at most of a figure's items: {named}."
