"""How deep and how wide a search went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.metrics.traces import search_branching, search_depth


def test_depth_is_the_longest_chain_and_branching_the_mean_of_those_that_branch() -> None:
    # 0 ─ 1 ─ 3, 0 ─ 2, 4 alone
    parents = [None, 0, 0, 1, None]
    assert search_depth(parents) == 3
    assert search_branching(parents) == 3 / 2


def test_without_steps_there_is_no_depth_and_without_followers_no_branching() -> None:
    assert search_depth([]) is None
    assert search_branching([]) is None
    assert search_depth([None, None]) == 1
    assert search_branching([None, None]) is None


@pytest.mark.parametrize("parents", [[0], [None, 1], [None, 5], [None, -1]])
def test_a_step_follows_from_an_earlier_one(parents: list[int | None]) -> None:
    with pytest.raises(ValueError, match="which is not before it"):
        search_depth(parents)


PARENTS = (
    st.lists(st.integers(0, 30), max_size=20)
    .map(lambda drawn: [None if n > index else n for index, n in enumerate(drawn, start=0)])
    .map(lambda parents: [None if p is None or p >= i else p for i, p in enumerate(parents)])
)


@given(PARENTS)
def test_a_chain_is_as_long_as_its_steps_at_most(parents: list[int | None]) -> None:
    found = search_depth(parents)
    assert (found or 0) <= len(parents)
    wide = search_branching(parents)
    assert wide is None or wide >= 1
