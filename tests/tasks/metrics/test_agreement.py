"""Agreement beyond chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.agreement import accuracy, cohen_kappa

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
