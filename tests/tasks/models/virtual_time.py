"""An event loop whose clock jumps to the next timer: an hour of waiting takes no time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class VirtualLoop(asyncio.SelectorEventLoop):
    """For code without sockets and threads."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 1000.0
        # Far from zero a float holds no nanoseconds, and a timer would never be due.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        loop: Any = self
        if not loop._ready and loop._scheduled:
            self._now = max(self._now, loop._scheduled[0]._when)
        run_once: Callable[[], None] = super()._run_once  # type: ignore[misc]
        run_once()


def run(work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """`asyncio.run` in virtual time; what never ends is a failure, not a hang."""

    async def within_a_year() -> ResultT:
        return await asyncio.wait_for(work, 365 * 86_400)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(within_a_year())


def now() -> float:
    return asyncio.get_running_loop().time()


async def settled() -> None:
    """Let everything that can run do so."""
    for _ in range(20):
        await asyncio.sleep(0)
