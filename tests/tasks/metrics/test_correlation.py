"""Correlations by hand, and what may not change them."""

import random
from collections.abc import Callable, Sequence
from math import atanh, tanh

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.base import Frozen
from tasks.metrics.correlation import fit_line, pearson, rank_correlation

Pairs = Sequence[tuple[float, float]]

VALUES = st.floats(-1, 1).map(lambda value: round(value, 2))
PAIRS = st.lists(st.tuples(VALUES, VALUES), max_size=9)


def test_spearman_and_kendall_by_hand() -> None:
    # Ranks 1 2 3 4 against 1 3 2 4: rho = 1 - 6·2/(4·15) = .8; of six pairs one is discordant.
    found = rank_correlation([(10, 1), (20, 3), (30, 2), (40, 4)])
    assert found.spearman == pytest.approx(0.8)
    assert found.kendall == pytest.approx((5 - 1) / 6)
    # Of the 24 orders four are so near to one of the two ends, on either side: 8 of 24.
    assert found.p == pytest.approx(8 / 24)
    assert found.n == 4


def test_kendall_allows_for_ties_as_tau_b() -> None:
    # Six pairs, one tied in the first: 5 concordant; tau-b = 5 / sqrt(5 · 6).
    found = rank_correlation([(1, 1), (1, 2), (2, 3), (3, 4)])
    assert found.kendall == pytest.approx(5 / 30**0.5)


FEW, SAME = "fewer than 3 pairs of values", "one of the two is the same everywhere"


@pytest.mark.parametrize("figure", [rank_correlation, pearson, fit_line])
@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([], FEW),
        ([(1, 2), (2, 1)], FEW),
        ([(1, 2), (1, 3), (1, 4)], SAME),
        ([(2, 0), (3, 0), (4, 0)], SAME),
    ],
)
def test_pairs_that_say_nothing_are_null_with_the_reason(
    figure: Callable[[Pairs], Frozen], pairs: Pairs, reason: str
) -> None:
    found = figure(pairs).model_dump()
    assert (found.pop("n"), found.pop("reason")) == (len(pairs), reason)
    assert set(found.values()) == {None}


def test_what_differs_by_its_rounding_alone_is_the_same_everywhere() -> None:
    assert pearson([(1, 0.3), (2, 0.1 + 0.2), (3, 0.3)]).reason == SAME


def test_a_value_that_is_no_number_makes_no_perfect_order() -> None:
    found = rank_correlation([(1, 1), (2, float("nan")), (3, 3), (4, 4)])
    said = (found.spearman, found.kendall, found.p, found.reason)
    assert said == (None, None, None, "a value is no number")


@settings(max_examples=50, deadline=None)
@given(PAIRS, st.randoms())
def test_it_lies_between_minus_1_and_1_whatever_the_order_and_turns_with_a_sign(
    pairs: list[tuple[float, float]], chance: random.Random
) -> None:
    found = rank_correlation(pairs)
    assert found == rank_correlation(chance.sample(pairs, len(pairs)))
    if found.kendall is None or found.spearman is None:
        return
    assert -1 <= found.kendall <= 1
    assert -1 <= found.spearman <= 1
    turned = rank_correlation([(-one, other) for one, other in pairs])
    assert turned.kendall == pytest.approx(-found.kendall)
    assert turned.spearman == pytest.approx(-found.spearman)
    same = rank_correlation([(3 * one + 1, other) for one, other in pairs])
    assert same.kendall == pytest.approx(found.kendall)


CATEGORY_MEANS = [
    (31, 9_200), (42, 15_100), (28, 700), (55, 30_400), (47, 2_600), (39, 8_800), (61, 18_900),
    (36, 5_100), (44, 12_700), (52, 9_900), (33, 21_300), (58, 16_600), (49, 3_400), (40, 11_500),
    (35, 4_800),
]  # fmt: skip
"""Fifteen categories: a difficulty in percent and page views, made up by hand."""


def test_pearson_over_fifteen_category_means_is_what_the_sums_give() -> None:
    # Σx 650, Σy 171,000, Σx² 29,600, Σy² 2,860,120,000, Σxy 7,946,800.
    x, y, xx, yy, xy = 650, 171_000, 29_600, 2_860_120_000, 7_946_800
    expected = (15 * xy - x * y) / ((15 * xx - x**2) * (15 * yy - y**2)) ** 0.5
    assert expected == pytest.approx(0.46984, abs=5e-6)
    found = pearson(CATEGORY_MEANS)
    assert found.r == pytest.approx(expected)
    assert (found.n, found.reason) == (15, None)
    # Fisher: the interval is tanh(atanh(r) ± 1.96 / sqrt(n - 3)).
    reach = 1.959964 / 12**0.5
    assert found.low == pytest.approx(tanh(atanh(expected) - reach), rel=1e-5)
    assert found.high == pytest.approx(tanh(atanh(expected) + reach), rel=1e-5)


def test_pearson_of_three_pairs_by_hand() -> None:
    # x 1 2 3, y 1 3 2: Sxy 1, Sxx 2, Syy 2. With one degree of freedom p = 1 - (2/π)·asin r.
    found = pearson([(1, 1), (2, 3), (3, 2)])
    assert found.r == pytest.approx(0.5)
    assert found.p == pytest.approx(2 / 3)
    assert (found.low, found.high) == (None, None)


@settings(max_examples=50, deadline=None)
@given(PAIRS, st.randoms(), st.floats(-5, 5), st.floats(0.1, 9))
def test_pearson_lies_between_minus_1_and_1_whatever_order_shift_and_scale(
    pairs: list[tuple[float, float]], chance: random.Random, shift: float, scale: float
) -> None:
    found = pearson(pairs)
    assert found == pearson(chance.sample(pairs, len(pairs)))
    if found.r is None:
        return
    assert -1 <= found.r <= 1
    moved = pearson([(scale * one + shift, -other) for one, other in pairs])
    assert moved.r == pytest.approx(-found.r, abs=1e-6)
