"""Agreement beyond chance."""

from pathlib import PurePosixPath

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.metrics.agreement import accuracy, cohen_kappa, measure_agreement
from tasks.metrics.draws import Draws
from tasks.metrics.resampling import bootstrap_intervals

LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1)


def test_kappa_of_the_textbook_table() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed .7, by chance .5.
    left = ["yes"] * 25 + ["no"] * 25
    right = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert accuracy(left, right) == pytest.approx(0.7)
    assert cohen_kappa(left, right) == pytest.approx(0.4)


def test_nothing_to_compare_is_not_zero() -> None:
    assert accuracy([], []) is None
    assert cohen_kappa([], []) is None
    assert cohen_kappa(["a", "a"], ["a", "a"]) is None


def test_sequences_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        cohen_kappa(["a"], [])


@given(LABELS)
def test_kappa_is_symmetric_and_at_most_one(pairs: list[tuple[str, str]]) -> None:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    kappa = cohen_kappa(left, right)
    assert kappa == cohen_kappa(right, left)
    assert kappa is None or -1 - 1e-9 <= kappa <= 1
    if kappa is not None:
        assert (kappa == 1) == (left == right)


def folder(item: str) -> str:
    """`article/3` belongs to `article`."""
    return str(PurePosixPath(item).parent)


def items(labels: list[str], per_cluster: int) -> dict[str, str]:
    return {f"{n // per_cluster}/{n % per_cluster}": label for n, label in enumerate(labels)}


def test_the_share_alike_has_the_interval_of_a_mean_over_clusters_of_one_size() -> None:
    random = np.random.default_rng(2)
    ours = random.choice(["yes", "no"], 60).tolist()
    theirs = [
        label if kept else "unsure"
        for label, kept in zip(ours, random.random(60) < 0.7, strict=True)
    ]
    found = measure_agreement(items(ours, 4), items(theirs, 4), folder)
    # Clusters are numbered by name, as text.
    names = sorted(range(15), key=str)
    alike = (
        np.array([a == b for a, b in zip(ours, theirs, strict=True)]).reshape(15, 4).mean(axis=1)
    )
    means = alike[names]
    assert (found.n_items, found.n_clusters) == (60, 15)
    [mean] = bootstrap_intervals(means[:, None], lambda sums: sums.T / 15, Draws(15))
    assert found.alike_interval == mean
    assert found.kappa_interval is not None
    assert found.kappa_interval.low is not None
    assert found.kappa is not None
    assert found.kappa_interval.low < found.kappa < (found.kappa_interval.high or 0)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=20, max_size=30)
)
@settings(max_examples=20, deadline=None)
def test_intervals_hold_the_figures_that_stand_without_them(pairs: list[tuple[str, str]]) -> None:
    left, right = (items([pair[side] for pair in pairs], 3) for side in (0, 1))
    found = measure_agreement(left, right, folder)
    bare = measure_agreement(left, right)
    assert (found.n_items, found.alike, found.kappa) == (bare.n_items, bare.alike, bare.kappa)
    assert bare.alike_interval is None
    for value, interval in (
        (found.alike, found.alike_interval),
        (found.kappa, found.kappa_interval),
    ):
        assert interval is not None
        if interval.low is not None and interval.high is not None and not interval.reason:
            assert value is not None
            assert interval.low - 1e-9 <= value <= interval.high + 1e-9
        else:
            assert interval.reason


def test_few_assignments_give_no_interval_and_the_reason_names_them() -> None:
    found = measure_agreement(items(["a", "b"] * 6, 3), items(["a"] * 12, 3), folder)
    assert found.alike_interval is not None
    assert found.alike_interval.reason == "fewer than 5 assignments"
    assert measure_agreement({"x/1": "a"}, {"y/1": "a"}, folder).alike_interval is None
