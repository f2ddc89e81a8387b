import asyncio
import time

from flows.runtime.rate import StartRateLimiter


def test_starts_are_spread_evenly_without_a_burst() -> None:
    async def starts() -> list[float]:
        pace, times = StartRateLimiter(100), []

        async def one() -> None:
            async with pace:
                times.append(time.monotonic())
                await asyncio.sleep(0.5)  # what is under way does not hold up the next

        await asyncio.gather(*(one() for _ in range(21)))
        return times

    times = asyncio.run(starts())
    assert times[-1] - times[0] >= 0.19
    assert times[5] - times[0] >= 0.045
