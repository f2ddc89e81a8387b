"""How fast task runs may be created without gaps in Prefect's history.

A Prefect server holds at most 10,000 unread events and drops the rest; a task run makes three.
So what counts is how far the server falls behind, not the pace alone: fewer than 3,000 task runs
are safe at any pace.
"""

from types import TracebackType

from aiolimiter import AsyncLimiter

LOCAL_PER_SECOND = 40.0
"""For our own server, which writes in batches; it kept up with 90 a second on two cores."""
FOREIGN_PER_SECOND = 12.0
"""For a configured server, which may write each event on its own."""


class Pace:
    """Let at most `per_second` task runs start, evenly: `async with pace: await cell(...)`.

    Only the start waits; any number may then be under way.
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
        """Nothing to give back."""
