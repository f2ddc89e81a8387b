"""The swap test by hand, beside SciPy's, and Holm's correction beside statsmodels'."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from tasks.metrics.cluster_sums import ClusterSums
from tasks.metrics.randomization_test import (
    MIN_DRAWS,
    count_draws,
    holm_correction,
    randomization_p_values,
)
from tasks.metrics.resampling import Array


def sums(above: list[list[float]], below: list[list[float]] | None = None) -> ClusterSums:
    """A row per cluster, a column per agent; divided by 1 if nothing else is said."""
    values = np.array(above, dtype=float)[:, :, None]
    return ClusterSums(
        values, np.ones_like(values) if below is None else np.array(below)[:, :, None]
    )


def by_scipy(above: Array, below: Array, draws: int) -> float:
    """Each cluster's two (numerator, denominator) are swapped by index."""

    def difference(one: Array, other: Array, axis: int) -> Array:
        clusters = np.arange(len(above))
        share = [
            above[clusters, which.astype(int)].sum(axis)
            / below[clusters, which.astype(int)].sum(axis)
            for which in (one, other)
        ]
        return np.asarray(np.round(share[0] - share[1], 12))  # what cancels out is 0 for SciPy, too

    zeros = np.zeros(len(above))
    return float(
        permutation_test(
            (zeros, zeros + 1), difference, permutation_type="samples", n_resamples=draws,
            vectorized=True, axis=-1, rng=np.random.default_rng(1),
        ).pvalue
    )  # fmt: skip


def test_three_clusters_by_hand() -> None:
    # Differences 3, 2, -1, sum 4. Of the 8 signings |sum| is 6, 4, 2 or 0, each twice: 4 of 8.
    assert randomization_p_values(sums([[4, 1], [3, 1], [0, 1]]), [(0, 1)]) == [0.5]
    # 1, 1, 1: only all as they are, and all swapped.
    assert randomization_p_values(sums([[1, 0]] * 3), [(0, 1)]) == [0.25]
    # Nothing differs: every swap is as large.
    assert randomization_p_values(sums([[2, 2]] * 3), [(0, 1)]) == [1.0]
    # -1, -2, 2, 2, -1 cancel out, though their fifths do not in binary: every swap is as large.
    assert randomization_p_values(sums([[0, 1], [0, 2], [2, 0], [2, 0], [0, 1]]), [(0, 1)]) == [1.0]


def test_shares_of_pooled_items_by_hand() -> None:
    # 3/4 and 1/2 against 0/1 and 1/4: 4/6 - 1/5 = .4667; the second cluster swapped: 4/8 - 1/3 =
    # .1667; and each with its sign turned.
    found = sums([[3, 0], [1, 1]], [[4, 1], [2, 4]])
    assert randomization_p_values(found, [(0, 1), (1, 0)]) == [0.5, 0.5]


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 5), st.integers(1, 5)),
        min_size=2,
        max_size=7,
    ),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_where_all_swaps_are_made_it_is_scipy_s_p(
    rows: list[tuple[int, int, int, int]], pooled: bool
) -> None:
    above = np.array([row[:2] for row in rows], dtype=float)
    below = np.array([row[2:] for row in rows], dtype=float) if pooled else np.ones_like(above)
    found = randomization_p_values(ClusterSums(above[:, :, None], below[:, :, None]), [(0, 1)])
    assert found == [pytest.approx(by_scipy(above, below, MIN_DRAWS))]


def test_where_swaps_are_drawn_p_is_near_scipy_s_and_never_0() -> None:
    random = np.random.default_rng(2)
    above, one = random.random((30, 2)), np.ones((30, 2))
    above[:, 0] += 0.1
    assert randomization_p_values(sums(above.tolist()), [(0, 1)]) == [
        pytest.approx(by_scipy(above, one, MIN_DRAWS), abs=0.02)
    ]
    above[:, 0] += 5
    assert randomization_p_values(sums(above.tolist()), [(0, 1)]) == [1 / (MIN_DRAWS + 1)]


def test_a_pair_s_p_does_not_hang_on_the_order_or_the_others() -> None:
    values = np.random.default_rng(4).random((20, 4))
    every = randomization_p_values(sums(values.tolist()), [(0, 1), (2, 3), (1, 0)])
    alone = randomization_p_values(sums(values[:, 2:].tolist()), [(0, 1)])
    assert every[1] == alone[0]
    assert every[0] == every[2]


def test_chance_is_called_a_difference_as_rarely_as_it_should() -> None:
    # 600 pairs of agents that are alike, 12 articles: p below .05 in 5 of 100, +- 2 errors.
    alike = np.random.default_rng(8).beta(0.5, 3, (12, 1200))
    pairs = [(n, n + 1) for n in range(0, 1200, 2)]
    p = np.array(randomization_p_values(sums(alike.tolist()), pairs))
    assert 0.03 <= (p < 0.05).mean() <= 0.07


def test_with_many_pairs_more_swaps_are_drawn_so_that_p_can_survive_the_correction() -> None:
    for n_pairs in (1, 28, 190, 990, 2000):
        assert n_pairs / (count_draws(n_pairs) + 1) < 0.05
    assert count_draws(28) == MIN_DRAWS


def test_holm_by_hand() -> None:
    # Sorted .01, .02, .03, times 3, 2, 1, none below the one before.
    assert holm_correction([0.02, 0.03, 0.01]) == pytest.approx([0.04, 0.04, 0.03])
    assert holm_correction([0.9, 0.8]) == [1.0, 1.0]
    assert holm_correction([]) == []


@pytest.mark.parametrize("n", [1, 2, 7, 28])
def test_holm_is_statsmodels(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from statsmodels.stats.multitest import multipletests

    monkeypatch.setattr("gc.collect", lambda: 0)  # at each call it looks through all there is
    p_values = (np.random.default_rng(n).integers(0, 12, n) / 60).tolist()  # some are equal
    assert holm_correction(p_values) == pytest.approx(
        list(multipletests(p_values, method="holm")[1])
    )


@given(st.lists(st.floats(0, 1), max_size=20))
def test_a_correction_lowers_no_p_and_keeps_their_order(p_values: list[float]) -> None:
    adjusted = holm_correction(p_values)
    assert all(p <= after <= 1 for p, after in zip(p_values, adjusted, strict=True))
    assert [after for _, after in sorted(zip(p_values, adjusted, strict=True))] == sorted(adjusted)
