"""Shares and means."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.ratios import combine_citation_labels, compute_shares, mean, share

STATUSES = ("ok", "judge_error", "unparsable", "blocked", "unfetchable", "not_assessed", "skipped")
verdicts = st.lists(st.tuples(st.sampled_from(STATUSES), st.booleans()), max_size=30)


def frame(rows: list[tuple[str, bool]]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"assignment": "x", "status": status, "hit": hit} for status, hit in rows],
        schema={"assignment": pl.String, "status": pl.String, "hit": pl.Boolean},
    )


def test_nothing_is_null_not_zero() -> None:
    assert share(0, 0) is None
    assert mean([]) is None
    assert mean([None, None]) is None


def test_a_missing_value_leaves_the_mean_unchanged() -> None:
    assert mean([1.0, None, 0.0]) == 0.5


@given(verdicts)
def test_only_ok_enters_numerator_and_denominator(rows: list[tuple[str, bool]]) -> None:
    result = compute_shares(frame(rows), pl.col("hit"))
    decided = [hit for status, hit in rows if status == "ok"]
    if not rows:
        assert result.is_empty()
        return
    assert result["n_items"].item() == len(decided)
    assert result["numerator"].item() == sum(decided)
    still_open = sum(status in ("judge_error", "unparsable") for status, _ in rows)
    assert result["n_open"].item() == still_open


@given(verdicts, st.sampled_from(STATUSES[1:]))
def test_an_unjudged_item_never_changes_a_share(rows: list[tuple[str, bool]], status: str) -> None:
    before = compute_shares(frame([*rows, ("ok", True)]), pl.col("hit"))
    after = compute_shares(frame([*rows, ("ok", True), (status, True)]), pl.col("hit"))
    assert before.select("numerator", "n_items").equals(after.select("numerator", "n_items"))


@given(st.lists(st.floats(0, 1), min_size=1))
def test_a_mean_does_not_depend_on_the_order(values: list[float]) -> None:
    assert mean(values) == mean(reversed(values))


def test_any_support_beats_conflict_and_conflict_beats_missing_support() -> None:
    assert combine_citation_labels(["not_support", "conflict", "support"]) == "support"
    assert combine_citation_labels(["not_support", "conflict"]) == "conflict"
    assert combine_citation_labels(["not_support"]) == "not_support"
    assert combine_citation_labels([]) is None
