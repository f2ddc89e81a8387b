"""Intervals by drawing clusters again: SciPy's, widened, and how often they hold the truth."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from tasks.metrics.resampling import RESAMPLES, SEED, Array, bootstrap_intervals, widened_level

SETS = 500
SLACK = 1e-9


def mean_of(values: Array) -> Callable[[Array], Array]:
    """The mean of each column of values, a row per cluster."""
    return lambda counts: ((counts @ values) / counts.sum(axis=1, keepdims=True)).T


def test_the_interval_of_a_mean_is_scipy_s_at_the_widened_level() -> None:
    values = np.random.default_rng(7).beta(2, 5, (20, 3))
    for column, found in enumerate(bootstrap_intervals(mean_of(values), 20)):
        ends = bootstrap(
            (values[:, column],), np.mean, n_resamples=RESAMPLES, method="BCa", axis=-1,
            confidence_level=widened_level(20), vectorized=True, rng=np.random.default_rng(SEED),
        ).confidence_interval  # fmt: skip
        assert [found.low, found.high] == pytest.approx([ends.low, ends.high])
        assert found.reason is None


def test_few_clusters_widen_the_level_and_many_leave_it() -> None:
    # By hand for 10: t is 2.2622, times the root of 10/9 is 2.3845; normal tails 2 x .00855.
    assert widened_level(10) == pytest.approx(0.9829, abs=1e-4)
    assert widened_level(5) > widened_level(20) > widened_level(100) > 0.95
    assert widened_level(10**6) == pytest.approx(0.95, abs=1e-5)


def test_no_interval_is_made_where_there_is_nothing_to_say_and_the_reason_is() -> None:
    four, same = np.arange(4.0)[:, None], np.full((9, 1), 0.25)
    assert [i.reason for i in bootstrap_intervals(mean_of(four), 4)] == ["fewer than 5 articles"]
    assert bootstrap_intervals(mean_of(np.arange(5.0)[:, None]), 5)[0].low is not None
    [found] = bootstrap_intervals(mean_of(same), 9, "assignments")
    assert (found.low, found.high) == (None, None)
    assert found.reason == "every resample of the assignments gives the same figure"


def test_a_figure_that_most_draws_leave_undefined_has_no_interval() -> None:
    present = np.zeros(20)
    present[0] = 1.0

    def only_with_the_first(counts: Array) -> Array:
        return np.where(counts @ present > 0, counts @ np.arange(20.0), np.nan)[None, :]

    [found] = bootstrap_intervals(only_with_the_first, 20)
    assert (found.low, found.reason) == (None, "not defined for many of the resamples")


def test_a_figure_that_few_draws_leave_undefined_has_the_interval_of_the_others() -> None:
    present, values = np.zeros(20), np.random.default_rng(3).random((20, 1))
    present[:4] = 1.0

    def with_any_of_four(counts: Array) -> Array:
        return np.where(counts @ present > 0, mean_of(values)(counts), np.nan)

    [found], [whole] = (
        bootstrap_intervals(with_any_of_four, 20),
        bootstrap_intervals(mean_of(values), 20),
    )
    assert found.low is not None
    assert whole.low is not None
    assert found.low == pytest.approx(whole.low, abs=0.05)


@given(st.lists(st.integers(0, 20), min_size=5, max_size=12), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_an_interval_holds_its_figure_or_says_why_not(values: list[int], beside: int) -> None:
    column = np.array(values, dtype=float)[:, None] / 20
    [alone] = bootstrap_intervals(mean_of(column), len(values))
    assert (alone.low is None) == (alone.high is None)
    assert alone.low is not None or alone.reason
    if alone.low is not None and alone.high is not None and not alone.reason:
        assert alone.low - SLACK <= column.mean() <= alone.high + SLACK
        assert min(values) / 20 - SLACK <= alone.low <= alone.high <= max(values) / 20 + SLACK
    others = np.random.default_rng(beside).random((len(values), beside))
    [found, *_] = bootstrap_intervals(mean_of(np.hstack([column, others])), len(values))
    # SciPy sums several figures in another order than one: the last binary digits may differ.
    assert found.low == pytest.approx(alone.low, abs=SLACK)
    assert found.high == pytest.approx(alone.high, abs=SLACK)
    assert found.reason == alone.reason


def held(draw: Callable[[tuple[int, int]], Array], truth: float, n_clusters: int) -> float:
    """Share of SETS simulated editions whose interval holds the truth."""
    values = draw((n_clusters, SETS))
    found = bootstrap_intervals(mean_of(values), n_clusters)
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
    random = np.random.default_rng(5)
    values = random.random((30, 1))
    [clustered] = bootstrap_intervals(mean_of(values), 30)
    [as_items] = bootstrap_intervals(mean_of(np.repeat(values, 10, axis=0)), 300)
    assert clustered.low is not None
    assert as_items.low is not None
    wide = (clustered.high or 0) - clustered.low
    assert ((as_items.high or 0) - as_items.low) / wide == pytest.approx(10**-0.5, rel=0.15)
