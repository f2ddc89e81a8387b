"""Rank ranges: what is sure sets agents apart, and nothing else."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.ranks import estimate_articles_needed, rank_ranges

AGENTS = ["a", "b", "c", "d", "e"]
SURE = st.lists(st.sampled_from(list(combinations(AGENTS, 2))), unique=True)
"""Pairs of which the first is better: never the other way round."""


def test_ranges_by_hand() -> None:
    # a beats c and d, b beats d: a and b share the first places, c may be second or third.
    found = rank_ranges(["a", "b", "c", "d"], [("a", "c"), ("a", "d"), ("b", "d")])
    assert found == {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (3, 4)}


def test_where_nothing_is_sure_everybody_may_have_any_place() -> None:
    assert rank_ranges(AGENTS, []) == dict.fromkeys(AGENTS, (1, 5))
    assert rank_ranges(["a"], [("a", "gone")]) == {"a": (1, 1)}


@given(SURE)
def test_a_range_holds_the_place_in_every_order_that_what_is_sure_allows(
    better: list[tuple[str, str]],
) -> None:
    # The alphabet is such an order.
    for place, agent in enumerate(AGENTS, start=1):
        first, last = rank_ranges(AGENTS, better)[agent]
        assert 1 <= first <= place <= last <= len(AGENTS)


@given(SURE)
def test_turning_every_difference_turns_every_range(better: list[tuple[str, str]]) -> None:
    turned = rank_ranges(AGENTS, [(other, one) for one, other in better])
    for agent, (first, last) in rank_ranges(AGENTS, better).items():
        assert turned[agent] == (6 - last, 6 - first)


@given(SURE)
def test_ranges_lie_apart_only_by_what_is_sure(better: list[tuple[str, str]]) -> None:
    found = rank_ranges(AGENTS, better)
    for one, other in combinations(AGENTS, 2):
        if found[one][1] < found[other][0]:
            through = [c for c in AGENTS if (one, c) in better and (c, other) in better]
            assert (one, other) in better or len(through) >= 2


@pytest.mark.parametrize(("effect_size", "n_pairs"), [(0.2, 1), (-0.5, 1), (0.8, 6), (0.5, 28)])
def test_the_articles_that_a_difference_needs_are_those_of_a_paired_t_test(
    effect_size: float, n_pairs: int
) -> None:
    from statsmodels.stats.power import TTestPower

    exact = TTestPower().solve_power(abs(effect_size), alpha=0.05 / n_pairs, power=0.8)
    assert estimate_articles_needed(effect_size, n_pairs) == pytest.approx(exact, abs=1.2)


def test_even_a_huge_difference_needs_six_articles() -> None:
    assert estimate_articles_needed(30.0, 1) == 6
