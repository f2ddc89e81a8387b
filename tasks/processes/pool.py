"""A pool of helper processes for CPU-bound work, which keeps the event loop free.

A helper that dies or exceeds a limit costs its own call only; the next one gets a new helper.
Helpers end with their parent, even if it is killed.
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from tasks.processes.helper import Helper, HelperCrashed

ResultT = TypeVar("ResultT")


class HelperProcesses:
    """A pool of helper processes, each started when it is first needed.

    Args:
        workers: how many; as many as there are processors if None.
        megabytes: limit on the address space of each.
        calls_per_helper: calls after which a helper is replaced, to free what libraries keep.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        megabytes: int | None = None,
        calls_per_helper: int | None = None,
    ) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._megabytes = megabytes
        self._calls_per_helper = calls_per_helper
        self._crew: _Crew | None = None

    async def run(
        self,
        function: Callable[..., ResultT],
        *arguments: Any,
        seconds: float | None = None,
        raises: Sequence[type[Exception]] = (),
    ) -> ResultT:
        """Call `function(*arguments)` in a helper; see `Helper.call` for arguments and errors."""
        return await asyncio.wrap_future(
            self.submit(function, *arguments, seconds=seconds, raises=raises)
        )

    def submit(
        self,
        function: Callable[..., ResultT],
        *arguments: Any,
        seconds: float | None = None,
        raises: Sequence[type[Exception]] = (),
    ) -> Future[ResultT]:
        """Like `run`, for use outside of an event loop."""
        if self._crew is None:
            self._crew = _Crew(self.workers, self._megabytes, self._calls_per_helper)
        crew = self._crew
        return crew.threads.submit(crew.call, function, arguments, seconds, raises)

    def close(self) -> None:
        """End the helpers; who waits for one is cancelled."""
        if self._crew is not None:
            self._crew.close()
            self._crew = None


class _Crew:
    """Helpers, and a thread for each that waits for its answers."""

    def __init__(self, workers: int, megabytes: int | None, calls_per_helper: int | None) -> None:
        self.threads = ThreadPoolExecutor(workers, thread_name_prefix="helper")
        self._megabytes = megabytes
        self._calls_per_helper = calls_per_helper
        self._lock = Lock()
        self._idle: list[Helper] = []
        self._busy: set[Helper] = set()
        self._closed = False

    def call(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        seconds: float | None,
        raises: Sequence[type[Exception]],
    ) -> Any:
        helper = self._take()
        try:
            return helper.call(function, *arguments, seconds=seconds, raises=raises)
        except HelperCrashed:
            if self._closed:
                raise CancelledError from None
            raise
        finally:
            self._return(helper)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            helpers = [*self._idle, *self._busy]
        self.threads.shutdown(wait=False, cancel_futures=True)
        for helper in helpers:
            helper.kill()
        self.threads.shutdown()
        for helper in helpers:
            helper.end()

    def _take(self) -> Helper:
        with self._lock:
            if self._closed:
                raise CancelledError
            helper = self._idle.pop() if self._idle else Helper(self._megabytes)
            self._busy.add(helper)
            return helper

    def _return(self, helper: Helper) -> None:
        worn = self._calls_per_helper is not None and helper.n_calls >= self._calls_per_helper
        if worn or not helper.is_usable:
            helper.end()
        with self._lock:
            self._busy.discard(helper)
            if helper.is_usable:
                self._idle.append(helper)


TEXT_SECONDS = 60.0
"""Limit on what a helper computes for one text. An honest report of 100,000 characters takes 0.05
s; the longest that is read, of a hostile agent, would take minutes."""
CELL_SECONDS = 300.0
"""Limit on what a helper judges at once: all that a protocol asks about one report."""
