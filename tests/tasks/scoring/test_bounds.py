"""What an agent's figure would be, had the judge decided what it refused; and when that is said."""

import polars as pl
import pytest

from tasks.configuration.models import MetricEntry
from tasks.scoring.bounds import UNCERTAIN_SAID, aggregate_bounds, describe_refused, mark_uncertain

COLUMNS = {
    "assignment": pl.String, "value": pl.Float64, "numerator": pl.Float64, "n_items": pl.Int64,
    "n_blocked": pl.Int64, "bound_low": pl.Float64, "bound_high": pl.Float64,
    "bound_items": pl.Int64,
}  # fmt: skip
Row = tuple[float | None, int, int | None, float | None, float | None, int | None]
"""Value, items, refused items, bounds, items in these."""
WHOLE: Row = (0.5, 10, 0, None, None, None)
PART: Row = (0.8, 5, 5, 0.4, 0.9, 10)
UNKNOWN: Row = (0.8, 5, 5, None, None, None)
LOST: Row = (None, 0, 10, 0.0, 1.0, 10)
OLD: Row = (0.5, 10, None, None, None, None)


def entry(aggregate: str = "macro", unit: str = "share", better: str = "higher") -> MetricEntry:
    given = {"aggregate": aggregate, "unit": unit, "better": better}
    return MetricEntry.model_validate({"name": "m", "title": "M", "description": "d", **given})


def scores(*rows: Row) -> pl.DataFrame:
    made = [
        (f"a{number}", value, None if value is None else value * n, n, *rest)
        for number, (value, n, *rest) in enumerate(rows)
    ]
    return pl.DataFrame(made, schema=COLUMNS, orient="row")


def bounds(metric: MetricEntry, *rows: Row) -> tuple[float | None, float | None]:
    found = aggregate_bounds(metric, scores(*rows), {"a0": "x", "a1": "y"})
    return found.get("bound_low"), found.get("bound_high")


def test_bounds_are_aggregated_as_the_figure_is() -> None:
    assert bounds(entry(), WHOLE, PART) == pytest.approx((0.45, 0.7))
    assert bounds(entry("micro"), WHOLE, PART, WHOLE) == pytest.approx((14 / 30, 19 / 30))
    assert bounds(entry("by_category"), WHOLE, PART) == pytest.approx((0.45, 0.7))


def test_a_report_whose_items_were_all_refused_is_in_the_bounds() -> None:
    assert bounds(entry(), WHOLE, LOST) == (0.25, 0.75)


@pytest.mark.parametrize("rows", [(WHOLE, WHOLE), (WHOLE, UNKNOWN), (PART, UNKNOWN), (OLD, PART)])
def test_they_are_null_where_nothing_was_refused_or_one_is_unknown(rows: tuple[Row, ...]) -> None:
    assert bounds(entry(), *rows) == (None, None)


def test_the_share_refused_is_the_mean_over_reports_and_no_number_has_one() -> None:
    found = aggregate_bounds(entry(), scores(WHOLE, PART, LOST), {})
    assert (found["n_blocked"], found["blocked_share"]) == (15, 0.5)
    assert "blocked_share" not in aggregate_bounds(entry(unit="number"), scores(PART), {})
    assert aggregate_bounds(entry(), scores(OLD), {}) == {}


def board(*rows: tuple[str, str, float | None, float | None, float | None]) -> pl.DataFrame:
    made = [(*row, 0.4 if low is not None else None, 0.6, 0.25) for row in rows for low in [row[3]]]
    names = ("agent", "metric", "value", "low", "high", "bound_low", "bound_high", "blocked_share")
    texts = dict.fromkeys(names[:2], pl.String)
    schema = texts | dict.fromkeys(names[2:], pl.Float64)
    return pl.DataFrame(made, schema=schema, orient="row")


@pytest.mark.parametrize(
    ("low", "high", "uncertain"),
    [(0.4, 0.6, False), (0.41, 0.6, True), (0.3, 0.59, True), (0.1, 0.9, False)],
)
def test_a_figure_is_uncertain_where_a_bound_leaves_its_interval(
    low: float, high: float, uncertain: bool
) -> None:
    frame = mark_uncertain(board(("ann", "m", 0.5, low, high)))
    assert frame["uncertain"].to_list() == [uncertain]
    said = describe_refused(frame, {"m": "M"}, {"ann": "Ann"})
    assert "Refused by the judge, at most of a figure's items: Ann 25.0% of M." in said
    assert (UNCERTAIN_SAID in said) == uncertain


def test_without_an_interval_or_bounds_nothing_is_uncertain_and_nothing_is_said() -> None:
    frame = mark_uncertain(board(("ann", "m", 0.5, None, None)))
    assert frame["uncertain"].to_list() == [False]
    assert describe_refused(frame.with_columns(blocked_share=0.0), {"m": "M"}) == ""
    assert describe_refused(frame.with_columns(blocked_share=None), {"m": "M"}) == ""
