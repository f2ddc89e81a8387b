"""The swap test by hand and beside SciPy's, and its correction for several pairs."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from tasks.metrics import randomization_test, resampling
from tasks.metrics.cluster_sums import ScoreMatrix
from tasks.metrics.randomization_test import randomization_p_values
from tasks.metrics.resampling import SWAPS, Array, Draws

Pairs = list[tuple[int, int]]


def matrix(above: npt.ArrayLike, below: npt.ArrayLike | None = None) -> ScoreMatrix:
    """A row per article, a column per agent; divided by 1 if nothing else is said, 0 is missing."""
    values = np.asarray(above, dtype=float)
    divisors = np.ones_like(values) if below is None else np.asarray(below, dtype=float)
    n, n_agents = values.shape
    names = [f"a{k}" for k in range(n_agents)]
    return ScoreMatrix(names, n, np.arange(n), np.zeros(n, np.int64), values, divisors)


def p_values(items: ScoreMatrix, pairs: Pairs) -> tuple[list[float], list[float]]:
    """Each pair's p, and the corrected ones."""
    found = randomization_p_values(items, pairs, Draws(items.n_clusters))
    return [p for p, _ in found], [p for _, p in found]


def test_three_articles_by_hand() -> None:
    # Differences 3, 2, -1, sum 4. Of the 8 signings |sum| is 6, 4, 2 or 0, each twice: 4 of 8.
    assert p_values(matrix([[4, 1], [3, 1], [0, 1]]), [(0, 1)]) == ([0.5], [0.5])
    # 1, 1, 1: only all as they are, and all swapped.
    assert p_values(matrix([[1, 0]] * 3), [(0, 1)]) == ([0.25], [0.25])
    # Nothing differs, or all cancel out, though their fifths do not in binary: every swap is as
    # large.
    assert p_values(matrix([[2, 2]] * 3), [(0, 1)]) == ([1.0], [1.0])
    fifths = np.array([[0, 1], [0, 2], [2, 0], [2, 0], [0, 1]]) / 5
    assert p_values(matrix(fifths), [(0, 1)]) == ([1.0], [1.0])


def test_agents_whose_values_differ_by_rounding_alone_are_equal() -> None:
    assert p_values(matrix([[0.1 + 0.2, 0.3]] * 8), [(0, 1)]) == ([1.0], [1.0])
    assert p_values(matrix([[1, 2]] * 8, [[3, 6]] * 8), [(0, 1)]) == ([1.0], [1.0])


def studentised(above: Array, below: Array, axis: int) -> Array:
    """By definition: the difference of pooled shares over the root of its linearised variance and
    its square by articles; agents on the first axis."""
    total = below.sum(axis, keepdims=True)
    share = above.sum(axis, keepdims=True) / total
    apart = np.subtract(*((above - share * below) / total))
    difference = np.abs(np.subtract(*share)).squeeze(axis)
    scale = (apart**2).sum(axis) + difference**2 / above.shape[axis]
    found = np.divide(
        difference, np.sqrt(scale), out=np.zeros_like(scale), where=difference > 1e-12
    )
    return np.asarray(np.round(found, 9))  # what is equal is equal for SciPy, too


def by_scipy(above: Array, below: Array, pairs: Pairs, n_draws: int) -> float:
    """p of the largest studentised difference; each article's reports are swapped by index."""
    articles = np.arange(len(above))

    def largest(one: Array, other: Array, axis: int) -> Array:
        swapped = np.asarray(one, dtype=int), np.asarray(other, dtype=int)
        return np.asarray(np.max([
            studentised(
                np.stack([above[articles, np.array(pair)[each]] for each in swapped]),
                np.stack([below[articles, np.array(pair)[each]] for each in swapped]),
                axis,
            )
            for pair in pairs
        ], axis=0))  # fmt: skip

    zeros = np.zeros(len(above))
    return float(
        permutation_test(
            (zeros, zeros + 1), largest, permutation_type="samples", n_resamples=n_draws,
            alternative="greater", vectorized=True, axis=-1, rng=np.random.default_rng(1),
        ).pvalue
    )  # fmt: skip


@given(
    st.lists(st.tuples(*[st.integers(0, 5)] * 3, *[st.integers(1, 5)] * 3), min_size=2, max_size=7),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_where_all_swaps_are_made_it_is_scipy_s_p_of_one_pair_and_of_the_largest(
    rows: list[tuple[int, ...]], pooled: bool
) -> None:
    above = np.array([row[:3] for row in rows], dtype=float)
    below = np.array([row[3:] for row in rows], dtype=float) if pooled else np.ones_like(above)
    pairs = list(combinations(range(3), 2))
    own, corrected = p_values(matrix(above, below), pairs)
    assert own == pytest.approx([by_scipy(above, below, [pair], SWAPS) for pair in pairs])
    assert min(corrected) == pytest.approx(by_scipy(above, below, pairs, SWAPS))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=8))
@settings(max_examples=25, deadline=None)
def test_one_pair_of_means_has_scipy_s_p_of_the_bare_difference(rows: list[Array]) -> None:
    values = np.array(rows, dtype=float)

    def difference(one: Array, other: Array, axis: int) -> Array:
        return np.asarray(np.round((one - other).mean(axis), 12))

    expected = permutation_test(
        (values[:, 0], values[:, 1]), difference, permutation_type="samples", n_resamples=SWAPS,
        vectorized=True, axis=-1,
    ).pvalue  # fmt: skip
    assert p_values(matrix(values), [(0, 1)])[0] == [pytest.approx(float(expected))]


def test_where_swaps_are_drawn_p_is_near_scipy_s_and_never_0() -> None:
    random = np.random.default_rng(2)
    above, one = random.random((30, 2)), np.ones((30, 2))
    above[:, 0] += 0.1
    [p], _ = p_values(matrix(above), [(0, 1)])
    assert p == pytest.approx(by_scipy(above, one, [(0, 1)], SWAPS), abs=0.02)
    above[:, 0] += 5
    assert p_values(matrix(above), [(0, 1)]) == ([1 / (SWAPS + 1)], [1 / (SWAPS + 1)])


def test_a_pair_s_own_p_does_not_hang_on_the_order_the_others_or_the_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(4)
    values, below = random.random((20, 5)), random.integers(1, 9, (20, 5)).astype(float)
    below[3:6, 2] = 0.0
    below[:, 1] = below[:, 0]  # as sums of differences; the others as ratios
    pairs = list(combinations(range(5), 2))
    for items in (matrix(values, (below > 0) * 1.0), matrix(values * below, below)):
        every = p_values(items, pairs)
        assert p_values(items, pairs[::-1]) == (every[0][::-1], every[1][::-1])
        assert [p_values(items, [pair])[0][0] for pair in pairs[:3]] == every[0][:3]
        with monkeypatch.context() as small:
            small.setattr(resampling, "MAX_WEIGHTS_IN_MEMORY", 1_000)
            small.setattr(randomization_test, "MAX_SUMS_IN_MEMORY", 50)
            assert p_values(items, pairs) == every


def test_each_pair_is_tested_on_the_articles_that_both_have_and_a_small_one_hides_no_other() -> (
    None
):
    # The third agent has three articles, on which it differs from the others by the same each: as
    # t that would be infinite in a quarter of the swaps.
    random = np.random.default_rng(6)
    values = np.column_stack([0.6 + random.random(12) / 9, 0.4 + random.random(12) / 9, [0.1] * 12])
    values[:3, :2] = [0.6, 0.4]
    there = np.ones_like(values)
    there[3:, 2] = 0.0
    own, corrected = p_values(matrix(values, there), [(0, 1), (0, 2), (1, 2)])
    assert own[1:] == [0.25, 0.25]
    assert corrected[1:] == [pytest.approx(0.25, abs=0.1)] * 2
    assert own[0] == corrected[0] == 2 / 2**12


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=3, max_size=9))
@settings(max_examples=25, deadline=None)
def test_a_correction_lowers_no_p_and_keeps_the_order_of_the_differences(
    rows: list[tuple[int, ...]],
) -> None:
    values, pairs = np.array(rows, dtype=float), list(combinations(range(4), 2))
    own, corrected = p_values(matrix(values), pairs)
    assert all(p <= after <= 1 for p, after in zip(own, corrected, strict=True))
    sides = values.T[np.array(pairs).T]
    order = np.argsort(-studentised(sides, np.ones_like(sides), axis=-1), kind="stable")
    assert [corrected[place] for place in order] == sorted(corrected)


def test_a_step_down_correction_leaves_out_what_was_found_before_it() -> None:
    # Far apart, and a pair of its own: alone it would have the same p.
    random = np.random.default_rng(3)
    values = random.random((12, 4)) / 10 + [0.9, 0.1, 0.5, 0.48]
    own, corrected = p_values(matrix(values), [(0, 1), (2, 3)])
    assert own[0] < own[1] < 0.5
    assert corrected[1] == own[1]


def test_weak_agents_beside_take_nothing_from_what_eight_articles_can_show() -> None:
    # With Holm's correction 15 pairs could not reach .05 with eight articles: 15 x 2 / 256.
    random = np.random.default_rng(12)
    values = random.normal(size=(8, 6)) / 30 + [0.7, 0.68, 0.5, 0.3, 0.1, 0.08]
    pairs = list(combinations(range(6), 2))
    _, corrected = p_values(matrix(values), pairs)
    assert sum(p < 0.05 for p in corrected) >= 12
    before = p_values(matrix(values[:, :4]), list(combinations(range(4), 2)))[1]
    assert sum(p < 0.05 for p in before) >= 4
    after = [p for p, pair in zip(corrected, pairs, strict=True) if max(pair) < 4]
    assert [p < 0.05 for p in after] == [p < 0.05 for p in before]


def test_chance_is_called_a_difference_as_rarely_as_it_should() -> None:
    # 600 pairs of agents that are alike, 12 articles: p below .05 in 5 of 100, +- 2 errors.
    alike = np.random.default_rng(8).beta(0.5, 3, (12, 1200))
    own, _ = p_values(matrix(alike), [(n, n + 1) for n in range(0, 1200, 2)])
    assert 0.03 <= (np.array(own) < 0.05).mean() <= 0.07
