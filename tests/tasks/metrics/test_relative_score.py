"""A report's share beside its reference: its laws; by hand it is in test_race.py."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.metrics.ratios import ScoredPair, relative_score, weighted_mean


def pair(dimension: str, weight: float, report: float, reference: float) -> ScoredPair:
    return ScoredPair(dimension=dimension, weight=weight, report=report, reference=reference)


WEIGHTS = {"insight": 0.6, "readability": 0.4}
SCORES = st.integers(0, 20).map(lambda halves: halves / 2)
PAIRS = st.lists(
    st.builds(pair, st.sampled_from([*WEIGHTS]), st.sampled_from([0.1, 0.5, 2.0]), SCORES, SCORES),
    max_size=8,
)


def test_a_dimension_without_a_weight_counts_nothing() -> None:
    pairs = [pair("insight", 1, 8, 2), pair("style", 1, 0, 10)]
    assert relative_score(pairs, {"insight": 1}) == pytest.approx(0.8)


def test_nothing_and_nothing_but_zeros_are_null() -> None:
    assert relative_score([], WEIGHTS) is None
    assert relative_score([pair("insight", 1, 0, 0)], WEIGHTS) is None
    assert relative_score([pair("insight", 1, 0, 1)], WEIGHTS) == 0


def test_a_weighted_mean_leaves_out_what_is_not_there() -> None:
    assert weighted_mean([(1, 3), (0, 1), (None, 100)]) == 0.75
    assert weighted_mean([]) is weighted_mean([(None, 1)]) is weighted_mean([(1, 0)]) is None


@settings(max_examples=50, deadline=None)
@given(PAIRS, st.randoms())
def test_it_is_a_share_and_its_opposite_is_the_reference_s(
    pairs: list[ScoredPair], chance: random.Random
) -> None:
    found = relative_score(pairs, WEIGHTS)
    assert relative_score(chance.sample(pairs, len(pairs)), WEIGHTS) == found
    if found is None:
        return
    assert 0 <= found <= 1
    turned = [pair(p.dimension, p.weight, p.reference, p.report) for p in pairs]
    assert relative_score(turned, WEIGHTS) == pytest.approx(1 - found)
    same = [pair(p.dimension, p.weight, p.report, p.report) for p in pairs]
    assert relative_score(same, WEIGHTS) in (None, pytest.approx(0.5))


@settings(max_examples=50, deadline=None)
@given(PAIRS)
def test_a_better_score_never_lowers_it(pairs: list[ScoredPair]) -> None:
    found = relative_score(pairs, WEIGHTS) or 0
    for place, one in enumerate(pairs):
        better = pair(one.dimension, one.weight, one.report + 1, one.reference)
        higher = relative_score([*pairs[:place], better, *pairs[place + 1 :]], WEIGHTS)
        assert higher is not None
        assert higher >= found - 1e-12
