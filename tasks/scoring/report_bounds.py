"""Bounds of a report's figures: what they would be had the judge decided what it refused."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from tasks.judges.decisions import Judge
from tasks.protocols.bounds import ITEM_POINTS, UNDECLARED, Bounds
from tasks.protocols.case import JudgedReports, Protocol
from tasks.warehouse.rows import Status

Figure = Mapping[str, float | None]
"""The numbers of a row of FIGURE_SCHEMA."""


class FigureBounds(NamedTuple):
    """The bounds of a report's figure, and the items that it leaves out."""

    low: float | None
    """Null if nothing that it rests on was refused, or its bounds are unknown; so is `high`."""
    high: float | None
    n_items: int | None
    """Its denominator, had the judge decided everything."""
    n_blocked: int
    """Items that are in no denominator since the judge refused them."""


NOT_BLOCKED = FigureBounds(None, None, None, 0)


def get_bounds(protocol: Protocol) -> Bounds:
    """Return a protocol's bounds; those of other packages may lack them."""
    return getattr(protocol, "bounds", UNDECLARED)


def compute_bounds(
    protocol: Protocol, judged: JudgedReports, judge: Judge
) -> dict[tuple[str, str], FigureBounds]:
    """Return assignment and metric → bounds, for the reports with items that the judge refused.

    The figures are computed again with the worst and with the best label. Which of them rest on
    refused items shows where these are counted as open.
    """
    refused = judged.verdicts.filter(pl.col("status") == Status.BLOCKED)
    if refused.is_empty():
        return {}
    part = _select(judged, refused["assignment"].to_list())
    bounds = get_bounds(protocol)
    worst, best = (_fill(part, bounds, best=best) for best in (False, True))

    def compute(verdicts: pl.DataFrame) -> dict[tuple[str, str], Figure]:
        found = protocol.compute_figures(part.model_copy(update={"verdicts": verdicts}), judge)
        return {(row["assignment"], row["metric"]): row for row in found.iter_rows(named=True)}

    given = (part.verdicts, worst, best, _open(part.verdicts), _open(worst))
    figures = [compute(verdicts) for verdicts in given]
    return dict(_compare(key, [of[key] for of in figures], bounds.none) for key in figures[0])


def _compare(
    key: tuple[str, str], figures: Sequence[Figure], without: Mapping[str, str]
) -> tuple[tuple[str, str], FigureBounds]:
    """figures: as it is, with the worst and the best labels, with all refused items open, and with
    the worst labels and what has none open."""
    figure, worst, best, opened, unknown = figures
    n_blocked = int((opened["n_open"] or 0) - (figure["n_open"] or 0))
    low, high, itself = (_get_value(each) for each in (worst, best, figure))
    is_known = key[1] not in without and unknown["n_open"] == worst["n_open"]
    is_moved = n_blocked or not low == high == itself
    if low is None or high is None or not is_known or not is_moved:
        return key, FigureBounds(None, None, None, n_blocked)
    # The figure itself is one of them: a refused item may also be one that does not count.
    ends = [low, high, *([] if itself is None else [itself])]
    return key, FigureBounds(min(ends), max(ends), int(worst["n_items"] or 0), n_blocked)


def _get_value(figure: Figure) -> float | None:
    numerator, n_items = figure["numerator"], figure["n_items"]
    return numerator / n_items if numerator is not None and n_items else None


def _select(judged: JudgedReports, assignments: list[str]) -> JudgedReports:
    chosen = pl.col("assignment").is_in(assignments)
    frames = {name: getattr(judged, name).filter(chosen) for name in ("reports", "verdicts")}
    return judged.model_copy(update=frames)


def _open(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Return the verdicts with those that are blocked as open ones."""
    status = pl.col("status")
    opened = pl.when(status == Status.BLOCKED).then(pl.lit(str(Status.JUDGE_ERROR)))
    return verdicts.with_columns(status=opened.otherwise(status))


def _fill(judged: JudgedReports, bounds: Bounds, *, best: bool) -> pl.DataFrame:
    """Return the verdicts with the worst or the best label for the blocked ones that have bounds,
    and with its probability where the judge gives probabilities."""
    verdicts = judged.verdicts
    points = dict(_list_points(judged)) if bounds.steps else {}
    scored = set(verdicts.drop_nulls("score")["step"])
    rows = []
    columns = ("assignment", "step", "item", "status", "label", "score")
    for assignment, step, item, status, label, score in verdicts.select(columns).iter_rows():
        labels = bounds.items.get(item) or bounds.steps.get(step)
        if status != Status.BLOCKED or labels is None or step in bounds.none:
            rows.append((status, label, score))
            continue
        chosen = labels[best]
        chosen = points[assignment, item] if chosen == ITEM_POINTS else chosen
        rows.append((str(Status.OK), chosen, float(best) if step in scored else None))
    filled = pl.DataFrame(
        rows,
        schema={"status": pl.String, "label": pl.String, "score": pl.Float64},
        orient="row",
    )
    return verdicts.with_columns(*filled)


def _list_points(judged: JudgedReports) -> Iterator[tuple[tuple[str, str], str]]:
    for assignment, item, points in judged.rubrics.select("assignment", "item", "points").rows():
        if points is not None:
            yield (assignment, item), f"{points:g}"
