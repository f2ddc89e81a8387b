"""Analysis of variance by hand, against another library, and what may not change it."""

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.metrics.correlation import OneWayAnova, benjamini_hochberg, one_way_anova

VALUES = st.lists(st.integers(-20, 20).map(lambda value: value / 10), max_size=6)
GROUPS = st.dictionaries(st.sampled_from("abcdef"), VALUES, max_size=6)


def test_f_and_eta_squared_by_hand() -> None:
    # Means 2, 4, 6, in all 4: between 3·(4 + 0 + 4) = 24, within 3·2 = 6, in all 30.
    found = one_way_anova({"a": [1, 2, 3], "b": [3, 4, 5], "c": [5, 6, 7]})
    assert found.f == pytest.approx((24 / 2) / (6 / 6))
    assert found.eta_squared == pytest.approx(24 / 30)
    assert (found.df_between, found.df_within, found.n_groups, found.n) == (2, 6, 3, 9)
    # F of 2 and 6 degrees of freedom has a closed form: (1 + 2F/6) to the power of -3.
    assert found.p == pytest.approx((1 + 2 * 12 / 6) ** -3)
    assert found.eta_squared_by_chance == pytest.approx(2 / 8)
    assert found.reason is None


def test_a_group_of_one_value_counts_between_groups_and_has_no_spread() -> None:
    # Means 2, 8, in all 3.5: between 3·2.25 + 20.25 = 27, within 2.
    found = one_way_anova({"many": [1, 2, 3], "one": [8], "none": []})
    assert (found.n_groups, found.n_single, found.df_within) == (2, 1, 2)
    assert found.f == pytest.approx(27 / (2 / 2))
    assert found.eta_squared == pytest.approx(27 / 29)
    assert one_way_anova({"many": [1, 2, 3], "more": [4, 5], "one": [8]}).n_single == 1


def test_it_is_as_statsmodels_has_it() -> None:
    from statsmodels.stats.oneway import anova_oneway

    chance = random.Random(7)
    sizes = {"a": 2, "b": 9, "c": 5, "d": 3}
    groups = {name: [chance.gauss(0, 1) for _ in range(n)] for name, n in sizes.items()}
    other = anova_oneway(list(groups.values()), use_var="equal")
    found = one_way_anova(groups)
    assert found.f == pytest.approx(other.statistic)
    assert found.p == pytest.approx(other.pvalue)
    # Eta squared is F turned into a share: df·F / (df·F + df within).
    ratio = other.statistic * other.df_num
    assert found.eta_squared == pytest.approx(ratio / (ratio + other.df_denom))


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ({}, "fewer than two groups have a value"),
        ({"a": [1.0, 2.0], "b": []}, "fewer than two groups have a value"),
        ({"a": [1.0], "b": [2.0]}, "no group has two values, so none has a spread"),
        ({"a": [0.1, 0.1], "b": [0.30000000000000004 - 0.2]}, "all values are the same"),
    ],
)
def test_what_is_not_defined_is_null_with_the_reason(
    groups: dict[str, list[float]], reason: str
) -> None:
    found = one_way_anova(groups)
    assert (found.f, found.p, found.eta_squared, found.reason) == (None, None, None, reason)


def test_groups_without_spread_that_differ_have_no_f_but_all_variance_between_them() -> None:
    found = one_way_anova({"a": [1.0, 1.0], "b": [2.0, 2.0]})
    assert (found.f, found.p, found.eta_squared) == (None, None, 1.0)
    assert found.reason == "the values of every group are the same: F has no bound"


def test_random_groups_have_the_eta_squared_that_is_said_to_come_by_chance() -> None:
    # Over all 70 ways to deal 8 values out to two groups of 4 the mean is exactly 1 / 7.
    values = [0.3, 1.9, 2.2, 4.1, 4.4, 7.0, 7.7, 9.5]
    found: list[OneWayAnova] = []
    for chosen in combinations(range(8), 4):
        rest = [values[n] for n in range(8) if n not in chosen]
        found.append(one_way_anova({"a": [values[n] for n in chosen], "b": rest}))
    mean = sum(one.eta_squared or 0 for one in found) / len(found)
    assert mean == pytest.approx(1 / 7)
    assert {one.eta_squared_by_chance for one in found} == {1 / 7}


def test_groups_with_equal_means_have_an_f_of_0_and_a_p_of_1() -> None:
    found = one_way_anova({"a": [0.0, 0.0, -0.2, 1.3], "b": [0.0, 0.0, 0.4, 0.7]})
    assert (found.f, found.p, found.eta_squared) == (0.0, 1.0, 0.0)


@settings(max_examples=60, deadline=None)
@given(GROUPS, st.randoms(), st.floats(-5, 5), st.floats(0.1, 9))
def test_order_shift_and_scale_do_not_change_it(
    groups: dict[str, list[float]], chance: random.Random, shift: float, scale: float
) -> None:
    found = one_way_anova(groups)
    names = chance.sample(sorted(groups), len(groups))
    assert one_way_anova({n: chance.sample(groups[n], len(groups[n])) for n in names}) == found
    if found.eta_squared is None:
        return
    assert 0 <= found.eta_squared <= 1
    moved = one_way_anova({n: [scale * v + shift for v in groups[n]] for n in names})
    assert moved.eta_squared == pytest.approx(found.eta_squared, abs=1e-9)
    if found.f is not None and found.p is not None:
        assert 0 <= found.p <= 1
        assert moved.f == pytest.approx(found.f, rel=1e-6, abs=1e-9)


def test_p_values_are_corrected_for_those_that_are_there() -> None:
    # Three of them: .01·3/1, .04·3/2, .5·3/3; a larger one is never corrected to less.
    assert benjamini_hochberg([0.5, None, 0.01, 0.04]) == [
        pytest.approx(0.5), None, pytest.approx(0.03), pytest.approx(0.06),
    ]  # fmt: skip
    assert benjamini_hochberg([None]) == [None]
    assert benjamini_hochberg([]) == []
