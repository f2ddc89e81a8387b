"""How deep and how wide a search went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.protocols.claim_discovery.search import (
    count_repeated,
    count_returns,
    search_branching,
    search_depth,
)


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


@pytest.mark.parametrize(
    ("parents", "returns"),
    [
        ([], 0),
        ([None, 0, 1], 0),
        ([None, 0, 0, 0], 0),  # another step from the same start leaves no branch
        ([None, 0, 1, 0], 0),  # nor does a step back on the way that led here
        ([None, None, 0], 1),
        ([None, 0, 0, 1], 1),
        ([None, 0, 0, 1, 2, 0], 2),
        ([None, None, 0, 1, 0], 3),
    ],
)
def test_a_return_follows_from_a_branch_that_had_been_left(
    parents: list[int | None], returns: int
) -> None:
    assert count_returns(parents) == returns


@given(PARENTS)
def test_returns_are_those_found_by_walking_up_from_each_step(parents: list[int | None]) -> None:
    walked = 0
    for index, parent in enumerate(parents):
        led: set[int] = set()
        at: int | None = index - 1
        while at is not None and at >= 0:
            led.add(at)
            at = parents[at]
        walked += parent is not None and parent not in led
    assert count_returns(parents) == walked


def test_a_query_is_repeated_whatever_its_case_and_white_space() -> None:
    assert count_repeated(["Ada  Lovelace", "ada lovelace", "Byron", "ADA LOVELACE "]) == 2
    assert count_repeated([]) == 0
