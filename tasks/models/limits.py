"""Rate limits of one model: concurrent calls, calls and tokens per minute, and spending.

All state lives in this process, so a killed run leaves nothing locked.
"""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable

from tasks.configuration.models import Limits

MINUTE, TEN_MINUTES = 60.0, 600.0
QUEUED_PER_CALL = 8
"""Prepared calls queued per concurrent call, so that the model is not idle while their producer
pauses for seconds (a checkpoint, a busy Prefect server)."""
START_CONCURRENCY = 8
"""Concurrent calls before anything is known about the endpoint."""


class AdaptiveConcurrency:
    """A concurrency limit that doubles per round of answers until the first 429, then grows by one.

    A 429 halves it, once per round: calls that were under way at the last halving do not halve
    it again. This is TCP's congestion control (slow start, then additive increase and
    multiplicative decrease).
    """

    def __init__(self, ceiling: int, start: int = START_CONCURRENCY) -> None:
        self.ceiling = ceiling
        self.limit = float(min(start, ceiling))
        self.under_way = 0
        self._slow_start = True
        self._halved_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._room = asyncio.Event()
        self._room.set()

    async def wait_for_capacity(self) -> None:
        """Wait until the queue is short enough to prepare more calls."""
        await self._room.wait()

    async def acquire(self) -> float:
        """Wait for a free slot; return the start time, for `release`."""
        if self._waiting or self.under_way >= int(self.limit):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._note_room()
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # it got a slot it cannot use
                    self.under_way -= 1
                    self._wake()
                raise
        else:
            self.under_way += 1
        return time.monotonic()

    def release(self, started: float, *, answered: bool, too_many: bool) -> None:
        """End a call: with an answer, with a 429 (`too_many`), or with another failure."""
        self.under_way -= 1
        if too_many and started > self._halved_at:
            self.limit = max(1.0, self.limit / 2)
            self._halved_at = time.monotonic()
            self._slow_start = False
        elif answered:
            step = 1.0 if self._slow_start else 1.0 / self.limit
            self.limit = min(float(self.ceiling), self.limit + step)
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.under_way < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self.under_way += 1
                turn.set_result(None)
        self._note_room()

    def _note_room(self) -> None:
        if len(self._waiting) < QUEUED_PER_CALL * self.limit:
            self._room.set()
        else:
            self._room.clear()


class SlidingWindow:
    """An exact limit on requests, tokens or dollars: at most `most` within any `seconds`."""

    def __init__(
        self, most: float, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._entries: deque[list[float]] = deque()
        self._sum = 0.0
        self._turn = asyncio.Lock()

    async def reserve(self, amount: float) -> list[float]:
        """Wait until `amount` fits; an amount above the limit waits for an empty window.

        Returns:
            The reservation, for `settle`.
        """
        async with self._turn:  # first come, first served: small amounts do not overtake large ones
            while (delay := self._delay(amount)) > 0:  # noqa: ASYNC110 (time is awaited)
                await asyncio.sleep(delay)
            entry = [self._clock(), amount]
            self._entries.append(entry)
            self._sum += amount
            return entry

    def settle(self, entry: list[float], amount: float) -> None:
        """Replace the reserved amount by the actual one."""
        if self._entries and entry[0] >= self._entries[0][0]:
            self._sum += amount - entry[1]
        entry[1] = amount

    def _delay(self, amount: float) -> float:
        now = self._clock()
        while self._entries and self._entries[0][0] <= now - self._seconds:
            self._sum -= self._entries.popleft()[1]
        excess = self._sum + amount - self._most
        if excess <= 1e-9 or not self._entries:
            return 0.0
        for at, held in self._entries:
            excess -= held
            if excess <= 1e-9:
                return max(at + self._seconds - now, 0.001)
        return max(self._entries[-1][0] + self._seconds - now, 0.001)


class RateLimits:
    """All limits of one model that apply over time."""

    def __init__(self, limits: Limits) -> None:
        self._windows = (
            SlidingWindow(limits.requests_per_minute or math.inf, MINUTE),
            SlidingWindow(limits.tokens_per_minute or math.inf, MINUTE),
            SlidingWindow(limits.usd_per_ten_minutes or math.inf, TEN_MINUTES),
        )

    async def reserve(self, tokens: float, usd: float) -> list[list[float]]:
        """Wait until a request of this size is within all limits.

        Returns:
            The reservations, for `settle`.
        """
        amounts = (1.0, tokens, usd)
        return [
            await window.reserve(amount)
            for window, amount in zip(self._windows, amounts, strict=True)
        ]

    def settle(self, held: list[list[float]], tokens: float, usd: float) -> None:
        """Replace the reserved amounts by the actual ones; `held` may be empty."""
        for window, entry, amount in zip(self._windows, held, (1.0, tokens, usd), strict=False):
            window.settle(entry, amount)
