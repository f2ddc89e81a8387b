"""Finding the window with few questions, and all of it even where page ids mislead."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.wikipedia.listing import (
    CategoryMember,
    DatedMembers,
    FirstRevision,
    Window,
    find_first_revisions,
)

START = datetime(2020, 1, 1, tzinfo=UTC)
MARGIN = 6


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def looked_at(
    created: list[int | None], window: Window, margin: int = MARGIN
) -> tuple[DatedMembers, list[int]]:
    """What is found of pages created on these days (None: gone), and the ids asked for."""
    members = [CategoryMember(page_id, f"Page {page_id}", START) for page_id in range(len(created))]
    asked: list[int] = []

    async def ask(member: CategoryMember) -> FirstRevision | None:
        asked.append(member.page_id)
        await asyncio.sleep(0)
        number = created[member.page_id]
        return None if number is None else FirstRevision(member.page_id, day(number))

    return asyncio.run(find_first_revisions(members, window, ask, margin)), asked


def found_inside(looked: DatedMembers, window: Window) -> list[int]:
    return sorted(
        page_id
        for page_id, first in looked.first.items()
        if first is not None and window.position(first.at) == 0
    )


@given(
    st.lists(st.integers(0, 60), max_size=80).map(sorted),
    st.integers(0, 60),
    st.integers(0, 30),
)
def test_everything_created_in_the_window_is_found(
    days: list[int], since: int, length: int
) -> None:
    window = Window(day(since), day(since + length))
    looked, _ = looked_at(list(days), window)
    assert found_inside(looked, window) == [
        page_id for page_id, number in enumerate(days) if since <= number < since + length
    ]


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=300).map(sorted),
    st.lists(st.tuples(st.integers(0, 299), st.none() | st.integers(-900, 900)), max_size=2),
    st.integers(0, 300),
    st.integers(0, 60),
)
def test_pages_that_break_the_order_hide_no_other(
    days: list[int], misleading: list[tuple[int, int | None]], since: int, length: int
) -> None:
    # An import brings an old page under a new id; a deleted page says nothing at all.
    pages: list[int | None] = list(days)
    for index, number in misleading:
        pages[index % len(pages)] = number
    window = Window(day(since), day(since + length))
    looked, _ = looked_at(pages, window)
    inside = [n for n, at in enumerate(pages) if at is not None and since <= at < since + length]
    assert {n for n in inside if pages[n] == days[n]} <= set(found_inside(looked, window))
    assert set(found_inside(looked, window)) <= set(inside)


def test_an_old_page_under_a_new_id_does_not_lead_the_search_past_the_window() -> None:
    pages: list[int | None] = list(range(1000))
    pages[500] = -4000  # the very first that is asked for
    window = Window(day(100), day(110))
    looked, asked = looked_at(pages, window)
    assert found_inside(looked, window) == list(range(100, 110))
    assert len(asked) < 100


def test_a_page_of_the_window_beyond_its_edge_makes_the_search_look_further() -> None:
    pages: list[int | None] = list(range(200))
    pages[96], pages[91] = 105, 106  # five apart: less than the margin
    looked, _ = looked_at(pages, Window(day(100), day(120)))
    assert {91, 96} < set(found_inside(looked, Window(day(100), day(120))))


def test_nobody_is_asked_twice_and_few_outside_are_asked() -> None:
    days = [number // 10 for number in range(10_000)]  # ten pages a day, for a thousand days
    window = Window(day(400), day(430))
    looked, asked = looked_at(list(days), window)
    assert len(found_inside(looked, window)) == 300
    assert len(asked) == len(set(asked))
    assert len(asked) - 300 <= 2 * 14 + 4 * MARGIN  # two searches among 2**14, and the margins


def test_what_was_not_asked_for_lies_before_or_after_by_its_place() -> None:
    days = list(range(1000))
    looked, _ = looked_at(list(days), Window(day(500), day(510)))
    unasked = [number for number in days if number not in looked.first]
    assert all((number < 500) == (number < looked.low) for number in unasked)


@pytest.mark.parametrize("days", [[], [5], [None], [None, None, None]])
def test_a_category_with_hardly_anything_in_it_is_no_error(days: list[int | None]) -> None:
    window = Window(day(0), day(10))
    looked, _ = looked_at(days, window)
    assert found_inside(looked, window) == [n for n, number in enumerate(days) if number == 5]


def test_the_window_holds_its_first_moment_and_not_its_last() -> None:
    window = Window(day(1), day(2))
    second = timedelta(seconds=1)
    assert [window.position(at) for at in (day(1) - second, day(1), day(2) - second, day(2))] == [
        -1, 0, 0, 1,
    ]  # fmt: skip
