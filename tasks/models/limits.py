"""How fast one model may be asked: at once, in a minute, and for how much money.

All of it lives in this process: it holds nothing that a killed run could leave locked.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from tasks.configuration.models import Limits

MINUTE, TEN_MINUTES = 60.0, 600.0
AHEAD = 8
"""Calls that wait ready for each that may be under way: what prepares them may pause for
seconds (a checkpoint, a busy Prefect server) without leaving the model idle."""
START_CONCURRENCY = 8
"""Calls at once before anything is known of the endpoint."""


class AdaptiveConcurrency:
    """Calls at once: doubled per round of answers until the first 429, then grown one by one.

    A 429 halves it, once per round: the answers to calls that were under way at the last
    halving do not halve it again. As congestion control in TCP does (slow start, then additive
    increase and multiplicative decrease).
    """

    def __init__(self, most: int, start: int = START_CONCURRENCY) -> None:
        self.most = most
        self.limit = float(min(start, most))
        self.under_way = 0
        self._slow_start = True
        self._halved_at = 0.0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._room = asyncio.Event()
        self._room.set()

    async def room(self) -> None:
        """Wait until few calls wait: time to prepare more of them."""
        await self._room.wait()

    async def acquire(self) -> float:
        """Wait for room; the moment the call may start, to be given back to `release`."""
        if self._waiting or self.under_way >= int(self.limit):
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            self._note_room()
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # it was given a place it cannot use
                    self.under_way -= 1
                    self._wake()
                raise
        else:
            self.under_way += 1
        return time.monotonic()

    def release(self, started: float, *, answered: bool, too_many: bool) -> None:
        """A call has ended: with an answer, with a 429, or with another failure."""
        self.under_way -= 1
        if too_many and started > self._halved_at:
            self.limit = max(1.0, self.limit / 2)
            self._halved_at = time.monotonic()
            self._slow_start = False
        elif answered:
            step = 1.0 if self._slow_start else 1.0 / self.limit
            self.limit = min(float(self.most), self.limit + step)
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self.under_way < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.done():
                self.under_way += 1
                turn.set_result(None)
        self._note_room()

    def _note_room(self) -> None:
        if len(self._waiting) < AHEAD * self.limit:
            self._room.set()
        else:
            self._room.clear()


class SlidingWindow:
    """At most `most` of something in any `seconds`, exactly: requests, tokens or dollars."""

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
        """Wait until `amount` fits; an amount beyond the limit waits for an empty window.

        Returns:
            The reservation, for `settle`.
        """
        async with self._turn:  # first come, first served: a large one is not overtaken
            while (delay := self._delay(amount)) > 0:  # noqa: ASYNC110 (time is awaited)
                await asyncio.sleep(delay)
            entry = [self._clock(), amount]
            self._entries.append(entry)
            self._sum += amount
            return entry

    def settle(self, entry: list[float], amount: float) -> None:
        """Put what it really was in place of what was reserved."""
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


Held = tuple[int, SlidingWindow, list[float]]
"""A reservation in one window: which limit it is of, the window, its entry."""


class Rates:
    """All limits of one model that count over time."""

    def __init__(self, limits: Limits) -> None:
        wanted = (
            (limits.requests_per_minute, MINUTE),
            (limits.tokens_per_minute, MINUTE),
            (limits.usd_per_ten_minutes, TEN_MINUTES),
        )
        self._windows = [SlidingWindow(most, over) if most else None for most, over in wanted]

    async def reserve(self, tokens: float, usd: float) -> list[Held]:
        """Wait for room for one request of so many tokens and dollars; to be settled."""
        return [
            (place, window, await window.reserve(amount))
            for place, (window, amount) in enumerate(
                zip(self._windows, (1.0, tokens, usd), strict=True)
            )
            if window
        ]

    def settle(self, held: list[Held], tokens: float, usd: float) -> None:
        """Put what it really took in place of what was reserved."""
        for place, window, entry in held:
            window.settle(entry, (1.0, tokens, usd)[place])
