"""The clock of a client: the real one, or in tests one that never waits."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Return the seconds since some fixed moment."""

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""


class RealClock:
    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
