"""Rank correlations by hand, and what may not change them."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.metrics.correlation import rank_correlation

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


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        ([], "fewer than 3 pairs of values"),
        ([(1, 2), (2, 1)], "fewer than 3 pairs of values"),
        ([(1, 2), (1, 3), (1, 4)], "one of the two is the same everywhere"),
        ([(2, 0), (3, 0), (4, 0)], "one of the two is the same everywhere"),
    ],
)
def test_an_order_that_says_nothing_is_null_with_the_reason(
    pairs: list[tuple[float, float]], reason: str
) -> None:
    found = rank_correlation(pairs)
    assert (found.spearman, found.kendall, found.p, found.reason) == (None, None, None, reason)


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
