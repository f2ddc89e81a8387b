"""A pool of helper processes for CPU-bound work, which keeps the event loop free.

If a helper dies (killed, out of memory) the call raises HelperCrashed and the next one gets a new
pool. Helpers end with their parent, even if it is killed.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class HelperCrashed(Exception):
    """A helper process died during the call; a retry may succeed."""


CRASHED = "a helper process ended unexpectedly (killed, or out of memory)"


class HelperProcesses:
    """A pool of helper processes, started on first use."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    async def run(self, function: Callable[..., ResultT], *arguments: Any) -> ResultT:
        """Call `function(*arguments)` in a helper; both must be picklable.

        Raises:
            HelperCrashed: the helper died.
            Exception: whatever the function raises.
        """
        pool = self._pool = self._pool or self._start()
        try:
            return await asyncio.wrap_future(pool.submit(function, *arguments))
        except BrokenProcessPool as error:
            if self._pool is pool:  # the first to notice replaces it
                self._pool = None
            raise HelperCrashed(CRASHED) from error

    def submit(self, function: Callable[..., ResultT], *arguments: Any) -> Future[ResultT]:
        """Like `run`, for use outside of an event loop. If the helper dies the future's exception
        is BrokenProcessPool."""
        pool = self._pool = self._pool or self._start()
        return pool.submit(function, *arguments)

    def close(self) -> None:
        """Stop the helpers."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _start(self) -> ProcessPoolExecutor:
        # spawn: it is unsafe to fork a process that has threads and an open DuckDB.
        return ProcessPoolExecutor(
            self.workers, mp_context=get_context("spawn"), initializer=exit_with_parent
        )


def exit_with_parent() -> None:
    """Ignore Ctrl-C, which reaches the whole process group, and exit when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


HELPERS = HelperProcesses()
"""This process's helpers; a flow closes them at its end."""
