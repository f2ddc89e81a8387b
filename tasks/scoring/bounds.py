"""Bounds of figures: what they would be, had the judge decided what it refused."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from tasks.configuration.models import MetricEntry
from tasks.judges.decisions import Judge
from tasks.metrics.ratios import aggregate
from tasks.protocols.case import JudgedReports, Protocol
from tasks.protocols.declarations import ITEM_POINTS, Bounds
from tasks.protocols.registry import get_protocol_title
from tasks.scoring.board_notes import NO_NAMES
from tasks.warehouse.rows import Status

UNCERTAIN = "¶"
"""The mark of a figure that refused items could move out of its interval."""
UNCERTAIN_SAID = (
    "uncertain: the judge refused items; as the worst or best they would move the figure out of "
    "its interval"
)
_NEGLIGIBLE = 1e-9
Figure = Mapping[str, float | None]
"""The numbers of a row of FIGURE_SCHEMA."""


class FigureBounds(NamedTuple):
    """The bounds of a report's figure, and the items that it leaves out."""

    bound_low: float | None
    """Null if nothing that it rests on was refused, or its bounds are unknown; so is the other."""
    bound_high: float | None
    bound_items: int | None
    """Its denominator, had the judge decided everything."""
    n_blocked: int
    """Items that are in no denominator since the judge refused them."""


NOT_BLOCKED = FigureBounds(None, None, None, 0)


def compute_bounds(
    protocol: Protocol, judged: JudgedReports, judge: Judge
) -> dict[tuple[str, str], FigureBounds]:
    """Return assignment and metric → bounds, for the reports with items that the judge refused.

    The figures are computed again with the worst and with the best label. Which of them rest on
    refused items shows where these are counted as open.
    """
    blocked = pl.col("status") == Status.BLOCKED
    refused = judged.verdicts.filter(blocked)["assignment"].unique().to_list()
    if not refused:
        return {}
    reports, asked = (
        frame.filter(pl.col("assignment").is_in(refused))
        for frame in (judged.reports, judged.verdicts)
    )

    def compute(verdicts: pl.DataFrame) -> dict[tuple[str, str], Figure]:
        part = judged.model_copy(update={"reports": reports, "verdicts": verdicts})
        rows = protocol.compute_figures(part, judge).iter_rows(named=True)
        return {(row["assignment"], row["metric"]): row for row in rows}

    bounds = protocol.bounds
    worst, best = (_fill(judged, asked, bounds, best=best) for best in (False, True))
    opened = pl.when(blocked).then(pl.lit(str(Status.JUDGE_ERROR))).otherwise("status")
    given = asked, worst, best, asked.with_columns(status=opened), worst.with_columns(status=opened)
    figures = [compute(verdicts) for verdicts in given]
    return {key: _compare([of[key] for of in figures], key[1] in bounds.none) for key in figures[0]}


def _fill(
    judged: JudgedReports, verdicts: pl.DataFrame, bounds: Bounds, *, best: bool
) -> pl.DataFrame:
    """Return the verdicts with the worst or the best label for the blocked ones that have bounds,
    and with its probability where the judge gives probabilities."""
    rubrics = judged.rubrics.drop_nulls("points").select("assignment", "item", "points")
    points = {(assignment, item): f"{worth:g}" for assignment, item, worth in rubrics.iter_rows()}
    labels = []
    columns = "assignment", "step", "item", "status"
    for assignment, step, item, status in verdicts.select(columns).iter_rows():
        ends = bounds.items.get(item) or bounds.steps.get(step)
        label = ends[best] if ends and status == Status.BLOCKED else None
        labels.append(points[assignment, item] if label == ITEM_POINTS else label)
    scored = judged.verdicts.drop_nulls("score")["step"].unique().to_list()
    said = pl.Series("said", labels, pl.String)
    is_said = said.is_not_null()
    return verdicts.with_columns(
        label=pl.coalesce(said, "label"),
        status=pl.when(is_said).then(pl.lit(str(Status.OK))).otherwise("status"),
        score=pl.when(is_said & pl.col("step").is_in(scored)).then(float(best)).otherwise("score"),
    )


def _compare(figures: Sequence[Figure], is_unbounded: bool) -> FigureBounds:
    """figures: as it is, with the worst and the best labels, with all refused items open, and with
    the worst labels and what has none open."""
    figure, worst, best, opened, unknown = figures
    n_blocked = int((opened["n_open"] or 0) - (figure["n_open"] or 0))
    low, high, itself = (_get_value(each) for each in (worst, best, figure))
    is_known = not is_unbounded and unknown["n_open"] == worst["n_open"]
    is_moved = n_blocked or not low == high == itself
    if low is None or high is None or not is_known or not is_moved:
        return FigureBounds(None, None, None, n_blocked)
    # The figure itself is one of them: a refused item may also be one that does not count.
    ends = [low, high, *([] if itself is None else [itself])]
    return FigureBounds(min(ends), max(ends), int(worst["n_items"] or 0), n_blocked)


def _get_value(figure: Figure) -> float | None:
    numerator, n_items = figure["numerator"], figure["n_items"]
    return numerator / n_items if numerator is not None and n_items else None


def aggregate_bounds(
    metric: MetricEntry, scores: pl.DataFrame, category_of: Mapping[str, str]
) -> dict[str, Any]:
    """Return the columns of a leaderboard's row on refused items, from one agent's scores."""
    if scores["n_blocked"].has_nulls():  # scores of an earlier version
        return {}
    found = {"n_blocked": int(scores["n_blocked"].sum())}
    refused = scores.filter(pl.col("n_blocked") > 0)
    if scores["bound_low"].is_null().all() or refused["bound_low"].has_nulls():
        return found
    figures = [
        aggregate(metric.aggregate, _replace(scores, name).drop_nulls("value"), category_of)
        for name in ("bound_low", "bound_high", "value")
    ]
    known = [figure for figure in figures if figure is not None]
    return found | {"bound_low": min(known), "bound_high": max(known)}


def _replace(scores: pl.DataFrame, bound: str) -> pl.DataFrame:
    """Return the scores with this bound in the place of each report's value that has bounds."""
    if bound == "value":
        return scores
    return scores.with_columns(
        value=pl.coalesce(bound, "value"),
        numerator=pl.coalesce(pl.col(bound) * pl.col("bound_items"), "numerator"),
        n_items=pl.coalesce("bound_items", "n_items"),
    )


def mark_uncertain(board: pl.DataFrame) -> pl.DataFrame:
    """Return a leaderboard's rows with `uncertain`: whether a bound leaves the 95 % interval."""
    below = pl.col("bound_low") < pl.col("low") - _NEGLIGIBLE
    above = pl.col("bound_high") > pl.col("high") + _NEGLIGIBLE
    return board.with_columns(uncertain=(below | above).fill_null(False))


def describe_refused(rows: pl.DataFrame, names: Mapping[str, str] = NO_NAMES) -> str:
    """Explain the mark of uncertain figures, and say which share of whose items the judge refused;
    empty if it refused none. names: agent → display name."""
    refused = rows.select("blocked_share", "agent", "protocol").unique()
    refused = refused.filter(pl.col("blocked_share") > 0)
    named = ", ".join(
        f"{names.get(agent, agent)} {share:.1%} ({get_protocol_title(protocol)})"
        for share, agent, protocol in sorted(refused.iter_rows(), key=lambda row: (-row[0], row))
    )
    mark = f"{UNCERTAIN}: {UNCERTAIN_SAID}. " if rows["uncertain"].any() else ""
    return named and f"{mark}Refused by the judge, of what it was asked: {named}."
