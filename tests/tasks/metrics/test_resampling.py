"""Intervals by drawing clusters again: SciPy's, widened, and how often they hold the truth."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from tasks.metrics import resampling
from tasks.metrics.resampling import (
    DIGITS,
    RESAMPLES,
    SEED,
    Array,
    Draws,
    Interval,
    bootstrap_intervals,
    widened_level,
)

SETS = 500
SLACK = 1e-9


def ratio(sums: Array) -> Array:
    """Numerators in the first half of the columns, denominators in the second."""
    above, below = np.hsplit(sums, 2)
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0).T


def intervals(values: Array, below: Array | None = None) -> list[Interval]:
    """Of the mean of each column, a row per cluster; or of the pooled share; 0 below is missing."""
    below = np.ones_like(values) if below is None else below
    sums = np.hstack([np.where(below > 0, values, 0.0), below])
    return bootstrap_intervals(sums, ratio, Draws(len(values)), below > 0)


def by_scipy(n: int, figure: Callable[..., Array]) -> list[float]:
    """The ends of SciPy's BCa interval by the same draws; `figure` is of places of clusters."""

    def rounded(drawn: Array, axis: int) -> Array:
        return np.asarray(np.round(figure(drawn, axis), DIGITS))  # so that equal ones are for SciPy

    ends = bootstrap(
        (np.arange(n),), rounded, n_resamples=RESAMPLES, method="BCa", axis=-1,
        confidence_level=widened_level(n), vectorized=True, rng=np.random.default_rng(SEED),
    ).confidence_interval  # fmt: skip
    return [ends.low, ends.high]


@pytest.mark.parametrize("n", [5, 20, 300])
def test_the_interval_of_a_mean_is_scipy_s_at_the_widened_level(n: int) -> None:
    values = np.random.default_rng(7).beta(2, 5, (n, 3))
    for column, found in enumerate(intervals(values)):
        mine = values[:, column]
        ends = by_scipy(n, lambda drawn, axis, mine=mine: mine[drawn].mean(axis))
        assert [found.low, found.high] == pytest.approx(ends, abs=1e-10)
        assert found.reason is None


def test_the_interval_of_a_pooled_share_is_scipy_s() -> None:
    random = np.random.default_rng(8)
    below = random.integers(1, 60, 50).astype(float)
    above = random.binomial(below.astype(int), 0.3).astype(float)
    [found] = intervals(above[:, None], below[:, None])
    ends = by_scipy(50, lambda drawn, axis: above[drawn].sum(axis) / below[drawn].sum(axis))
    assert [found.low, found.high] == pytest.approx(ends, abs=1e-10)


def test_neither_the_others_nor_the_size_of_a_block_moves_an_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(9)
    values = random.random((40, 5))
    there = (random.random((40, 5)) < 0.8).astype(float)
    every = intervals(values, there)
    monkeypatch.setattr(resampling, "MAX_WEIGHTS_IN_MEMORY", 1_000)
    monkeypatch.setattr(resampling, "MAX_LEFT_OUT_IN_MEMORY", 30)
    alone = [intervals(values[:, [n]], there[:, [n]])[0] for n in range(5)]
    assert alone == every


def test_many_figures_are_drawn_in_parts_that_fit_in_memory() -> None:
    held: list[int] = []

    def watched(sums: Array) -> Array:
        held.append(sums.size)
        return ratio(sums)

    sums = np.hstack([np.random.default_rng(5).random((8, 900)), np.ones((8, 900))])
    found = bootstrap_intervals(sums, watched, Draws(8))
    assert max(held) <= resampling.MAX_WEIGHTS_IN_MEMORY < RESAMPLES * sums.shape[1]
    assert found[:2] == bootstrap_intervals(sums[:, [0, 1, 900, 901]], ratio, Draws(8))


def test_what_an_agent_lacks_weighs_nothing_and_its_interval_is_about_that_of_what_it_has() -> None:
    values = np.random.default_rng(10).beta(2, 5, (100, 1))
    there = np.zeros((100, 1))
    there[:40] = 1.0
    [found], [own] = intervals(values, there), intervals(values[:40])
    assert None not in (found.low, found.high)
    assert [found.low, found.high] == pytest.approx([own.low, own.high], abs=0.01)


def test_few_clusters_widen_the_level_and_many_leave_it() -> None:
    # By hand for 10: t is 2.2622, times the root of 10/9 is 2.3845; normal tails 2 x .00855.
    assert widened_level(10) == pytest.approx(0.9829, abs=1e-4)
    assert widened_level(5) > widened_level(20) > widened_level(100) > 0.95
    assert widened_level(10**6) == pytest.approx(0.95, abs=1e-5)


def test_no_interval_is_made_where_there_is_nothing_to_say_and_the_reason_is() -> None:
    four, same = np.arange(4.0)[:, None], np.full((9, 1), 0.25)
    assert [i.reason for i in intervals(four)] == ["fewer than 5 articles"]
    assert intervals(np.arange(5.0)[:, None])[0].low is not None
    [found] = bootstrap_intervals(same, lambda sums: sums.T / 9, Draws(9), unit="assignments")
    assert (found.low, found.high) == (None, None)
    assert found.reason == "every resample of the assignments gives the same figure"


def test_fewer_than_five_of_an_agent_s_own_have_no_interval_beside_one_with_more() -> None:
    values, there = np.random.default_rng(2).random((20, 2)), np.ones((20, 2))
    there[4:, 1] = 0.0
    more, few = intervals(values, there)
    assert more.low is not None
    assert (few.low, few.reason) == (None, "fewer than 5 articles")


def test_a_figure_that_most_draws_leave_undefined_has_no_interval() -> None:
    def only_with_the_first(sums: Array) -> Array:
        return np.where(sums[:, 1] > 0, sums[:, 0], np.nan)[None, :]

    first = (np.arange(20) == 0).astype(float)
    [found] = bootstrap_intervals(
        np.column_stack([np.arange(20.0), first]), only_with_the_first, Draws(20)
    )
    assert (found.low, found.reason) == (None, "not defined for many of the resamples")


def test_a_figure_that_few_draws_leave_undefined_has_the_interval_of_the_others() -> None:
    present, values = np.zeros(20), np.random.default_rng(3).random((20, 1))
    present[:4] = 1.0

    def with_any_of_four(sums: Array) -> Array:
        return np.where(sums[:, 1] > 0, sums[:, 0] / 20, np.nan)[None, :]

    [found] = bootstrap_intervals(
        np.column_stack([values[:, 0], present]), with_any_of_four, Draws(20)
    )
    [whole] = intervals(values)
    assert found.low is not None
    assert whole.low is not None
    assert found.low == pytest.approx(whole.low, abs=0.05)


@given(st.lists(st.integers(0, 20), min_size=5, max_size=12))
@settings(max_examples=25, deadline=None)
def test_an_interval_holds_its_figure_or_says_why_not(values: list[int]) -> None:
    column = np.array(values, dtype=float)[:, None] / 20
    [alone] = intervals(column)
    assert (alone.low is None) == (alone.high is None)
    assert alone.low is not None or alone.reason
    if alone.low is not None and alone.high is not None and not alone.reason:
        assert alone.low - SLACK <= column.mean() <= alone.high + SLACK
        assert min(values) / 20 - SLACK <= alone.low <= alone.high <= max(values) / 20 + SLACK


def held(draw: Callable[[tuple[int, int]], Array], truth: float, n_clusters: int) -> float:
    """Share of SETS simulated editions whose interval holds the truth."""
    found = intervals(draw((n_clusters, SETS)))
    return sum(i.low is not None and i.low <= truth <= (i.high or 0.0) for i in found) / SETS


def test_the_interval_holds_the_truth_in_95_of_100_editions() -> None:
    # 500 editions: two standard errors of .95 are .02. The docstring has more figures.
    random = np.random.default_rng(69)
    assert 0.93 <= held(lambda shape: random.beta(2, 5, shape), 2 / 7, 69) <= 0.97
    assert 0.92 <= held(lambda shape: random.beta(0.5, 3, shape), 0.5 / 3.5, 69) <= 0.97


def test_with_ten_articles_the_interval_still_holds_the_truth_in_nine_of_ten_editions() -> None:
    random = np.random.default_rng(10)
    assert 0.92 <= held(lambda shape: random.beta(2, 5, shape), 2 / 7, 10) <= 0.98
    assert 0.90 <= held(lambda shape: random.beta(0.5, 3, shape), 0.5 / 3.5, 10) <= 0.98


def test_whole_clusters_are_drawn_so_that_items_alike_within_one_count_once() -> None:
    # Ten items say the same in each cluster: drawing items would make the interval a third.
    values = np.random.default_rng(5).random((30, 1))
    [clustered] = intervals(values)
    [as_items] = intervals(np.repeat(values, 10, axis=0))
    assert clustered.low is not None
    assert as_items.low is not None
    wide = (clustered.high or 0) - clustered.low
    assert ((as_items.high or 0) - as_items.low) / wide == pytest.approx(10**-0.5, rel=0.15)
