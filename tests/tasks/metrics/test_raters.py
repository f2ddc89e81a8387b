"""Several who decide the same items: pairs, majorities, forced choices."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.agreement import (
    LabelAgreement,
    majority_label,
    majority_labels,
    measure_agreement,
    measure_pairwise,
    preferred_side,
    win_rates,
)

LABELLINGS = st.dictionaries(st.integers(0, 30), st.sampled_from("abc"))


def test_only_items_that_both_decided_are_compared() -> None:
    assert measure_agreement({1: "a", 2: "b", 3: "a"}, {2: "b", 3: "b", 4: "a"}) == LabelAgreement(
        2, 0.5, 0.0
    )


def test_nothing_in_common_is_null_and_not_zero() -> None:
    assert measure_agreement({1: "a"}, {2: "a"}) == LabelAgreement(0, None, None)


@pytest.fixture(scope="module")
def kappa_of_scikit_learn() -> Callable[[list[str], list[str]], float]:
    from sklearn.metrics import cohen_kappa_score

    score: Callable[[list[str], list[str]], float] = cohen_kappa_score
    return score


@given(left=LABELLINGS, right=LABELLINGS)
def test_kappa_is_that_of_scikit_learn(
    kappa_of_scikit_learn: Callable[[list[str], list[str]], float],
    left: dict[int, str],
    right: dict[int, str],
) -> None:
    found = measure_agreement(left, right)
    shared = sorted(left.keys() & right.keys())
    if found.kappa is not None:
        ours, theirs = [left[i] for i in shared], [right[i] for i in shared]
        assert found.kappa == pytest.approx(kappa_of_scikit_learn(ours, theirs))


def test_each_two_raters_are_compared_once() -> None:
    raters = {name: {1: "a"} for name in ("zoe", "ann", "bob")}
    assert [pair[:2] for pair in measure_pairwise(raters)] == [
        ("ann", "bob"), ("ann", "zoe"), ("bob", "zoe")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("votes", "found"), [("aab", "a"), ("ab", None), ("", None), ("aabb", None), ("abbcc", None)]
)
def test_a_majority_needs_more_votes_than_any_other_label(votes: str, found: str | None) -> None:
    assert majority_label(votes) == found


def test_tied_items_are_left_out_and_named() -> None:
    raters = {"ann": {1: "a", 2: "a"}, "bob": {1: "b", 2: "a", 3: "b"}}
    assert majority_labels(raters) == ({2: "a", 3: "b"}, {1})


def test_win_rates_say_in_how_many_comparisons_an_agent_was() -> None:
    rates = win_rates([("x", "y"), ("x", "z"), ("y", "x")])
    assert [(r.agent, r.n_choices, r.wins) for r in rates] == [
        ("x", 3, 2),
        ("y", 2, 1),
        ("z", 1, 0),
    ]
    assert rates[0].rate == pytest.approx(2 / 3)
    assert win_rates([]) == []


def test_a_metric_prefers_the_better_value_whichever_way_it_counts() -> None:
    assert preferred_side((0.2, 0.1), "higher") == "first"
    assert preferred_side((0.2, 0.1), "lower") == "second"
    assert preferred_side((0.1, 0.1), "higher") is None
    assert preferred_side((None, 0.1), "lower") is None
