"""Helper processes for work that computes: the event loop stays free, both cores are used.

A helper that dies (killed, out of memory) is a named error; the next call gets a new pool.
Helpers end with their parent, even when it is killed hard.
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
    """A helper process ended in the middle of its work; doing it again may succeed."""


CRASHED = "a helper process ended unexpectedly (killed, or out of memory)"


class HelperProcesses:
    """A pool of helper processes, started when first needed."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    async def run(self, function: Callable[..., ResultT], *arguments: Any) -> ResultT:
        """`function(*arguments)` in a helper; both must be picklable.

        Raises:
            HelperCrashed: the helper died; what the function raises comes through as it is.
        """
        pool = self._pool = self._pool or self._started()
        try:
            return await asyncio.wrap_future(pool.submit(function, *arguments))
        except BrokenProcessPool as error:
            if self._pool is pool:  # the first to notice replaces it
                self._pool = None
            raise HelperCrashed(CRASHED) from error

    def submit(self, function: Callable[..., ResultT], *arguments: Any) -> Future[ResultT]:
        """As `run`, for work outside of an event loop: what it gives comes with the future, whose
        error BrokenProcessPool says that the helper died."""
        pool = self._pool = self._pool or self._started()
        return pool.submit(function, *arguments)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _started(self) -> ProcessPoolExecutor:
        # spawn: a forked copy of a process with threads and an open DuckDB is not safe.
        return ProcessPoolExecutor(
            self.workers, mp_context=get_context("spawn"), initializer=end_with_parent
        )


def end_with_parent() -> None:
    # Ctrl-C reaches the whole group: the parent decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


HELPERS = HelperProcesses()
"""The process's helpers; whoever runs a flow closes them at its end."""
