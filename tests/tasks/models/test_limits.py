"""Calls at once follow the endpoint, and no window ever holds more than its limit."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.configuration.models import Limits, Retries
from tasks.models.exchange import Reply, TokenUsage
from tasks.models.limits import (
    QUEUED_PER_CALL,
    START_CONCURRENCY,
    AdaptiveConcurrency,
    SlidingWindow,
)
from tasks.models.live_sender import LiveSender
from tests.tasks.models.scripted import ScriptedClient, question, said
from tests.tasks.models.test_prices import price
from tests.tasks.models.virtual_time import now, run, settled


def test_calls_at_once_double_with_every_round_of_answers() -> None:
    async def rounds() -> list[float]:
        concurrency = AdaptiveConcurrency(100)
        seen = []
        for _ in range(5):
            started = [await concurrency.acquire() for _ in range(int(concurrency.limit))]
            for at in started:
                concurrency.release(at, answered=True, too_many=False)
            seen.append(concurrency.limit)
        return seen

    assert START_CONCURRENCY == 8
    assert run(rounds()) == [16, 32, 64, 100, 100]


def test_a_round_of_429_halves_once_and_growth_is_slow_from_then_on() -> None:
    async def rounds() -> list[float]:
        concurrency = AdaptiveConcurrency(100, start=16)
        started = [await concurrency.acquire() for _ in range(16)]
        for at in started:
            concurrency.release(at, answered=False, too_many=True)
        seen = [concurrency.limit]
        for at in [await concurrency.acquire() for _ in range(8)]:
            concurrency.release(at, answered=True, too_many=False)
        seen.append(concurrency.limit)
        concurrency.release(await concurrency.acquire(), answered=False, too_many=True)
        return [*seen, concurrency.limit]

    after_429, after_a_round, after_another_429 = run(rounds())
    assert after_429 == 8
    assert 8.8 < after_a_round <= 9
    assert after_another_429 == after_a_round / 2


def test_other_failures_change_nothing() -> None:
    async def once() -> float:
        concurrency = AdaptiveConcurrency(100)
        concurrency.release(await concurrency.acquire(), answered=False, too_many=False)
        return concurrency.limit

    assert run(once()) == START_CONCURRENCY


@dataclass
class Crowd:
    """Askers of one limit, as the test knows them."""

    concurrency: AdaptiveConcurrency
    asked: list[int] = field(default_factory=list)
    """Still waiting, the first come first."""
    holding: dict[int, float] = field(default_factory=dict)
    tasks: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    let_in: list[int] = field(default_factory=list)

    async def hold(self, number: int) -> None:
        waited: list[bool] = []
        asyncio.get_running_loop().call_soon(waited.append, True)
        started = await self.concurrency.acquire()
        if not waited:
            assert self.concurrency.under_way <= int(self.concurrency.limit)
        self.holding[number] = started
        self.let_in.append(number)
        self.asked.remove(number)

    def ask(self) -> None:
        number = len(self.tasks)
        self.asked.append(number)
        self.tasks[number] = asyncio.create_task(self.hold(number))

    def cancel(self, which: int) -> None:
        if self.asked:
            number = self.asked.pop(which % len(self.asked))
            self.tasks[number].cancel()

    def end(self, which: int, how: str) -> None:
        if self.holding:
            number = sorted(self.holding)[which % len(self.holding)]
            left = self.concurrency.under_way - 1
            self.concurrency.release(
                self.holding.pop(number), answered=how == "answered", too_many=how == "429"
            )
            if self.concurrency.under_way > left:  # others were let in
                assert self.concurrency.under_way <= int(self.concurrency.limit)

    def check(self) -> None:
        limit = self.concurrency.limit
        assert 1 <= limit <= self.concurrency.ceiling
        assert self.concurrency.under_way == len(self.holding)
        assert not self.asked or self.concurrency.under_way >= int(limit), "somebody starves"


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["ask", "ask", "ask", "answered", "429", "failed", "cancel", "leap"]),
        st.integers(0, 50),
        st.booleans(),
    ),
    max_size=80,
)


@settings(deadline=None)
@given(STEPS, st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_no_more_than_the_limit_are_let_in_and_nobody_starves(
    steps: list[tuple[str, int, bool]], most: int, start: int, hurried: bool
) -> None:
    async def live() -> None:
        crowd = Crowd(AdaptiveConcurrency(most, start))
        for what, which, at_once in steps:
            if what == "ask":
                crowd.ask()
            elif what == "cancel":
                crowd.cancel(which)
            elif what == "leap":  # a place is given and its taker cancelled in the same breath
                crowd.end(which, "answered")
                crowd.cancel(0)
            else:
                crowd.end(which, what)
            if not (hurried and at_once):
                await settled()
                crowd.check()
            # Who was given a place may be slower to say so than who found one free.
            assert hurried or crowd.let_in == sorted(crowd.let_in), "somebody was overtaken"
        await settled()
        while crowd.asked:
            assert crowd.holding, "nobody is under way, yet somebody waits"
            crowd.end(0, "answered")
            await settled()
            crowd.check()
        await asyncio.gather(*crowd.tasks.values(), return_exceptions=True)
        failed = [t for t in crowd.tasks.values() if not t.cancelled() and t.exception()]
        assert not failed, failed[0].exception()

    run(live())


def test_there_is_room_until_many_wait_and_again_when_they_are_through() -> None:
    async def fill() -> None:
        concurrency = AdaptiveConcurrency(1)
        started = await concurrency.acquire()
        waiting = [asyncio.create_task(concurrency.acquire()) for _ in range(QUEUED_PER_CALL)]
        await settled()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(concurrency.wait_for_capacity(), 60)
        concurrency.release(started, answered=True, too_many=False)
        await asyncio.wait_for(concurrency.wait_for_capacity(), 0.001)
        for task in waiting:
            concurrency.release(await task, answered=True, too_many=False)

    run(fill())


MOST, SECONDS = 10.0, 60.0
ARRIVALS = st.lists(st.tuples(st.floats(0.01, 40), st.floats(0.01, MOST)), min_size=1, max_size=25)


async def granted(arrivals: list[tuple[float, float]]) -> list[tuple[int, float, float, float]]:
    """(place in the queue, asked at, granted at, amount), in the order of granting."""
    window = SlidingWindow(MOST, SECONDS, now)
    found: list[tuple[int, float, float, float]] = []

    async def ask(number: int, at: float, amount: float) -> None:
        await asyncio.sleep(at - now())
        asked = now()
        await window.reserve(amount)
        found.append((number, asked, now(), amount))

    at, tasks = now(), []
    for number, (gap, amount) in enumerate(arrivals):
        at += gap
        tasks.append(ask(number, at, amount))
    await asyncio.gather(*tasks)
    return found


@settings(deadline=None)
@given(ARRIVALS)
def test_no_window_holds_more_than_its_limit_and_nobody_is_overtaken_or_kept_waiting(
    arrivals: list[tuple[float, float]],
) -> None:
    found = run(granted(arrivals))
    assert [number for number, *_ in found] == list(range(len(arrivals)))
    free_at = 0.0
    for index, (_, asked, at, amount) in enumerate(found):
        before = found[:index]
        held = sum(other for *_, then, other in before if then > at - SECONDS)
        assert held + amount <= MOST + 1e-6
        if at > max(asked, free_at) + 0.002:  # it had to wait: a moment earlier it did not fit
            earlier = at - 0.002
            held = sum(other for *_, then, other in before if then > earlier - SECONDS)
            assert held + amount > MOST - 1e-6
        free_at = at


def test_an_amount_beyond_the_limit_waits_for_an_empty_window() -> None:
    found = run(granted([(1, 3), (1, 25), (1, 1)]))
    start = found[0][2]
    assert found[1][2] == pytest.approx(start + SECONDS, abs=0.01)
    assert found[2][2] == pytest.approx(start + 2 * SECONDS, abs=0.01)


def test_what_it_really_was_takes_the_place_of_what_was_reserved() -> None:
    async def three() -> tuple[float, float]:
        window = SlidingWindow(MOST, SECONDS, now)
        start = now()
        first = await window.reserve(10)
        window.settle(first, 2)
        second = await window.reserve(8)
        less = now() - start
        window.settle(second, 9)
        await window.reserve(1)
        return less, now() - start

    less, more = run(three())
    assert less == 0
    assert more == pytest.approx(SECONDS, abs=0.01)


def test_what_is_settled_after_its_window_changes_nothing() -> None:
    async def late() -> float:
        window = SlidingWindow(MOST, SECONDS, now)
        old = await window.reserve(5)
        await asyncio.sleep(SECONDS + 1)
        await window.reserve(2)
        window.settle(old, 1000)
        before = now()
        await window.reserve(8)
        return now() - before

    assert run(late()) == 0


USED = TokenUsage(prompt=20, output=10)


@pytest.mark.parametrize(
    ("limits", "used", "seconds"),
    [
        (Limits(), USED, 0),
        (Limits(requests_per_minute=2), USED, 60),
        (Limits(tokens_per_minute=100), USED, 0),
        (Limits(tokens_per_minute=100), TokenUsage(prompt=20, output=30, thinking=40), 60),
        (Limits(usd_per_ten_minutes=1), USED, 0),
        (Limits(usd_per_ten_minutes=1), TokenUsage(prompt=20, output=60_000), 600),
    ],
)
def test_three_calls_take_as_long_as_their_real_tokens_and_dollars_ask(
    limits: Limits, used: TokenUsage, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answered(n: int) -> Reply:
        return said(usage=used)

    async def three() -> float:
        monkeypatch.setattr(SlidingWindow.__init__, "__defaults__", (now,))
        sender = LiveSender(ScriptedClient(answered), limits, price(), Retries())
        start = now()
        for n in range(3):
            await sender.send(question(f"{n}?"))
        return now() - start

    assert run(three()) == pytest.approx(seconds, abs=0.1)
