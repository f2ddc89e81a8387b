"""Limit how fast task runs start, so that Prefect's history has no gaps.

A Prefect server queues at most 10,000 events and drops the rest; a task run emits three. So fewer
than 3,000 task runs are safe at any rate.
"""

from types import TracebackType

from aiolimiter import AsyncLimiter

LOCAL_STARTS_PER_SECOND = 40.0
"""The limit for our own server, which writes in batches; it kept up with 90/s on two cores."""
REMOTE_STARTS_PER_SECOND = 12.0
"""The limit for a configured server, which may write each event separately."""


class StartRateLimiter:
    """Let at most `per_second` task runs start, evenly spaced: `async with limiter: ...`.

    It limits starts only, not how many task runs are active.
    """

    def __init__(self, per_second: float) -> None:
        self._limiter = AsyncLimiter(max_rate=1, time_period=1 / per_second)

    async def __aenter__(self) -> None:
        await self._limiter.acquire()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Do nothing: a start releases no slot."""
