"""What a run spends stays under its cap, whatever comes back."""

import asyncio
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.models.errors import BudgetExhausted
from tasks.models.prices import Budget
from tasks.warehouse.errors import NoRoom
from tests.tasks.models.virtual_time import run, settled


class Bought(NamedTuple):
    """One call: when, what it may cost, what of it it does cost, how long it takes."""

    after: float
    most: float
    share: float | None
    """None: no answer came, or it does not say what it used."""
    maybe_billed: bool
    takes: float


BUYING = st.lists(
    st.builds(
        Bought,
        after=st.floats(0, 3),
        most=st.floats(0.001, 4),
        share=st.none() | st.floats(0, 1),
        maybe_billed=st.booleans(),
        takes=st.floats(0, 5),
    ),
    max_size=25,
)


@settings(deadline=None)
@given(BUYING, st.floats(0, 10))
def test_no_order_of_calls_spends_more_than_the_cap(buying: list[Bought], usd: float) -> None:
    async def spend() -> None:
        budget = Budget(usd)
        under_way = 0
        real = 0.0

        async def buy(call: Bought) -> None:
            nonlocal under_way, real
            await asyncio.sleep(call.after)
            try:
                await budget.reserve(call.most)
            except BudgetExhausted:
                assert under_way == 0, "refused although a call under way might leave enough"
                assert budget.spent + budget.maybe_spent + call.most > usd - 1e-9
                return
            under_way += 1
            await asyncio.sleep(call.takes)
            under_way -= 1
            billed = call.most * (1 if call.share is None else call.share)
            real += billed if call.share is not None or call.maybe_billed else 0
            cost = None if call.share is None else billed
            await budget.settle(call.most, cost, maybe_billed=call.maybe_billed)
            assert real <= usd + 1e-9

        await asyncio.gather(*(buy(call) for call in buying))
        assert budget.spent + budget.maybe_spent == pytest.approx(real)

    run(spend())


def test_a_call_that_might_not_fit_waits_until_the_others_are_settled() -> None:
    async def spend() -> None:
        budget = Budget(10)
        await budget.reserve(8)
        second = asyncio.create_task(budget.reserve(5))
        await settled()
        assert not second.done()
        await budget.settle(8, 1, maybe_billed=True)
        await asyncio.wait_for(second, 30)
        third = asyncio.create_task(budget.reserve(6))
        await settled()
        assert not third.done()
        await budget.settle(5, 5, maybe_billed=True)
        with pytest.raises(BudgetExhausted, match=r"\$10\.00 is used up: \$6\.0000 spent"):
            await third

    run(spend())


def test_a_lost_answer_counts_as_if_it_had_been_billed_whole() -> None:
    async def spend() -> None:
        budget = Budget(10)
        await budget.reserve(6)
        await budget.settle(6, None, maybe_billed=True)
        assert (budget.spent, budget.maybe_spent) == (0, 6)
        with pytest.raises(BudgetExhausted, match=r"\$6\.0000 perhaps"):
            await budget.reserve(5)

    run(spend())


def test_without_a_cap_nothing_is_refused_and_all_is_counted() -> None:
    async def spend() -> None:
        budget = Budget(None)
        for _ in range(3):
            await budget.reserve(1e9)
        await budget.settle(1e9, 2.5, maybe_billed=True)
        await budget.settle(1e9, None, maybe_billed=True)
        assert (budget.spent, budget.maybe_spent) == (2.5, 1e9)

    run(spend())


class Disk:
    """A disk with so much free space."""

    def __init__(self, free: int, reserve: int = 100) -> None:
        self.free, self.reserve = free, reserve

    def find_shortage(self, n_bytes: int) -> str | None:
        return "the disk is full" if self.free < self.reserve + n_bytes else None


@pytest.mark.parametrize("usd", [None, 10.0])
def test_nothing_is_bought_below_the_reserve(usd: float | None) -> None:
    disk: Any = Disk(free=99)
    with pytest.raises(NoRoom, match="the disk is full"):
        run(Budget(usd, disk).reserve(1, n_bytes=0))


@pytest.mark.parametrize("usd", [None, 10.0])
def test_an_answer_under_way_has_its_room_until_it_is_kept(usd: float | None) -> None:
    async def buy() -> None:
        disk: Any = Disk(free=250)
        budget = Budget(usd, disk)
        await budget.reserve(1, n_bytes=100)
        second = asyncio.create_task(budget.reserve(1, n_bytes=100))
        await settled()
        assert not second.done(), "there is room for one answer"
        disk.free = 249  # it took one byte
        await budget.settle(1, 1, maybe_billed=True, n_bytes=100)
        await second
        disk.free = 99
        with pytest.raises(NoRoom):
            await budget.reserve(1, n_bytes=1)

    run(buy())


def test_an_answer_larger_than_the_room_is_not_bought() -> None:
    disk: Any = Disk(free=250)
    with pytest.raises(NoRoom):
        run(Budget(None, disk).reserve(1, n_bytes=151))
