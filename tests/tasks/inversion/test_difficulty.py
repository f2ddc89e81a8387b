"""At least 10 queries, about 20 units, more than 10 minutes; padding does not help."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.inversion.draft import count_distinct, find_shortfall
from tasks.judges.questions.estimate_difficulty import Effort
from tests.tasks.inversion.scripted import settings


def effort(queries: int = 10, units: int = 15, minutes: float = 10.5) -> Effort:
    return Effort(
        queries=tuple(f"query {n}" for n in range(queries)),
        units=tuple(f"unit {n}" for n in range(units)),
        minutes=minutes,
    )


def test_what_reaches_every_bound_is_hard_enough() -> None:
    assert find_shortfall(effort(), settings()) is None


@pytest.mark.parametrize(
    ("easy", "says"),
    [
        (effort(queries=9), "9 queries; at least 10"),
        (effort(units=14), "14 information units; about 20 are asked for, at least 15"),
        (effort(minutes=10), "10 minutes; more than 10"),
        (Effort(queries=(), units=(), minutes=99), "0 queries"),
    ],
)
def test_what_misses_one_bound_is_too_easy(easy: Effort, says: str) -> None:
    assert says in str(find_shortfall(easy, settings()))


def test_the_same_words_in_another_order_count_once() -> None:
    assert count_distinct(["a b", "B, a!", "c", "", "…"]) == 2


@given(st.lists(st.text(), max_size=8))
def test_listing_everything_twice_changes_nothing(texts: list[str]) -> None:
    assert count_distinct(texts * 2) == count_distinct(texts) <= len(texts)
