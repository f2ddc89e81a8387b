"""The time a client lives in: the real one, or in tests one that does not have to be waited for."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds from some fixed moment."""

    async def sleep(self, seconds: float) -> None:
        """Return when they have passed."""


class RealClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
